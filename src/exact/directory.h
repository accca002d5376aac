/* SPDX-License-Identifier: MIT */
/*
 * directory - every transfer of cache lines in a stream of accesses
 *
 * A directory over the accesses of all threads, for sources that see every
 * one of them. Per line it knows the last store and who has touched the line
 * since; from that follow, without error,
 *
 * - transfers: thread B touches a line whose last writer is A != B and that B
 *   has not touched since that store. Several readers after one store are
 *   several transfers. Upgrades of a line that B holds are none.
 * - false sharing: a transfer is false if none of B's accesses from that touch
 *   on, up to and including the next store to the line by anyone, overlaps the
 *   bytes that A stored. It starts as false unless the first touch overlaps,
 *   and is taken back when one does: the count of false transfers can fall.
 * - the MESI view: caches without limit of size, over a topology of cores.
 *   Where threads stay on cores of their own, its misses served by a cache
 *   that wrote the line last are the transfers.
 *
 * The order of accesses is that of the calls; those to one line are put in
 * order by a lock in the line's record. An access to several lines is one
 * access to each, in ascending order.
 *
 *                exact_access  exact_counts, exact_cell, exact_lines
 * exact_access   in any order  may miss what is being counted
 *
 * Any number of threads may be in exact_access at once, each with an
 * exact_thread of its own. Accesses to a line that a thread has to itself, and
 * most loads, take no lock (directory_quick.h); a lock is held for some tens of
 * instructions and waited for without bound (after a while by sched_yield). A
 * call that needs one and interrupted a call of the same thread cannot wait: it
 * is dropped and counted. A thread must not leave a call by longjmp from a
 * signal handler, nor end in one.
 */
#ifndef COMDET_EXACT_DIRECTORY_H
#define COMDET_EXACT_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/base/topology.h"

enum {
	EXACT_THREADS_MAX = 1024,
	EXACT_REGION_LINES = 256, /* lines of a region, the unit of growth */
	EXACT_REGIONS_DEFAULT = 1 << 16,
	EXACT_SEEN = 128 /* regions that a thread finds at once */
};

struct exact_config {
	uint32_t threads;    /* ids 0 to threads - 1 */
	uint32_t line_bytes; /* power of two, 8 to 64 */
	uint32_t regions;    /* power of two; what can be touched at most */
	const struct topology_shape
		*topology; /* NULL: a core for each thread */
};

/* What a private cache asked for because it did not have it. */
enum exact_miss {
	EXACT_LOAD_CLEAN,    /* load; other caches hold it unmodified */
	EXACT_LOAD_MODIFIED, /* load; another cache holds it modified */
	EXACT_OWN_CLEAN,     /* store, as above */
	EXACT_OWN_MODIFIED,
	EXACT_UPGRADE, /* store; held here, and elsewhere too */
	EXACT_MISSES
};

/* Of one thread. Accesses are counted once per line that they touch. */
struct exact_counts {
	uint64_t loads, stores;           /* a read-modify-write is a store */
	uint64_t cold_loads, cold_stores; /* in no cache */
	/*
	 * By distance: of the nearest cache that has the line, for upgrades of
	 * the farthest that loses it.
	 */
	uint64_t miss[EXACT_MISSES][TOPOLOGY_LEVELS_MAX + 1];
	uint64_t invalidated; /* copies in other caches, by its stores */
	uint64_t dropped;     /* interrupted a call of the same thread */
	uint64_t full;        /* no region was left */
};

struct exact_cell {
	uint64_t transfers;
	uint64_t false_sharing; /* of them */
};

struct exact_line {
	uint64_t line; /* address */
	uint64_t transfers, false_sharing;
	uint64_t stores;
	uint64_t ownership; /* reads for ownership and upgrades, not cold */
	/* Those stored before a transfer and those touched by it, a bit each */
	uint64_t bytes;
};

struct exact;

/* One per thread, only ever touched by it. */
struct exact_thread {
	uint32_t id;
	volatile uint32_t inside; /* a call is being interrupted if not 0 */
	uint32_t home;  /* core that directory_quick.h may be used on */
	uint64_t owned; /* states that it looks for */
	uint64_t settled, settled_mask;
	struct {
		uint64_t region;
		_Atomic uint64_t *state; /* of the region's first line */
	} seen[EXACT_SEEN];
	struct exact_counts counts;
};

/* Bytes of memory that a directory needs, 0 if the configuration is invalid. */
size_t exact_size(const struct exact_config *config);

/*
 * Make an empty directory in @mem: exact_size() bytes, all zero, aligned to
 * 64. Of a mapping with MAP_NORESERVE only what the program touches becomes
 * resident: 8 bytes a line, and 80 more for one that several threads have
 * touched, with up to 64 threads and cores. @config and the topology are
 * copied.
 *
 * Context: set-up. Returns @mem, NULL if the configuration is invalid.
 */
struct exact *exact_init(void *mem, const struct exact_config *config);

/*
 * Thread number @id starts. A number may be used again when its thread has
 * ended; the directory takes the two for one. It is fastest with one that had
 * its first access on the core, or a core with the same private cache, that
 * the new thread is on.
 *
 * Context: any. Returns 0 or -EINVAL.
 */
int exact_thread_init(const struct exact *x, struct exact_thread *t,
		      uint32_t id);

/*
 * Thread @t, now on core @core (modulo cores), makes access @a. Without a
 * topology @core is ignored.
 *
 * Context: the thread itself, see above. Does not allocate; errno is left
 * alone. An access that wraps round the address space ends at its end.
 */
void exact_access(struct exact *x, struct exact_thread *t,
		  const struct access *a, uint32_t core);

/* Transfers from thread @from to thread @to. Context: any. */
struct exact_cell exact_cell(const struct exact *x, uint32_t from, uint32_t to);

/* Over all cells. Context: any. */
struct exact_cell exact_total(const struct exact *x);

/*
 * Call @fn for every line that was touched, in no particular order, until it
 * returns other than 0; that is returned.
 *
 * Context: any.
 */
int exact_lines(const struct exact *x,
		int (*fn)(void *ctx, const struct exact_line *line), void *ctx);

#endif
