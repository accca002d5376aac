/* SPDX-License-Identifier: MIT */
/*
 * interrupt_cost - how long an interrupt of the clock keeps a thread
 *
 * On hardware that is some 3 us, in a virtual machine on another one 50 us. An
 * interval that is not much longer leaves the program next to no time: at 16
 * kHz it took 13 times as long in such a machine, and the handler, which came
 * too often for its budget, took no samples.
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_INTERRUPT_COST_H
#define COMDET_PRELOAD_SOURCES_CLOCK_INTERRUPT_COST_H

#include <stdint.h>

enum {
	/* Intervals from here on are long enough for any machine, ns. */
	INTERRUPT_COST_MATTERS = 1000000,
	/* Interrupts take at most one in so many parts of a thread's time. */
	INTERRUPT_SHARE = 4,
};

/*
 * The lower quartile of a few interrupts, in ns, from the program's code back
 * to it, since other programs only lengthen them; 0 if none comes. Takes some 2
 * ms of CPU time, the first time in a process or its parents. Context: set-up,
 * when the signal has a handler that does nothing but to call
 * interrupt_cost_saw.
 */
uint64_t interrupt_cost(void);

/* The clock interrupted the set-up. Context: handler. */
void interrupt_cost_saw(void);

#endif
