// SPDX-License-Identifier: MIT
//
// Pair - two Java threads that store to elements of an array on one line, to
// one element, or apart; with "fields" to fields of an object
//
//   java Pair false|true|clean|fields

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

public class Pair {
    // Objects begin at multiples of 8 bytes, and their first int follows 12 of
    // the virtual machine's: so left and right are in 8 bytes of one line.
    static class Counts {
        int first;
        volatile int left, right;
    }

    static final int[] counters = new int[64];
    static final VarHandle ELEMENT =
        MethodHandles.arrayElementVarHandle(int[].class);
    static final Counts counts = new Counts();

    static void store(int i) {
        // An opaque store is a plain one that the compiler may not drop.
        for (int n = 0; n < 100_000; n++)
            ELEMENT.setOpaque(counters, i, n);
    }

    static void storeLeft() {
        for (int n = 0; n < 100_000; n++)
            counts.left = n;
    }

    static void storeRight() {
        for (int n = 0; n < 100_000; n++)
            counts.right = n;
    }

    static void work(String mode, boolean first) {
        int other = mode.equals("true") ? 20 : mode.equals("clean") ? 52 : 21;

        for (;;) {
            if (!mode.equals("fields"))
                store(first ? 20 : other);
            else if (first)
                storeLeft();
            else
                storeRight();
        }
    }

    public static void main(String[] args) {
        String mode = args.length > 0 ? args[0] : "false";

        new Thread(() -> work(mode, false), "other").start();
        System.out.println("ready");
        work(mode, true);
    }
}
