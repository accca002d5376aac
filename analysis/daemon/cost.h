/* SPDX-License-Identifier: MIT */
/*
 * cost - what an interrupt of the clock costs the interrupted thread
 */
#ifndef COMDET_ANALYSIS_DAEMON_COST_H
#define COMDET_ANALYSIS_DAEMON_COST_H

#include <stdint.h>

/*
 * Measure it on ourselves, in some 50 ms of CPU time: the CPU time of a loop
 * with and without interrupts at 20,000 Hz, each the least of several. Returns
 * ns from 1,000 to 50,000; 5,000 if it cannot be measured.
 */
uint64_t cost_of_interrupt(void);

#endif
