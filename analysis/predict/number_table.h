/* SPDX-License-Identifier: MIT */
/*
 * number_table - numbers of things, found by what the things are
 *
 * Open addressing, at most half full. The things are the caller's.
 */
#ifndef COMDET_ANALYSIS_PREDICT_NUMBER_TABLE_H
#define COMDET_ANALYSIS_PREDICT_NUMBER_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBER_NONE UINT32_MAX

/* Both of the number @i of @things. */
typedef uint64_t number_hash(const void *things, uint32_t i);
typedef bool number_is(const void *things, uint32_t i, const void *key);

/* Begins with all 0 but for the functions. */
struct number_table {
	number_hash *hash;
	number_is *is;
	uint32_t *place; /* number + 1; 0: free */
	size_t places, n;
};

void number_table_release(struct number_table *t);

/* The number of the one that is @key and so has the hash @h, or none. */
uint32_t number_table_find(const struct number_table *t, const void *things,
			   uint64_t h, const void *key);

/* Add the thing @number, which is not there yet. */
void number_table_add(struct number_table *t, const void *things,
		      uint32_t number);

/* A hash of @bytes bytes, that begins with @h. */
uint64_t number_hash_of(uint64_t h, const void *data, size_t bytes);

#endif
