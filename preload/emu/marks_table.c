/* SPDX-License-Identifier: MIT */
/*
 * marks_table - what was said of an object of the program, by address
 *
 * Open addressing; entries are never taken out one by one.
 */
#include <stdlib.h>
#include <string.h>

#include "marks_table.h"

enum {
	ENTRIES = 256 /* at first */
};

struct entry {
	uint64_t object, value;
	uint32_t what; /* 0: free */
};

static struct entry *table;
static size_t entries, used;

/* The entry of @object in @in, or the free one where it belongs. */
static struct entry *find(struct entry *in, size_t n, uint32_t what,
			  uint64_t object)
{
	uint64_t hash = (object + what) * UINT64_C(0x9e3779b97f4a7c15);
	size_t i = (size_t)(hash >> 32) & (n - 1);

	while (in[i].what && (in[i].what != what || in[i].object != object))
		i = (i + 1) & (n - 1);
	return &in[i];
}

uint64_t marks_table_get(enum marks_value what, uint64_t object)
{
	return entries ? find(table, entries, what, object)->value : 0;
}

static void make_room(void)
{
	size_t n = entries ? 2 * entries : ENTRIES;
	struct entry *more = calloc(n, sizeof(*more));

	if (!more)
		return;
	for (size_t i = 0; i < entries; i++)
		if (table[i].what)
			*find(more, n, table[i].what, table[i].object) =
				table[i];
	free(table);
	table = more;
	entries = n;
}

void marks_table_put(enum marks_value what, uint64_t object, uint64_t value)
{
	struct entry *e;

	if (2 * used >= entries)
		make_room();
	if (used + 1 >= entries)
		return;
	e = find(table, entries, what, object);
	used += !e->what;
	*e = (struct entry){ object, value, what };
}

void marks_table_clear(void)
{
	if (entries)
		memset(table, 0, entries * sizeof(*table));
	used = 0;
}
