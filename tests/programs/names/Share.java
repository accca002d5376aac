// SPDX-License-Identifier: MIT
//
// Share - the same in Java: the JIT compiler makes the code

import java.util.concurrent.atomic.AtomicLongArray;

public class Share {
    static final AtomicLongArray counters = new AtomicLongArray(8);

    static void work(int mine, long ms) {
        long end = System.nanoTime() + ms * 1_000_000;
        while (System.nanoTime() < end)
            count(mine);
    }

    static void count(int mine) {
        for (int i = 0; i < 100_000; i++)
            counters.getAndIncrement(mine);
    }

    public static void main(String[] args) throws Exception {
        long ms = args.length > 0 ? Long.parseLong(args[0]) : 1000;
        Thread[] threads = new Thread[2];
        for (int i = 0; i < 2; i++) {
            final int mine = i;
            threads[i] = new Thread(() -> work(mine, ms), "work-" + i);
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.println(counters.get(0) > 0 && counters.get(1) > 0);
    }
}
