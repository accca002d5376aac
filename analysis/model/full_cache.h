/* SPDX-License-Identifier: MIT */
/*
 * full_cache - a cache without sets, which evicts the least recently used line
 *
 * It tells misses for want of room from those for want of ways: it makes only
 * the former (Hill and Smith, "Evaluating Associativity in CPU Caches", 1989).
 */
#ifndef COMDET_ANALYSIS_MODEL_FULL_CACHE_H
#define COMDET_ANALYSIS_MODEL_FULL_CACHE_H

#include <stdbool.h>
#include <stdint.h>

struct full_cache;

struct full_cache *full_cache_new(uint64_t lines); /* 1 or more */
void full_cache_free(struct full_cache *c);

/* Use @line; true if the cache had it. */
bool full_cache_use(struct full_cache *c, uint64_t line);

/* Remove @line, if it is there. */
void full_cache_drop(struct full_cache *c, uint64_t line);

#endif
