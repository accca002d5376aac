/* SPDX-License-Identifier: MIT */
/*
 * store_index - find a record of this thread again by its first words
 *
 * An index over one thread's records in the file by their first words: open
 * addressing in private memory, from raw mmap. A slot holds 32 bits of hash
 * and the record's offset in the file, so that neither probing nor growing
 * reads the records. Where a key goes depends on the store's secret, what is in
 * the file does not: nobody can choose keys that meet. Context: the thread's
 * own handler.
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
 * The record whose first @words words are those at @key, or NULL. *@hash
 * receives what store_index_add wants.
 */
void *store_index_find(const struct store *s, const struct store_index *x,
		       const void *key, size_t words, uint32_t *hash);
/* Room for one more? Grows the index; false if it is full and cannot grow. */
bool store_index_room(struct store_index *x);
/*
 * Write @record, of the section of @w, as a new record, commit and index it.
 * After store_index_find said NULL, with *@hash from it, and store_index_room
 * true. Returns 0, or -ENOSPC if the store is full.
 */
int store_index_add(struct store *s, struct store_index *x,
		    struct store_writer *w, const void *record, uint32_t hash);
void store_index_release(struct store_index *x);

#endif
