/* SPDX-License-Identifier: MIT */
/*
 * time_slices - detections and samples by slices of time, counted in the file
 *
 * They say when during a run which threads shared. A run is divided into at
 * most 65 slices. How long a slice is follows from the time at which it lies
 * and from nothing else: 2^22 ns (4 ms) in the first 64 of them, and twice as
 * long each time that the run has become twice as long:
 *
 *   0        64       128                256
 *   |||||||||| | | | | |   |   |   |   | |       |       |     x 4 ms
 *
 * So threads and processes agree without a word, nothing that was counted is
 * ever moved, and a reader adds up the short slices in each long one: a slice
 * begins at a multiple of its length on CLOCK_MONOTONIC, so the short ones lie
 * within the long ones, those of other processes too. In return a run of
 * 2^n * 64 slices keeps 64 + 32 * n of them for each pair of threads, where
 * folding in place would keep 64: of a day 672, in 76 records at most.
 */
#ifndef COMDET_STORE_TIME_SLICES_H
#define COMDET_STORE_TIME_SLICES_H

#include <stdatomic.h>
#include <stdint.h>

#include "src/engine/comm.h"
#include "store_index.h"

enum {
	TIME_SLICES_MAX = 64,   /* of the length of the last one, in a run */
	SLICE_TABLE_MAX = 2048, /* records of a thread; then CDP_SLICE_OTHERS */
	SLICE_TABLE_OTHERS_MAX = 256,
	SLICE_SAMPLES_MAX = 256, /* records of a process; no run has as many */
};

/* log2 of the length of slices @elapsed ns after the start. Context: any. */
uint32_t time_slice_shift(uint64_t elapsed);

/* Detections of one thread. A zero-initialized table is empty. */
struct slice_table {
	struct store_writer writer;
	struct store_index index;
};

/*
 * Count @d, made at @now of CLOCK_MONOTONIC, for its threads and slice.
 * Context: the thread's own handler. Returns 0, or -ENOSPC: no room.
 */
int slice_table_add(struct store *s, struct slice_table *t,
		    const struct detection *d, uint64_t now);

/* Free the index; the records stay in the file. Context: any. */
void slice_table_release(struct slice_table *t);

/*
 * Samples of all threads of a process: they are rare, and a thread that is
 * sampled and shares nothing has no page of the file. Zero-initialized, there
 * are none.
 */
struct slice_samples {
	_Atomic uint32_t lock; /* guards what follows but last */
	struct store_writer writer;
	uint32_t records;
	struct cdp_memory *record[SLICE_SAMPLES_MAX];
	_Atomic(struct cdp_memory *) last; /* added or used */
};

/*
 * Count a sample at @now. Context: a handler, all signals blocked. Tries a
 * lock a bounded number of times when a record's slices are over. Returns 0; if
 * the sample was not counted, -ENOSPC: no room, or -EAGAIN: other threads kept
 * the lock.
 */
int slice_samples_add(struct store *s, struct slice_samples *x, uint64_t now);

/* Begin another file. Context: set-up, also in a forked child. */
void slice_samples_restart(struct slice_samples *x);

#endif
