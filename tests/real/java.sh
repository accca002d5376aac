# SPDX-License-Identifier: MIT
# Threads that compute, share and collide; garbage; traps that the virtual
# machine turns into exceptions.
needs='java javac'
working=2
version() { java --version | head -n 1; }
prepare()
{
	cat >Main.java <<'JAVA'
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

public class Main {
    static final AtomicLong shared = new AtomicLong();
    static final ConcurrentHashMap<Integer, Long> sums = new ConcurrentHashMap<>();
    static int depth;

    static void compute(int id) {
        double x = id + 1;
        long s = 0;
        for (int i = 1; i < 130_000_000; i++) {
            x = Math.sqrt(x * x + i % 7) * 0.999;
            s += Double.doubleToLongBits(x) & 15;
            if (i % 100_000 == 0)
                shared.addAndGet(s & 3);
        }
        List<String> garbage = new ArrayList<>();
        for (int i = 0; i < 2_000_000; i++) {
            garbage.add("word " + i);
            if (garbage.size() > 50_000)
                garbage = new ArrayList<>();
        }
        sums.merge(id % 2, s + garbage.size(), Long::sum);
    }

    static int recurse() {
        depth++;
        return recurse() + 1;
    }

    public static void main(String[] args) throws Exception {
        Thread[] threads = new Thread[4];
        for (int i = 0; i < threads.length; i++) {
            final int id = i;
            threads[i] = new Thread(() -> compute(id), "compute-" + id);
            threads[i].start();
        }
        for (Thread t : threads)
            t.join();
        System.out.println(shared.get() + " " + new TreeMap<>(sums));
        try {
            recurse();
        } catch (StackOverflowError e) {
            System.out.println("overflow " + (depth > 1000));
        }
        int caught = 0;
        String none = args.length > 5 ? "" : null;
        for (int i = 0; i < 20000; i++) {
            try {
                caught += none.length();
            } catch (NullPointerException e) {
                caught++;
            }
        }
        System.out.println("caught " + caught);
        Process p = new ProcessBuilder("sh", "-c", "echo child; exit 3").start();
        System.out.println(new String(p.getInputStream().readAllBytes()).trim()
            + " " + p.waitFor());
        System.err.println("to stderr");
        System.exit(7);
    }
}
JAVA
	javac -d . Main.java
}
run() { profiled java -cp "$DATA" Main; }
