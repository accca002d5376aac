/* SPDX-License-Identifier: MIT */
/*
 * store_index - find a record of this thread again by its first words
 *
 * A hash table of one thread's records in the file, by their first words, with
 * open addressing in private memory from raw mmap. A slot holds 32 bits of hash
 * and the record's offset in the file, so neither probing nor growing reads the
 * records. The hash depends on the store's secret, so no program can choose
 * keys that collide; the file does not depend on it. Context: the thread's own
 * handler.
 */
#ifndef COMDET_STORE_STORE_INDEX_H
#define COMDET_STORE_STORE_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store.h"

struct store_index {
	uint64_t *slot;
	uint32_t slots, used; /* slots: 0 or a power of two */
};

/*
 * Find the record whose first @words words equal those at @key; NULL if there
 * is none. *@hash receives the hash for store_index_add.
 */
void *store_index_find(const struct store *s, const struct store_index *x,
		       const void *key, size_t words, uint32_t *hash);
/* Make room for one more record. False if the index is full and cannot grow. */
bool store_index_room(struct store_index *x);
/*
 * Write @record as a new record of the section of @w, commit it and index it.
 * Call this after store_index_find has returned NULL and given @hash, and
 * store_index_room has returned true. Returns 0, or -ENOSPC if the store is
 * full.
 */
int store_index_add(struct store *s, struct store_index *x,
		    struct store_writer *w, const void *record, uint32_t hash);
void store_index_release(struct store_index *x);

#endif
