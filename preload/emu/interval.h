/* SPDX-License-Identifier: MIT */
/*
 * interval - accesses between two samples
 *
 * The counter is loaded anew with the period, randomised:
 *
 *   pebs   loads and stores have a counter each, as profilers program them
 *	    (MEM_INST_RETIRED.ALL_LOADS and .ALL_STORES); each reload is
 *	    uniform in +-1/16 of the period. The hardware does not randomise;
 *	    software does, so that a period does not resonate with a loop.
 *   ibs    one counter for both; the hardware sets the low seven bits of the
 *	    counter at random: an interval is uniform in +-64.
 *
 * The mean interval is the period in both.
 */
#ifndef COMDET_PRELOAD_EMU_INTERVAL_H
#define COMDET_PRELOAD_EMU_INTERVAL_H

#include <stdbool.h>

#include "state.h"

/* True if one counter counts loads and stores. */
bool emu_interval_one_counter(void);

/* Load @counter for its next overflow. */
void emu_interval_load(struct vcpu *v, enum emu_counter counter);

/* Variance of the interval between samples over the square of its mean. */
double emu_interval_variance(void);

#endif
