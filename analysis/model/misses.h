/* SPDX-License-Identifier: MIT */
/*
 * misses - which instructions miss which lines, and why
 *
 * A load or store that misses the first data cache counts once: where its data
 * came from, and why the cache before that did not have them:
 *
 * cold		it never had the line.
 * coherence	another core stored to the line, or holds it modified.
 * capacity	a cache of its size without sets, which sees the same accesses
 *		and evicts the least recently used line, would miss too.
 * conflict	the rest: sets with too few ways, and lines that a larger cache
 *		evicted, which takes them from the smaller ones.
 *
 * The first data cache and the second one are asked with the accesses of their
 * core, the last one with those of all; prefetches and instructions count as
 * accesses of caches, but their misses are not counted here.
 */
#ifndef COMDET_ANALYSIS_MODEL_MISSES_H
#define COMDET_ANALYSIS_MODEL_MISSES_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

#define MISS_REASONS_LIST(X)                                                   \
	X(COLD, cold)                                                          \
	X(CAPACITY, capacity)                                                  \
	X(CONFLICT, conflict)                                                  \
	X(COHERENCE, coherence)

enum miss_reason {
#define X(NAME, name) MISS_##NAME,
	MISS_REASONS_LIST(X)
#undef X
	MISS_REASONS
};
extern const char *const miss_reason_names[MISS_REASONS];

enum miss_cache {
	MISS_L1D,
	MISS_L2,
	MISS_LLC,
	MISS_CACHES
};

/* Where the data of a miss came from. */
#define MISS_SOURCES_LIST(X)                                                   \
	X(L2, l2)                                                              \
	X(LLC, llc)                                                            \
	X(CORE, core)                                                          \
	X(MEMORY, memory)

enum miss_source {
#define X(NAME, name) MISS_FROM_##NAME,
	MISS_SOURCES_LIST(X)
#undef X
	MISS_SOURCES
};
extern const char *const miss_source_names[MISS_SOURCES];

struct miss_counts {
	uint64_t from[MISS_SOURCES], why[MISS_REASONS];
	uint64_t upgrades; /* stores to a line that others had too */
	uint64_t cycles;   /* from issue to data, of misses and upgrades; those
			      of several may pass at the same time */
};

/* The misses of an instruction in a line. */
struct miss_row {
	uint64_t ip, addr; /* addr: of the first */
	struct miss_counts n;
};

struct misses;

/* For the @cores cores of a simulation on @m. */
struct misses *misses_new(const struct machine *m, uint32_t cores);
void misses_free(struct misses *m); /* also NULL */

/* The accesses that follow are those of the instruction @ip to @addr. */
void misses_at(struct misses *m, uint64_t ip, uint64_t addr);

/* @core looks for @line in one of its caches, or in the last one. */
void misses_look(struct misses *m, uint32_t core, enum miss_cache cache,
		 uint64_t line);

/* Another core's store takes @line from @core. */
void misses_taken(struct misses *m, uint32_t core, uint64_t line);

/* A miss, after all that was looked for; or an upgrade. Both took @cycles. */
void misses_count(struct misses *m, enum miss_source from, uint64_t cycles);
void misses_upgrade(struct misses *m, uint64_t cycles);

/*
 * The rows, in the order of their first misses. Beyond 262,144, a row stands
 * for all lines of a page.
 */
const struct miss_row *misses_rows(const struct misses *m, size_t *rows);

uint64_t miss_counts_all(const struct miss_counts *n); /* without upgrades */
void miss_counts_add(struct miss_counts *to, const struct miss_counts *n);

#endif
