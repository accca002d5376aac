/* SPDX-License-Identifier: MIT */
/*
 * reuse - every reuse of cache lines, and every stack distance
 *
 * Over the accesses of all threads, for sources that see every one of them.
 * There is a private stream for each thread and a stream for each domain, the
 * cores under one shared cache. In each, an access to a line is one of
 *
 *	cold		the stream's first to the line
 *	invalidated	another thread (domain) has stored to the line since the
 *			stream's last access to it
 *	reuse		all others: with a time, the accesses since then (A B B
 *A is 3), and a stack distance, the distinct lines since then (1)
 *
 * Looking forward, a use that nothing in its stream follows is dangling, or
 * invalidated if another one stored to the line afterwards. So uses are reused,
 * invalidated or dangling as in engine/reuse.h, and cold accesses are counted
 *besides. A line leaves the stack when it is accessed next, not when it is
 *invalidated.
 *
 * An access to two lines is one to each, at the same time.
 *
 * Exact while a stream has at most config->lines lines; beyond that it goes on
 * with a part of the lines and weights (lru_stack.h).
 *
 * Any number of threads may be in reuse_exact_access at once, each with a
 * thread's struct of its own. Streams of domains take a lock for each access,
 * held for a look into a table and waited for without bound.
 */
#ifndef COMDET_EXACT_REUSE_H
#define COMDET_EXACT_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "src/engine/reuse.h"
#include "src/engine/reuse_histogram.h"

enum {
	REUSE_EXACT_SEEN = 16, /* regions that a thread finds at once */
	REUSE_EXACT_DOMAINS_MAX = 64,
};

struct reuse_exact_config {
	uint32_t regions; /* of 64 lines, a power of two: what can be touched */
	uint32_t lines;   /* of a stream, a power of two */
	uint32_t domains; /* streams of domains wanted; 0: none */
};

/* Of one stream. Weights are accesses. */
struct reuse_exact_counts {
	/* By time; of what was invalidated that is not known. */
	struct reuse_mass reused[REUSE_PAIRINGS][2][REUSE_BINS]; /* spatial */
	/* Of a domain's reused: by the core of the use. */
	struct reuse_mass same_core[REUSE_PAIRINGS][2][REUSE_BINS];
	double invalidated[2];                     /* of loads, of stores */
	struct reuse_mass dangling[2][REUSE_BINS]; /* by time to the end, as if
						      it were an access; of
						      loads, of stores */
	struct reuse_mass cold[REUSE_BINS]; /* by time from the beginning */
	double returned; /* of invalidated: the stream came back to the line */
	struct reuse_mass distance[REUSE_BINS]; /* of reused, in lines */
	uint64_t accesses;                      /* in all, to any line */
	uint64_t full;                          /* no region was left */
	uint64_t weight; /* of an access at the end; above 1: not exact */
};

struct reuse_exact;
struct lru_stack;

/* One per thread, only ever touched by it. */
struct reuse_exact_thread {
	struct cpu_place place;
	struct lru_stack *stack;
	struct reuse_exact_counts *counts;
	struct {
		uint64_t region; /* its number + 1; 0: none */
		_Atomic uint32_t *versions;
	} seen[REUSE_EXACT_SEEN];
};

/* Bytes of memory needed, 0 if the configuration is invalid. */
size_t reuse_exact_size(const struct reuse_exact_config *config);
size_t reuse_exact_thread_size(const struct reuse_exact_config *config);

/*
 * In @mem: as many bytes as those say, all zero, aligned to 64. Of a mapping
 * with MAP_NORESERVE only what is touched becomes resident. Context: set-up.
 */
struct reuse_exact *reuse_exact_init(void *mem,
				     const struct reuse_exact_config *config);
struct reuse_exact_thread *reuse_exact_thread_init(
	void *mem, const struct reuse_exact *x, const struct cpu_place *place);

/*
 * Thread @t makes access @a, of at most 64 bytes. Returns for its first line 1,
 * plus 2 for its second one, if another thread has stored to the line since the
 * last access of @t to it; of lines that are left out that is not known.
 *
 * Context: the thread itself; not in a handler that may interrupt a call.
 */
unsigned int reuse_exact_access(struct reuse_exact *x,
				struct reuse_exact_thread *t,
				const struct access *a);

/*
 * The thread's stream ends: its last uses dangle or have been invalidated.
 * Then counts are complete. Context: the thread, or when it has ended.
 */
void reuse_exact_thread_end(struct reuse_exact *x,
			    struct reuse_exact_thread *t);

/*
 * The same for a domain's stream; returns its counts. Context: any, when no
 * other thread is in a call; once.
 */
const struct reuse_exact_counts *reuse_exact_domain_end(struct reuse_exact *x,
							uint32_t domain);

#endif
