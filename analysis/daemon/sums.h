/* SPDX-License-Identifier: MIT */
/*
 * sums - what the daemon has seen of each process, and in all
 *
 * A process that has ended stays until another one needs its place.
 */
#ifndef COMDET_ANALYSIS_DAEMON_SUMS_H
#define COMDET_ANALYSIS_DAEMON_SUMS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "slice.h"

enum {
	SUMS_PROCESSES = 512,
};

struct process_sums {
	struct slice_process process;
	uint64_t seen_at; /* ns */
};

struct sums {
	struct process_sums process[SUMS_PROCESSES];
	size_t processes;
	uint64_t samples, interrupts, disturbances, slices, failed_slices;
	uint64_t loss[CDP_LOSS_MAX];
};

/* Add what a slice found, which ended at @now. */
void sums_add(struct sums *s, const struct slice_found *found, uint64_t now);

#endif
