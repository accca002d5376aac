/* SPDX-License-Identifier: MIT */
/*
 * caches_internal - what the files of the simulated caches share
 */
#ifndef COMDET_ANALYSIS_MODEL_CACHES_INTERNAL_H
#define COMDET_ANALYSIS_MODEL_CACHES_INTERNAL_H

#include "cache_lines.h"
#include "caches.h"
#include "set_turn.h"
#include "streams.h"
#include "strides.h"
#include "time_queue.h"

/*
 * A line that others get as soon as this core has had it: until that cycle it
 * is this core's, though its caches lack it already.
 */
struct leaving {
	uint64_t line; /* + 1; 0: none */
	uint64_t until;
};

enum {
	LEAVING = 64 /* of a core, a place for each line modulo this */
};

struct private
{
	struct cache_lines l1i, l1d, l2;
	struct strides strides;
	struct streams streams;
	struct leaving leaving[LEAVING];
	struct time_queue mshrs;
	uint64_t *turn; /* by set of l1d: when it is free; NULL: always */
	struct caches_counts counts;
};

struct caches {
	const struct machine *machine;
	uint32_t cores;
	uint64_t clock;           /* for the least recently used */
	uint64_t ip;              /* of the instruction that accesses */
	uint64_t hit_l2, hit_llc; /* cycles of a load until its data */
	uint64_t to_memory;       /* cycles until memory is asked */
	uint64_t memory;          /* cycles of a load from there */
	uint64_t reads, writes;
	struct cache_lines llc;
	struct memory_bus *bus;
	struct misses *misses; /* who is told of them, or NULL */
	bool warming;
	struct private private[];
};

/* @core looks for @line in a cache. */
static inline void caches_look(const struct caches *c, uint32_t core,
			       enum miss_cache cache, uint64_t line)
{
	if (c->misses)
		misses_look(c->misses, core, cache, line);
}

/* What a load that takes @cycles takes more than one that hits. */
static inline uint64_t caches_beyond(const struct caches *c, uint64_t cycles)
{
	uint64_t hit = c->machine->l1d.latency;

	return cycles > hit ? cycles - hit : 0;
}

/* Make room for @line in the first cache @first of @p, and put it there. */
struct cache_line *caches_fill_first(struct private *p,
				     struct cache_lines *first, uint64_t line);

/*
 * The second cache of @core lacks @line: get it from the last cache, another
 * core or memory. The answer's time is still to be added to.
 */
struct cache_line *caches_get(struct caches *c, uint32_t core, uint64_t line,
			      enum caches_use use, uint64_t t,
			      struct caches_answer *answer);

/* A store to a line of which others may have copies. */
void caches_upgrade(struct caches *c, uint32_t core, struct cache_line *b,
		    uint64_t t, struct caches_answer *answer);

/* @core misses @line, or uses a line for the first time that it prefetched. */
void caches_prefetch(struct caches *c, uint32_t core, uint64_t line,
		     uint64_t t);

#endif
