/* SPDX-License-Identifier: MIT */
/*
 * index - a hash table from numbers to numbers, with open addressing
 *
 * The keys come from untrusted files. Where a key goes depends on a secret of
 * this process, so that no file can choose keys that all collide.
 */
#ifndef COMDET_ANALYSIS_IMPORT_INDEX_H
#define COMDET_ANALYSIS_IMPORT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define IMPORT_NONE UINT32_MAX

/*
 * The secret, an odd number: the upper bits of products with it are a universal
 * hash.
 */
uint64_t import_secret(void);

/* Zeroed, it is empty. */
struct import_index {
	uint64_t *key;
	uint32_t *value; /* IMPORT_NONE: a free slot */
	size_t used, slots;
	unsigned int bits; /* log2 of the number of slots */
};

/* IMPORT_NONE if @key is not there. UINT64_MAX must not be used as a key. */
uint32_t import_index_find(const struct import_index *x, uint64_t key);
/* @value IMPORT_NONE forgets the key. */
void import_index_set(struct import_index *x, uint64_t key, uint32_t value);
void import_index_release(struct import_index *x);

#endif
