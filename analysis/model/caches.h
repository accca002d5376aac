/* SPDX-License-Identifier: MIT */
/*
 * caches - the caches of all cores, the lines that they share, and memory
 *
 * Each core has an instruction cache, a data cache and a second cache; all
 * share the last one, which holds all lines of the others, as each second cache
 * holds those of the first ones before it. Sets evict their least recently used
 * line. Lines are modified, exclusive, shared or invalid (MESI); the last cache
 * knows which cores have a line and which one owns it.
 *
 * An access at time t changes the state of the caches at once and says when it
 * is complete. Accesses come in the order in which cores dispatch them, so
 * their times may go back a little; memory keeps a table of its transfers, in
 * which later calls find earlier gaps.
 */
#ifndef COMDET_ANALYSIS_MODEL_CACHES_H
#define COMDET_ANALYSIS_MODEL_CACHES_H

#include <stdbool.h>
#include <stdint.h>

#include "machine.h"
#include "misses.h"

enum caches_use {
	CACHES_LOAD,
	CACHES_STORE,
	CACHES_FETCH /* of instructions */
};

enum caches_level {
	LEVEL_L1,
	LEVEL_L2,
	LEVEL_LLC,
	LEVEL_CORE, /* the data came from another core's caches */
	LEVEL_MEMORY,
	LEVELS
};

struct caches_answer {
	uint64_t done;
	enum caches_level level;
	uint64_t bus;    /* cycles that the transfer waited for memory */
	uint64_t beyond; /* of a load, cycles that the cache with the line takes
			    beyond the first, if nothing is on its way */
	bool fills;      /* no cache has the line or waits for it */
};

/* Upgrades are stores to a line that others may have; transfers, lines that
 * came from another core. */
#define CACHES_COUNTS(X)                                                       \
	X(l1i_accesses)                                                        \
	X(l1i_misses)                                                          \
	X(l1d_accesses)                                                        \
	X(l1d_misses)                                                          \
	X(l2_accesses)                                                         \
	X(l2_misses)                                                           \
	X(llc_accesses)                                                        \
	X(llc_misses)                                                          \
	X(upgrades)                                                            \
	X(transfers)

struct caches_counts {
#define X(field) uint64_t field;
	CACHES_COUNTS(X)
#undef X
};

struct caches;

struct caches *caches_new(const struct machine *m, uint32_t cores);
void caches_free(struct caches *c);

/* Tell @misses of each access, and of those that miss; NULL: nobody. */
void caches_watch(struct caches *c, struct misses *misses);

/*
 * The next accesses are of the instruction at @ip; the prefetcher stream wants
 * to know. 0: of none, which makes it ask for nothing.
 */
void caches_at(struct caches *c, uint64_t ip);

/*
 * While @warming, accesses change the state of the caches, and wait neither for
 * memory's other transfers nor for a free MSHR, nor make others wait.
 */
void caches_set_warming(struct caches *c, bool warming);

/*
 * @core uses @line (address >> MACHINE_LINE_SHIFT) at @t.
 */
struct caches_answer caches_access(struct caches *c, uint32_t core,
				   uint64_t line, enum caches_use use,
				   uint64_t t);

const struct caches_counts *caches_counts(const struct caches *c,
					  uint32_t core);
/* Add to @to what @a has more than @before. */
void caches_counts_add(struct caches_counts *to, const struct caches_counts *a,
		       const struct caches_counts *before);
void caches_memory(const struct caches *c, uint64_t *reads, uint64_t *writes);

#endif
