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
	for (uint64_t i = 0; i < n; i++) {
		c->line[i].line = CACHE_NO_LINE;
		c->line[i].owner = -1;
	}
}

void cache_lines_release(struct cache_lines *c)
{
	free(c->line);
	c->line = NULL;
}
