/* SPDX-License-Identifier: MIT */
/*
 * store_index - find a record of this thread again by its first words
 *
 * A slot holds the upper half of a 64-bit hash and the record's offset in the
 * file, which is below 4 GiB. 0 is an empty slot, since the file header is at
 * offset 0. Linear probing; nothing is removed. The index doubles when it is
 * half full. If there is no memory for that it fills up to 7/8, so that at
 * least one slot stays empty and a search ends.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "store_index.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	FIRST_SLOTS = 512, /* one page of memory */
};

/* ThreadSanitizer sees only libc's mmap, which gives memory to a new owner. */
#ifdef __SANITIZE_THREAD__
static void *map_slots(size_t bytes)
{
	return mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void unmap_slots(void *slot, size_t bytes)
{
	munmap(slot, bytes);
}
#else
static void *map_slots(size_t bytes)
{
	long map = rawcall6(SYS_mmap, 0, bytes, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return map < 0 && map > -CDP_PAGE_BYTES ? MAP_FAILED : (void *)map;
}

static void unmap_slots(void *slot, size_t bytes)
{
	rawcall2(SYS_munmap, slot, bytes);
}
#endif

/* Keys may come from a recording that is not trusted. */
static uint32_t hash_words(uint64_t secret, const void *key, size_t words)
{
	const char *p = key;
	uint64_t h = secret;

	for (size_t i = 0; i < words; i++) {
		unsigned __int128 m;
		uint64_t w;

		memcpy(&w, p + i * sizeof(w), sizeof(w));
		m = (unsigned __int128)(h ^ w) * 0xD1342543DE82EF95ull;
		h = (uint64_t)m ^ (uint64_t)(m >> 64) ^ (h << 23);
	}
	h = (h ^ (h >> 32)) * 0x94D049BB133111EBull;
	return h >> 32;
}

void *store_index_find(const struct store *s, const struct store_index *x,
		       const void *key, size_t words, uint32_t *hash)
{
	uint32_t h = hash_words(s->secret, key, words), mask = x->slots - 1;

	*hash = h;
	if (!x->slots)
		return NULL;
	for (uint32_t i = h & mask; x->slot[i]; i = (i + 1) & mask) {
		char *record = s->map + (uint32_t)x->slot[i];

		if (x->slot[i] >> 32 == h &&
		    !memcmp(record, key, words * sizeof(uint64_t)))
			return record;
	}
	return NULL;
}

static void insert(struct store_index *x, uint64_t entry)
{
	uint32_t mask = x->slots - 1, i = (entry >> 32) & mask;

	while (x->slot[i])
		i = (i + 1) & mask;
	x->slot[i] = entry;
}

static bool grow(struct store_index *x)
{
	struct store_index wider = {
		.slots = x->slots ? x->slots * 2 : FIRST_SLOTS,
		.used = x->used,
	};

	wider.slot = map_slots(wider.slots * sizeof(*wider.slot));
	if (wider.slot == MAP_FAILED)
		return false;
	for (uint32_t i = 0; i < x->slots; i++)
		if (x->slot[i])
			insert(&wider, x->slot[i]);
	store_index_release(x);
	*x = wider;
	return true;
}

bool store_index_room(struct store_index *x)
{
	if (x->used < x->slots / 2 || grow(x))
		return true;
	return x->used < x->slots / 8 * 7;
}

int store_index_add(struct store *s, struct store_index *x,
		    struct store_writer *w, const void *record, uint32_t hash)
{
	char *to = store_record(s, w);

	if (!to)
		return -ENOSPC;
	memcpy(to, record, cdp_record_bytes(w->section));
	store_commit(w);
	insert(x, (uint64_t)hash << 32 | (uint64_t)(to - s->map));
	x->used++;
	return 0;
}

void store_index_release(struct store_index *x)
{
	if (x->slots)
		unmap_slots(x->slot, x->slots * sizeof(*x->slot));
	memset(x, 0, sizeof(*x));
}
