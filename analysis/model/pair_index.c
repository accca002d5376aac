/* SPDX-License-Identifier: MIT */
/*
 * pair_index - numbers for pairs of numbers, in the order of their first use
 */
#include <stdlib.h>
#include <string.h>

#include "pair_index.h"
#include "analysis/base/util.h"

enum {
	SLOTS_FIRST = 1024 /* a power of two */
};

void pair_index_release(struct pair_index *p)
{
	free(p->key);
	free(p->slot);
	memset(p, 0, sizeof(*p));
}

static size_t slot_of(const struct pair_index *p, uint64_t a, uint64_t b)
{
	uint64_t h = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) *
		     UINT64_C(0xbf58476d1ce4e5b9);
	size_t i = (size_t)(h >> 29) & (p->slots - 1);

	while (p->slot[i]) {
		const struct pair_key *k = &p->key[p->slot[i] - 1];

		if (k->a == a && k->b == b)
			break;
		i = (i + 1) & (p->slots - 1);
	}
	return i;
}

/* Keep at least half of the slots empty. */
static void grow_slots(struct pair_index *p)
{
	if (p->slots && p->pairs < p->slots / 2)
		return;
	free(p->slot);
	p->slots = p->slots ? 2 * p->slots : SLOTS_FIRST;
	p->slot = xcalloc(p->slots, sizeof(*p->slot));
	for (size_t i = 0; i < p->pairs; i++)
		p->slot[slot_of(p, p->key[i].a, p->key[i].b)] = (uint32_t)i + 1;
}

uint32_t pair_index_of(struct pair_index *p, uint64_t a, uint64_t b)
{
	size_t i;

	grow_slots(p);
	i = slot_of(p, a, b);
	if (!p->slot[i]) {
		p->key = grow(p->key, p->pairs, &p->room, sizeof(*p->key));
		p->key[p->pairs++] = (struct pair_key){ a, b };
		p->slot[i] = (uint32_t)p->pairs;
	}
	return p->slot[i] - 1;
}

bool pair_index_find(const struct pair_index *p, uint64_t a, uint64_t b,
		     uint32_t *number)
{
	uint32_t found = p->slots ? p->slot[slot_of(p, a, b)] : 0;

	*number = found - 1;
	return found;
}
