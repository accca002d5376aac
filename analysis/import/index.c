/* SPDX-License-Identifier: MIT */
/*
 * index - a hash table from numbers to numbers, with open addressing
 *
 * A forgotten key keeps its slot, so a search ends at a slot that was never
 * used. Growing the table drops forgotten keys.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "index.h"
#include "analysis/base/util.h"

enum {
	FIRST_BITS = 7,
};
#define FREE_KEY UINT64_MAX /* no (pid, tid) pair and no id has this value */

/* Dietzfelbinger et al., J. Algorithms 25, 1997. */
uint64_t import_secret(void)
{
	static uint64_t odd;

	if (!odd && getrandom(&odd, sizeof(odd), GRND_NONBLOCK) < 0)
		odd = 0x9E3779B97F4A7C15ull;
	odd |= 1;
	return odd;
}

static size_t slot_of(const struct import_index *x, uint64_t key)
{
	size_t at = key * import_secret() >> (64 - x->bits);

	while (x->key[at] != key && x->key[at] != FREE_KEY)
		at = (at + 1) & (x->slots - 1);
	return at;
}

uint32_t import_index_find(const struct import_index *x, uint64_t key)
{
	size_t at;

	if (!x->slots || key == FREE_KEY)
		return IMPORT_NONE;
	at = slot_of(x, key);
	return x->key[at] == key ? x->value[at] : IMPORT_NONE;
}

static void resize(struct import_index *x)
{
	struct import_index old = *x;

	x->bits = FIRST_BITS;
	for (size_t i = 0, live = 0; i < old.slots; i++) {
		live += old.value[i] != IMPORT_NONE;
		if (live * 4 > (size_t)1 << x->bits)
			x->bits++;
	}
	x->slots = (size_t)1 << x->bits;
	x->used = 0;
	x->key = xcalloc(x->slots, sizeof(*x->key));
	x->value = xcalloc(x->slots, sizeof(*x->value));
	memset(x->key, 0xff, x->slots * sizeof(*x->key));
	memset(x->value, 0xff, x->slots * sizeof(*x->value));
	for (size_t i = 0; i < old.slots; i++)
		if (old.value[i] != IMPORT_NONE)
			import_index_set(x, old.key[i], old.value[i]);
	import_index_release(&old);
}

void import_index_set(struct import_index *x, uint64_t key, uint32_t value)
{
	size_t at;

	if (key == FREE_KEY)
		return;
	if (2 * (x->used + 1) > x->slots)
		resize(x);
	at = slot_of(x, key);
	x->used += x->key[at] == FREE_KEY;
	x->key[at] = key;
	x->value[at] = value;
}

void import_index_release(struct import_index *x)
{
	free(x->key);
	free(x->value);
	memset(x, 0, sizeof(*x));
}
