/* SPDX-License-Identifier: MIT */
/*
 * reuse - every reuse of cache lines, and every stack distance
 *
 * For sources that see each access of all threads. There is a private stream
 * for each thread and a stream for each domain, the cores under one shared
 * cache. In each stream an access to a line is one of
 *
 *	cold		the stream's first access to the line
 *	invalidated	another thread (domain) has stored to the line since the
 *			stream's last access to it
 *	reuse		all others. The reuse time is the accesses since then (A
 *			B B A is 3), the stack distance the distinct lines (1)
 *
 * A use without a next access in its stream is dangling, or invalidated if
 * another thread (domain) has stored to the line since. So uses are reused,
 * invalidated or dangling as in engine/reuse.h; cold accesses are counted
 * besides. A line keeps its place in the stack when it is invalidated.
 *
 * An access to two lines is one access to each, at the same time.
 *
 * Exact while a stream has at most config->lines lines. With more it keeps a
 * part of the lines and gives them weights (lru_stack.h).
 *
 * Any number of threads may be in reuse_exact_access at once, each with a
 * reuse_exact_thread of its own. A domain's stream has a lock, which each
 * access holds for a look into a table and waits for without bound.
 */
#ifndef COMDET_EXACT_REUSE_H
#define COMDET_EXACT_REUSE_H

#include <stddef.h>
#include <stdint.h>

#include "src/engine/reuse.h"
#include "src/engine/reuse_histogram.h"

enum {
	REUSE_EXACT_SEEN = 16, /* regions that a thread remembers */
	REUSE_EXACT_DOMAINS_MAX = 64,
};

struct reuse_exact_config {
	uint32_t regions; /* most regions, of 64 lines, that can be touched; a
			     power of two */
	uint32_t lines;   /* of a stream, a power of two */
	uint32_t domains; /* how many have a stream; 0: none */
};

/* Of one stream. Weights are accesses. */
struct reuse_exact_counts {
	/* By reuse time; the time to an invalidation is not known. */
	struct reuse_mass reused[REUSE_PAIRINGS][2][REUSE_BINS]; /* spatial */
	/*
	 * For a domain: those of reused that the core of the use reused itself.
	 */
	struct reuse_mass same_core[REUSE_PAIRINGS][2][REUSE_BINS];
	double invalidated[2];                     /* of loads, of stores */
	struct reuse_mass dangling[2][REUSE_BINS]; /* of loads, of stores; by
						      time to the end, which
						      counts as an access */
	struct reuse_mass cold[REUSE_BINS]; /* by time from the beginning */
	double returned; /* invalidated lines that the stream accessed again */
	struct reuse_mass distance[REUSE_BINS]; /* of reused, in lines */
	uint64_t accesses;                      /* in all, to any line */
	uint64_t full;   /* accesses for which no region was left */
	uint64_t weight; /* accesses that one recorded access stands for at the
			    end; above 1: not exact */
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
 * Make them in @mem, of the sizes above, all zero, aligned to 64. Map it with
 * MAP_NORESERVE: only touched pages become resident. Context: set-up.
 */
struct reuse_exact *reuse_exact_init(void *mem,
				     const struct reuse_exact_config *config);
struct reuse_exact_thread *reuse_exact_thread_init(
	void *mem, const struct reuse_exact *x, const struct cpu_place *place);

/*
 * Thread @t makes access @a, of at most 64 bytes. Returns bit 0 for its first
 * line and bit 1 for its second: set if another thread has stored to the line
 * since the last access of @t to it. Lines that are left out have no bit.
 *
 * Context: the thread itself; not a handler that may interrupt a call.
 */
unsigned int reuse_exact_access(struct reuse_exact *x,
				struct reuse_exact_thread *t,
				const struct access *a);

/*
 * End the thread's stream: its last uses dangle or were invalidated. Its counts
 * are complete then. Context: the thread, or any after its end.
 */
void reuse_exact_thread_end(struct reuse_exact *x,
			    struct reuse_exact_thread *t);

/*
 * End a domain's stream and return its counts. Call it once. Context: any,
 * while no other thread is in a call.
 */
const struct reuse_exact_counts *reuse_exact_domain_end(struct reuse_exact *x,
							uint32_t domain);

#endif
