/* SPDX-License-Identifier: MIT */
/*
 * index - from numbers to numbers, by open addressing
 *
 * The numbers come from files that nobody vouches for, so where a key goes
 * depends on a secret of the process: no file can put all keys into one place.
 */
#ifndef COMDET_ANALYSIS_IMPORT_INDEX_H
#define COMDET_ANALYSIS_IMPORT_INDEX_H

#include <stddef.h>
#include <stdint.h>

#define IMPORT_NONE UINT32_MAX

/* The secret, odd: products with it are a universal hash by their upper bits.
 */
uint64_t import_secret(void);

/* Zeroed, it is empty. */
struct import_index {
	uint64_t *key;
	uint32_t *value; /* IMPORT_NONE: a free slot */
	size_t used, slots;
	unsigned int bits; /* of the number of slots */
};

/* IMPORT_NONE if it is not there; UINT64_MAX never is. */
uint32_t import_index_find(const struct import_index *x, uint64_t key);
/* IMPORT_NONE forgets the key. */
void import_index_set(struct import_index *x, uint64_t key, uint32_t value);
void import_index_release(struct import_index *x);

#endif
