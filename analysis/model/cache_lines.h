/* SPDX-License-Identifier: MIT */
/*
 * cache_lines - the sets of one simulated cache
 */
#ifndef COMDET_ANALYSIS_MODEL_CACHE_LINES_H
#define COMDET_ANALYSIS_MODEL_CACHE_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "machine.h"

#define CACHE_NO_LINE UINT64_MAX

enum line_state {
	LINE_SHARED,
	LINE_EXCLUSIVE,
	LINE_MODIFIED
};

struct cache_line {
	uint64_t line;    /* address >> MACHINE_LINE_SHIFT, or CACHE_NO_LINE */
	uint64_t ready;   /* when its data arrive */
	uint64_t sharers; /* last cache: a bit for each core that has it */
	int8_t owner;     /* last cache: the core that may have modified it, or
			     -1 */
	uint8_t state;    /* others: enum line_state */
	uint8_t from;     /* enum caches_level that it comes from */
	bool dirty;
	bool asked; /* first data cache: a prefetcher did, and nobody used it */
};

struct cache_lines {
	struct cache_line *line;
	uint64_t *tag;  /* the same lines' numbers, closer together */
	uint64_t *used; /* larger: more recently */
	uint64_t sets;
	uint32_t ways;
};

void cache_lines_init(struct cache_lines *c, const struct machine_cache *size);
void cache_lines_release(struct cache_lines *c);

static inline uint64_t cache_lines_set(const struct cache_lines *c,
				       uint64_t line)
{
	return (line & (c->sets - 1)) * c->ways;
}

static inline struct cache_line *cache_lines_find(const struct cache_lines *c,
						  uint64_t line)
{
	uint64_t set = cache_lines_set(c, line);

	for (uint32_t i = 0; i < c->ways; i++)
		if (c->tag[set + i] == line)
			return &c->line[set + i];
	return NULL;
}

/* A place for @line: an empty one, or the least recently used. */
static inline struct cache_line *cache_lines_victim(const struct cache_lines *c,
						    uint64_t line)
{
	uint64_t set = cache_lines_set(c, line), oldest = set;

	for (uint32_t i = 0; i < c->ways; i++) {
		if (c->tag[set + i] == CACHE_NO_LINE)
			return &c->line[set + i];
		if (c->used[set + i] < c->used[oldest])
			oldest = set + i;
	}
	return &c->line[oldest];
}

/* The line @a is used at @clock. */
static inline void cache_lines_use(const struct cache_lines *c,
				   const struct cache_line *a, uint64_t clock)
{
	c->used[a - c->line] = clock;
}

/* Put @new into the place @to, or empty it. */
static inline void cache_lines_put(const struct cache_lines *c,
				   struct cache_line *to, struct cache_line new)
{
	*to = new;
	c->tag[to - c->line] = new.line;
}

static inline void cache_lines_drop(const struct cache_lines *c,
				    struct cache_line *from)
{
	from->line = CACHE_NO_LINE;
	c->tag[from - c->line] = CACHE_NO_LINE;
}

#endif
