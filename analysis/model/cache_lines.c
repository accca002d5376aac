/* SPDX-License-Identifier: MIT */
/*
 * cache_lines - the sets of one simulated cache
 */
#include <stdlib.h>

#include "cache_lines.h"
#include "analysis/base/util.h"

void cache_lines_init(struct cache_lines *c, const struct machine_cache *size)
{
	uint64_t n = size->size >> MACHINE_LINE_SHIFT;

	c->ways = size->ways;
	c->sets = n / c->ways;
	c->line = xcalloc(n, sizeof(*c->line));
	c->tag = xcalloc(n, sizeof(*c->tag));
	c->used = xcalloc(n, sizeof(*c->used));
	for (uint64_t i = 0; i < n; i++) {
		cache_lines_drop(c, &c->line[i]);
		c->line[i].owner = -1;
	}
}

void cache_lines_release(struct cache_lines *c)
{
	free(c->line);
	free(c->tag);
	free(c->used);
	c->line = NULL;
	c->tag = c->used = NULL;
}
