/* SPDX-License-Identifier: MIT */
/*
 * cache_sets - caches with sets, simulated over every access
 *
 * The caches of a thread, the nearest first. All but the last are the thread's
 * own; the last may be shared by all threads of a domain. An access looks for
 * its line in one cache after the other until one has it, and puts it into all
 * that missed. Each set replaces its least recently used line. A store that
 * misses fetches the line as a load does. A line that another thread has stored
 * to misses in the thread's own caches.
 *
 * Misses are counted by thread, and by instruction in a table of
 * CACHE_SETS_SITES; misses of instructions beyond that have no site.
 *
 * Any number of threads may be in cache_sets_access at once, each with a
 * cache_sets_thread of its own. A lock guards a shared cache, held for one set.
 */
#ifndef COMDET_EXACT_CACHE_SETS_H
#define COMDET_EXACT_CACHE_SETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	CACHE_SETS_LEVELS = 4,
	CACHE_SETS_DEPTH_MAX = 9, /* L9 */
	CACHE_SETS_WAYS_MAX = 128,
	CACHE_SETS_LINES_MAX = 1 << 24, /* of one cache: 1 GiB */
	CACHE_SETS_DOMAINS_MAX = 64,
	CACHE_SETS_SITES = 1 << 14, /* a thread */
	CACHE_SETS_LINE = 64,       /* bytes */
};

struct cache_shape {
	uint32_t depth; /* 1 for an L1 */
	uint32_t sets, ways;
	bool shared; /* the threads of a domain share this cache; only the last
			level may be */
};

struct cache_sets_config {
	uint32_t levels;
	struct cache_shape level[CACHE_SETS_LEVELS];
	uint32_t domains; /* at least 1 */
};

/* Indexed by whether the access stores. */
struct cache_site {
	uint64_t ip;         /* 0: free */
	uint64_t generation; /* the caller's */
	uint64_t miss[CACHE_SETS_LEVELS][2];
};

/* One per thread, only ever touched by it. */
struct cache_sets_thread {
	uint32_t domain;
	uint64_t accesses[2]; /* to lines; an access to two lines counts twice
			       */
	uint64_t miss[CACHE_SETS_LEVELS][2];
	uint32_t sites;
	struct cache_site *site; /* CACHE_SETS_SITES, in no order */
	uint64_t *own[CACHE_SETS_LEVELS];
};

struct cache_sets;

/*
 * Parse caches like "L1d 49152 12; L2 1048576 16; L3 33554432 16 shared": name,
 * bytes and ways of each, with lines of 64 bytes. Any number of sets will do.
 * Returns 0, or -EINVAL if @text is no such list or exceeds the limits above.
 * Sets config->domains to 1; the caller may change it.
 */
int cache_sets_parse(struct cache_sets_config *config, const char *text);

/* Bytes of memory needed, 0 if the configuration is invalid. */
size_t cache_sets_size(const struct cache_sets_config *config);
size_t cache_sets_thread_size(const struct cache_sets_config *config);

/*
 * Make them in @mem, of the sizes above, all zero, aligned to 64. Map it with
 * MAP_NORESERVE: only touched pages become resident. Context: set-up.
 */
struct cache_sets *cache_sets_init(void *mem,
				   const struct cache_sets_config *config);
struct cache_sets_thread *cache_sets_thread_init(void *mem,
						 const struct cache_sets *x,
						 uint32_t domain);

/*
 * Instruction @ip of thread @t accesses line number @line, below 2^58. @taken
 * says that another thread has stored to the line since @t last accessed it.
 * Returns the instruction's site if it is new, else NULL.
 *
 * Context: the thread itself; not a handler that may interrupt a call.
 */
struct cache_site *cache_sets_access(struct cache_sets *x,
				     struct cache_sets_thread *t, uint64_t line,
				     uint64_t ip, bool stores, bool taken);

#endif
