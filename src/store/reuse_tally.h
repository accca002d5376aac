/* SPDX-License-Identifier: MIT */
/*
 * reuse_tally - what a thread found out about reuses, counted in the file
 *
 * Bins of histograms and pairs of instructions are records of the section
 * CDP_REUSE; a killed process leaves them as they were. A tally belongs to one
 * thread, or to who holds a lock. Zero-initialized with its writer's section
 * set, it is empty.
 *
 * Uses of lines, private and global, are kept apart by phase: aligned parts of
 * the accesses of their stream, so that a reader can tell how its locality
 * changed. A phase is 2^bits accesses, never fewer than PHASE_USES samples
 * stand for, and none is less than a 128th of the stream so far; they also get
 * longer when there are many records. Which one is in use_ip of the bins.
 */
#ifndef COMDET_STORE_REUSE_TALLY_H
#define COMDET_STORE_REUSE_TALLY_H

#include "src/engine/reuse.h"
#include "store_index.h"

enum {
	REUSE_TALLY_PAIRS_MAX = 16384,
	REUSE_TALLY_PATHS_MAX = 16384,
	REUSE_TALLY_PHASE_USES = 512,
	REUSE_TALLY_PHASE_RECORDS = 16384, /* then phases get longer */
	REUSE_PHASE_SHIFT = 56,
};

struct reuse_tally {
	struct store_writer writer;
	struct store_index index;
	uint32_t pairs;  /* records in it that are pairs */
	uint32_t paths;  /* and that are pairs of call paths */
	uint32_t bits;   /* of a phase, at least */
	uint32_t bins;   /* records since that changed */
	uint64_t period; /* accesses that a use stands for; 0: no phases */
};

/* A phase of 2^@bits accesses, @bits from 1 on; 0 is none. */
static inline uint64_t reuse_phase(uint32_t bits, uint64_t at)
{
	return (uint64_t)bits << REUSE_PHASE_SHIFT | at >> bits;
}

static inline uint32_t reuse_phase_bits(uint64_t phase)
{
	return phase >> REUSE_PHASE_SHIFT;
}

/*
 * Count @v, of an engine of @scope and @granularity: in its bin, and as a pair
 * of instructions, and as one of call paths if both are known. Pairs beyond
 * REUSE_TALLY_PAIRS_MAX count as one, whose instructions are 0; so do those of
 * call paths.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap. Returns
 * 0, or -ENOSPC if something could not be counted.
 */
int reuse_tally_add(struct store *s, struct reuse_tally *t,
		    enum reuse_scope scope, enum reuse_granularity granularity,
		    const struct reuse_event *v, uint64_t map_generation);

/*
 * Add the masses and the count of @r to the record that agrees with it in all
 * before them, or make it. Context and return value as above.
 */
int reuse_tally_put(struct store *s, struct reuse_tally *t,
		    const struct cdp_reuse *r);

/* Give the index back; the records stay. Context: any. */
void reuse_tally_release(struct reuse_tally *t);

#endif
