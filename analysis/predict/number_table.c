/* SPDX-License-Identifier: MIT */
/*
 * number_table - numbers of things, found by what the things are
 */
#include <stdlib.h>
#include <string.h>

#include "number_table.h"
#include "analysis/base/util.h"

enum {
	FIRST_PLACES = 1 << 10, /* a power of two */
};

/* FNV-1a, by words of eight bytes. */
uint64_t number_hash_of(uint64_t h, const void *data, size_t bytes)
{
	const char *p = data;
	uint64_t word;

	while (bytes) {
		size_t n = bytes < sizeof(word) ? bytes : sizeof(word);

		word = 0;
		memcpy(&word, p, n);
		h = (h ^ word) * UINT64_C(0x100000001b3);
		h ^= h >> 29;
		p += n;
		bytes -= n;
	}
	return h;
}

static size_t first_place(const struct number_table *t, uint64_t h)
{
	return (h * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (t->places - 1);
}

uint32_t number_table_find(const struct number_table *t, const void *things,
			   uint64_t h, const void *key)
{
	if (!t->places)
		return NUMBER_NONE;
	for (size_t i = first_place(t, h); t->place[i];
	     i = (i + 1) & (t->places - 1))
		if (t->is(things, t->place[i] - 1, key))
			return t->place[i] - 1;
	return NUMBER_NONE;
}

static void put(struct number_table *t, const void *things, uint32_t number)
{
	size_t i = first_place(t, t->hash(things, number));

	while (t->place[i])
		i = (i + 1) & (t->places - 1);
	t->place[i] = number + 1;
	t->n++;
}

void number_table_add(struct number_table *t, const void *things,
		      uint32_t number)
{
	struct number_table old = *t;

	if (2 * (t->n + 1) > t->places) {
		t->places = t->places ? 2 * t->places : FIRST_PLACES;
		t->place = xcalloc(t->places, sizeof(*t->place));
		t->n = 0;
		for (size_t i = 0; i < old.places; i++)
			if (old.place[i])
				put(t, things, old.place[i] - 1);
		free(old.place);
	}
	put(t, things, number);
}

void number_table_release(struct number_table *t)
{
	free(t->place);
	t->place = NULL;
	t->places = t->n = 0;
}
