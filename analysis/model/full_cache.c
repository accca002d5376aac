/* SPDX-License-Identifier: MIT */
/*
 * full_cache - a cache without sets, which evicts the least recently used line
 *
 * Lines are in a ring in the order of their use, and in lists by their hash.
 * Node 0 is the head of the ring: the next one was used last.
 */
#include <stdlib.h>

#include "full_cache.h"
#include "analysis/base/util.h"

struct node {
	uint64_t line;
	uint32_t prev, next; /* in the ring */
	uint32_t same;       /* the next one in the list of its hash, or 0 */
};

struct full_cache {
	uint64_t lines, used; /* nodes that were ever in use */
	uint32_t unused;      /* nodes of dropped lines, by same */
	uint32_t *list;       /* by hash: the first node, or 0 */
	uint32_t shift;
	struct node node[];
};

struct full_cache *full_cache_new(uint64_t lines)
{
	struct full_cache *c =
		xcalloc(1, sizeof(*c) + (lines + 1) * sizeof(c->node[0]));

	c->lines = lines;
	c->shift = 63;
	while (c->shift > 1 && UINT64_C(1) << (64 - c->shift) < lines)
		c->shift--;
	c->list = xcalloc(UINT64_C(1) << (64 - c->shift), sizeof(*c->list));
	return c;
}

void full_cache_free(struct full_cache *c)
{
	if (!c)
		return;
	free(c->list);
	free(c);
}

/* The link to the node of @line, or to the 0 at the end of its list. */
static uint32_t *link_of(struct full_cache *c, uint64_t line)
{
	uint32_t *link =
		&c->list[line * UINT64_C(0x9e3779b97f4a7c15) >> c->shift];

	while (*link && c->node[*link].line != line)
		link = &c->node[*link].same;
	return link;
}

static void leave_ring(struct full_cache *c, uint32_t i)
{
	struct node *n = &c->node[i];

	c->node[n->prev].next = n->next;
	c->node[n->next].prev = n->prev;
}

static void enter_ring(struct full_cache *c, uint32_t i)
{
	struct node *n = &c->node[i], *head = &c->node[0];

	n->prev = 0;
	n->next = head->next;
	c->node[head->next].prev = i;
	head->next = i;
}

void full_cache_drop(struct full_cache *c, uint64_t line)
{
	uint32_t *link = link_of(c, line), i = *link;

	if (!i)
		return;
	*link = c->node[i].same;
	leave_ring(c, i);
	c->node[i].same = c->unused;
	c->unused = i;
}

static uint32_t take_node(struct full_cache *c)
{
	uint32_t i;

	if (!c->unused && c->used == c->lines)
		full_cache_drop(c, c->node[c->node[0].prev].line);
	i = c->unused;
	if (i)
		c->unused = c->node[i].same;
	else
		i = (uint32_t)++c->used;
	return i;
}

bool full_cache_use(struct full_cache *c, uint64_t line)
{
	uint32_t *link, i = c->node[0].next;

	if (i && c->node[i].line == line)
		return true;
	i = *link_of(c, line);
	if (i) {
		leave_ring(c, i);
		enter_ring(c, i);
		return true;
	}
	i = take_node(c);
	link = link_of(c, line);
	c->node[i].line = line;
	c->node[i].same = 0;
	*link = i;
	enter_ring(c, i);
	return false;
}
