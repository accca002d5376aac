/* SPDX-License-Identifier: MIT */
/*
 * reuse_tally - the uses that a thread decided, counted in the file
 *
 * Bins of histograms and pairs of instructions are records of the section
 * CDP_REUSE, which survive if the process is killed. A tally belongs to one
 * thread, or to the holder of a lock. It is empty when zero-initialized with
 * its writer's section set.
 *
 * Uses of lines, private and global, are counted by phase, so that a reader can
 * tell how the locality changes. A phase is an aligned part of the stream's
 * accesses, 2^bits of them: at least as many as PHASE_USES samples stand for,
 * and at least a 128th of the stream so far. Phases get longer too when there
 * are many records. use_ip of a bin holds its phase.
 */
#ifndef COMDET_STORE_REUSE_TALLY_H
#define COMDET_STORE_REUSE_TALLY_H

#include "src/engine/reuse.h"
#include "store_index.h"

enum {
	REUSE_TALLY_PAIRS_MAX = 16384,
	REUSE_TALLY_PATHS_MAX = 16384,
	REUSE_TALLY_PHASE_USES = 512,
	REUSE_TALLY_PHASE_RECORDS = 16384, /* with more records, phases get
					      longer */
	REUSE_PHASE_SHIFT = 56,
};

struct reuse_tally {
	struct store_writer writer;
	struct store_index index;
	uint32_t pairs;  /* records that are pairs of instructions */
	uint32_t paths;  /* records that are pairs of call paths */
	uint32_t bits;   /* least bits of a phase */
	uint32_t bins;   /* records since bits changed */
	uint64_t period; /* accesses that a use stands for; 0: no phases */
};

/* The phase of access @at, of 2^@bits accesses with @bits >= 1; 0 is none. */
static inline uint64_t reuse_phase(uint32_t bits, uint64_t at)
{
	return (uint64_t)bits << REUSE_PHASE_SHIFT | at >> bits;
}

static inline uint32_t reuse_phase_bits(uint64_t phase)
{
	return phase >> REUSE_PHASE_SHIFT;
}

/* The first access of the phase; its bits are below 64. */
static inline uint64_t reuse_phase_start(uint64_t phase)
{
	return (phase & ((UINT64_C(1) << REUSE_PHASE_SHIFT) - 1))
	       << reuse_phase_bits(phase);
}

/*
 * Count @v, of an engine of @scope and @granularity: in its bin, as a pair of
 * instructions, and as a pair of call paths if both are known. Pairs beyond
 * REUSE_TALLY_PAIRS_MAX share a record with instructions 0; pairs of call paths
 * beyond REUSE_TALLY_PATHS_MAX likewise.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap. Returns
 * 0, or -ENOSPC if something could not be counted.
 */
int reuse_tally_add(struct store *s, struct reuse_tally *t,
		    enum reuse_scope scope, enum reuse_granularity granularity,
		    const struct reuse_event *v, uint64_t map_generation);

/*
 * Add the masses and the count of @r to the record that agrees with it in all
 * fields before them, or make that record. Context and return value as above.
 */
int reuse_tally_put(struct store *s, struct reuse_tally *t,
		    const struct cdp_reuse *r);

/* Free the index; the records stay in the file. Context: any. */
void reuse_tally_release(struct reuse_tally *t);

#endif
