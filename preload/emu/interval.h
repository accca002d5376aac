/* SPDX-License-Identifier: MIT */
/*
 * interval - accesses between two samples
 *
 *   pebs   loads and stores have a counter each, as profilers program them
 *	    (MEM_INST_RETIRED.ALL_LOADS and .ALL_STORES). Of every period one
 *	    access is the sample, at a random place. So whatever the program
 *	    does, the draws are independent, and a loop as long as the period
 *	    is not sampled at the same place again and again.
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

/* The first sample of @v comes at a random place in its first period. */
void emu_interval_begin(struct vcpu *v, enum emu_counter counter);

/* Of IBS: variance of an interval over the square of its mean. */
double emu_interval_variance_ibs(void);

#endif
