/* SPDX-License-Identifier: MIT */
/*
 * directory - every transfer of cache lines in a stream of accesses
 *
 * A directory of the accesses of all threads, for sources that see each access.
 * It knows the last store to each line and the threads that have touched the
 * line since. From that it counts, without error,
 *
 * - transfers: thread B touches a line whose last writer is A != B and that B
 *   has not touched since that store. Several readers after one store are
 *   several transfers. An upgrade of a line that B holds is none.
 * - false sharing: a transfer is false if no access of B, from that touch up to
 *   and including the next store to the line by any thread, overlaps the bytes
 *   that A stored. A transfer counts as false from its first touch until an
 *   access overlaps, so the count of false transfers can fall.
 * - useless transfers: a visit of B lasts from a transfer to the next store by
 *   another thread. It is useless if B touches no byte in it that other threads
 *   have stored since B's last useful transfer of the line (Dubois and others,
 *   ISCA 1993). It counts as useless until B touches such a byte.
 * - turns of the threads on a line (line_log.h), which tell what would have
 *   been saved if its bytes were on several lines.
 * - MESI events: caches of unlimited size, over a topology of cores. If each
 *   thread stays on a core of its own, the misses that are served by the cache
 *   that wrote the line last are the transfers.
 *
 * Accesses take place in the order of the calls; the lock of a line orders
 * those to that line. An access to several lines is one access to each, in
 * ascending order.
 *
 *                exact_access  exact_counts, exact_cell, exact_lines
 * exact_access   in any order  may miss what is being counted
 *
 * Any number of threads may be in exact_access at once, each with an
 * exact_thread of its own. Accesses to a line that a thread has to itself, and
 * most loads, take no lock (directory_quick.h). A lock is held for some tens of
 * instructions and waited for without bound (docs/memory-model.md). A call that
 * interrupts another call of its thread cannot wait: if it needs a lock, it is
 * dropped and counted. A thread must not leave a call by longjmp from a signal
 * handler, nor end in one.
 */
#ifndef COMDET_EXACT_DIRECTORY_H
#define COMDET_EXACT_DIRECTORY_H

#include <stddef.h>
#include <stdint.h>

#include "line_log.h"
#include "src/base/access.h"
#include "src/base/topology.h"

enum {
	EXACT_THREADS_MAX = 1024,
	EXACT_REGION_LINES = 256, /* lines of a region, the unit of growth */
	EXACT_REGIONS_DEFAULT = 1 << 16,
	EXACT_SEEN = 128, /* regions that a thread remembers */
	EXACT_LOGS = 2048 /* lines that have a log, at most */
};

struct exact_config {
	uint32_t threads;    /* ids 0 to threads - 1 */
	uint32_t line_bytes; /* power of two, 8 to 64 */
	uint32_t regions; /* most regions that can be touched; power of two */
	const struct topology_shape
		*topology; /* NULL: a core for each thread */
};

/* Requests of a private cache that other caches had to answer. */
enum exact_miss {
	EXACT_LOAD_CLEAN,    /* load; other caches hold it unmodified */
	EXACT_LOAD_MODIFIED, /* load; another cache holds it modified */
	EXACT_OWN_CLEAN,     /* store, as above */
	EXACT_OWN_MODIFIED,
	EXACT_UPGRADE, /* store; held here, and elsewhere too */
	EXACT_MISSES
};

/* Counts of one thread. An access counts once for each line that it touches. */
struct exact_counts {
	uint64_t loads, stores;           /* a read-modify-write is a store */
	uint64_t cold_loads, cold_stores; /* in no cache */
	/*
	 * By distance to the nearest cache that has the line; for upgrades, to
	 * the farthest cache that loses it.
	 */
	uint64_t miss[EXACT_MISSES][TOPOLOGY_LEVELS_MAX + 1];
	uint64_t invalidated; /* copies that its stores took from other caches
			       */
	uint64_t dropped; /* accesses that interrupted a call of the thread */
	uint64_t full;    /* accesses for which no region was left */
};

struct exact_cell {
	uint64_t transfers;
	uint64_t false_sharing; /* of them */
	uint64_t useless;       /* of them */
};

struct exact_line {
	uint64_t line; /* address */
	uint64_t transfers, false_sharing;
	uint64_t stores;
	uint64_t ownership; /* reads for ownership and upgrades, not cold */
	/* Bytes stored before a transfer or touched by it, a bit each. */
	uint64_t bytes;
	uint64_t useless; /* transfers */
	/* Bytes that several threads read and modify in locked operations. */
	uint64_t contended;
	/* NULL: none. It may change while threads make accesses. */
	const struct line_log *log;
};

struct exact;

/* One per thread, only ever touched by it. */
struct exact_thread {
	uint32_t id;
	volatile uint32_t inside; /* not 0 while the thread is in a call */
	uint32_t home;  /* core on which directory_quick.h may be used */
	uint64_t owned; /* the state of a line that it owns */
	uint64_t settled, settled_mask;
	void (*taken)(void *ctx); /* of exact_access_then; NULL: none */
	void *taken_ctx;
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
 * 64. Map it with MAP_NORESERVE: memory becomes resident only for lines that
 * the program touches, 16 bytes for each and 200 more if several threads touch
 * it (with up to 64 threads and cores), and 3 KiB for each window of a log,
 * which is 96 KiB, or 384 for the first logs. @config and the topology are
 * copied.
 *
 * Context: set-up. Returns @mem, NULL if the configuration is invalid.
 */
struct exact *exact_init(void *mem, const struct exact_config *config);

/*
 * Thread number @id starts. The number of a thread that has ended may be used
 * again; the directory takes the two threads for one. It is fastest if the new
 * thread runs on the core, or private cache, of the old one's first access.
 *
 * Context: any. Returns 0 or -EINVAL.
 */
int exact_thread_init(const struct exact *x, struct exact_thread *t,
		      uint32_t id);

/*
 * Thread @t, now on core @core (modulo cores), makes access @a. Without a
 * topology @core is ignored. An access that would wrap round the address space
 * stops at its end.
 *
 * Context: the thread itself, see above. Does not allocate or change errno.
 */
void exact_access(struct exact *x, struct exact_thread *t,
		  const struct access *a, uint32_t core);

/*
 * As exact_access, and @taken(@ctx) is called once, when the access has taken
 * its place among those to its first line: accesses that come after it are made
 * by threads that see what @taken did, earlier ones by threads that need not.
 * It is called with the line's lock, so it takes no lock and does little. If
 * the access is dropped, or finds no region, it is not called.
 */
void exact_access_then(struct exact *x, struct exact_thread *t,
		       const struct access *a, uint32_t core,
		       void (*taken)(void *ctx), void *ctx);

/* Transfers from thread @from to thread @to. Context: any. */
struct exact_cell exact_cell(const struct exact *x, uint32_t from, uint32_t to);

/* The sum over all cells. Context: any. */
struct exact_cell exact_total(const struct exact *x);

/*
 * Call @fn for every line that was touched, in no particular order, until it
 * returns a value other than 0. Returns that value, or 0.
 *
 * Context: any.
 */
int exact_lines(const struct exact *x,
		int (*fn)(void *ctx, const struct exact_line *line), void *ctx);

#endif
