/* SPDX-License-Identifier: MIT */
/*
 * help_phases - addresses that cannot be, if memory is read too late
 *
 * In even phases the program stores to the first half of one array, in odd ones
 * to the second half of another. Array, index and phase are in memory and
 * change all the time: on the stack (not optimized), or in global variables
 * (-DGLOBAL), below the stack pointer of nobody (-DCALL). Who combines values
 * of two moments gets the other halves. Prints where the arrays are, and runs
 * until it is killed.
 */
#include <stdint.h>
#include <stdio.h>

static _Alignas(4096) uint64_t low[256], high[256];

#ifdef GLOBAL
static volatile uint64_t phase, step, at;
static uint64_t *volatile base;
#endif

#ifdef CALL
/* A function that calls another has no variables below its stack pointer. */
static __attribute__((noinline)) void nothing(void)
{
	__asm__ volatile("");
}
#endif

int main(void)
{
#ifndef GLOBAL
	volatile uint64_t phase = 0, step = 0, at = 0;
	uint64_t *volatile base = low;
#endif

	printf("%lx %lx\n", (unsigned long)(uintptr_t)low,
	       (unsigned long)(uintptr_t)high);
	fflush(stdout);
	for (;;) {
#ifdef CALL
		nothing();
#endif
		phase ^= 1;
		base = phase ? high : low;
		for (step = 0; step < 64; step++) {
			at = phase * 128 + (step * 7 & 127);
			base[at] += step;
		}
	}
}
