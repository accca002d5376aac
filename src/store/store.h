/* SPDX-License-Identifier: MIT */
/*
 * store - the writing side of a .cdp file, through a shared memory mapping
 *
 * What is committed survives SIGKILL: the kernel owns the pages. Disk blocks
 * are reserved (fallocate) before a page is handed out, so a full disk is an
 * error code and never a SIGBUS in the profiled program; RLIMIT_FSIZE is
 * looked at first, so it is never a SIGXFSZ either.
 *
 * Who may run together: store_page (any threads, handlers included, wait-free
 * but for the system call that grows the file); a writer is one thread's and
 * needs no more than that thread's own order; readers of the file are other
 * processes and rely on the commit counters alone.
 *
 * While the mapping lives, in this process or in one that inherited it, the
 * file carries a shared flock: outdir_create leaves its directory alone.
 */
#ifndef COMDET_STORE_STORE_H
#define COMDET_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdp.h"

enum {
	STORE_FIRST_BYTES = 64 * 1024,
	STORE_GROW_BYTES = 256 * 1024, /* a step, at the most */
	STORE_MAX_BYTES_DEFAULT = 64 * 1024 * 1024,
	STORE_TOUCH_NS = 10 * 1000 * 1000,
};

struct store {
	struct cdp_header *header;
	char *map;          /* max_bytes of address space */
	uint64_t max_bytes; /* length of the mapping */
	uint64_t allocated; /* bytes backed by disk blocks; atomic */
	int fd;             /* high, close-on-exec */
	uint64_t dev, ino;  /* of fd: an application may have closed it */
	uint64_t secret;    /* of the process, for store_index */
};

/*
 * Create @name in the directory @dirfd (mode 0600, exclusively, following no
 * symbolic link) and map it. @max_bytes bounds file and mapping; it is cut to
 * whole pages, and halved while address space is short. The header is zeroed
 * but for magic, version, sizes, section table and state CDP_RUNNING; the
 * caller fills in the rest.
 *
 * Context: set-up. Returns 0 or -errno (-ENOSPC, -EFBIG, -ENOMEM, -EEXIST,
 * -EINVAL for a name with a slash or a @max_bytes below two pages or above
 * CDP_BYTES_MAX), and then nothing is left behind.
 */
int store_create(struct store *s, int dirfd, const char *name,
		 uint64_t max_bytes);

/*
 * Unmap and close. The file stays. Context: set-up; no other thread uses @s.
 * A forked child calls it too: nothing in the file changes. The number of the
 * descriptor is closed only if it is still our file.
 */
void store_release(struct store *s);

/*
 * Hand out a fresh page for @section.
 * Context: any, handler included; growing the file is a system call.
 * Returns the page, or NULL when max_bytes, RLIMIT_FSIZE or the disk is
 * exhausted, or the application closed our descriptor.
 */
struct cdp_page *store_page(struct store *s, enum cdp_section section);

/*
 * A growing sequence of records of one section with one writer.
 * Zero-initialized with its section set, it is empty.
 */
struct store_writer {
	enum cdp_section section;
	struct cdp_page *page; /* the last one */
	uint32_t used;         /* records handed out of it */
};

/*
 * The next record, zeroed and not yet committed; fill it in, then call
 * store_commit, which publishes it to readers with release order. To ask for
 * another before committing publishes both, or loses the earlier one when a
 * page ends between them: commit each.
 * Returns NULL when the store is full. Context: the writer's thread.
 */
void *store_record(struct store *s, struct store_writer *w);
void store_commit(struct store_writer *w);

/*
 * An index over one thread's records in the file by their first words: open
 * addressing in private memory, from raw mmap. A slot holds 32 bits of hash
 * and the record's offset in the file, so that neither probing nor growing
 * reads the records. Where a key goes depends on the store's secret, what is in
 * the file does not: nobody can choose keys that meet. Context: the thread's
 * own handler.
 */
struct store_index {
	uint64_t *slot;
	uint32_t slots, used; /* slots: 0 or a power of two */
};

/*
 * The record whose first @words words are those at @key, or NULL. *@hash
 * receives what store_index_insert wants.
 */
void *store_index_find(const struct store *s, const struct store_index *x,
		       const void *key, size_t words, uint32_t *hash);
/* Room for one more? Grows the index; false if it is full and cannot grow. */
bool store_index_room(struct store_index *x);
/* After store_index_find said NULL and store_index_room true. */
void store_index_insert(const struct store *s, struct store_index *x,
			const void *record, uint32_t hash);
void store_index_release(struct store_index *x);

/*
 * Detections of one thread, aggregated by everything but their time and map
 * generation. Zero-initialized, it is empty.
 */
struct pair_table {
	struct store_writer writer;
	struct store_index index;
	uint32_t rests; /* records in it that are rests */
};

enum {
	PAIR_TABLE_MAX = 8192,
	PAIR_TABLE_RESTS_MAX = 2048
};

/*
 * Count @d in @t. @now is CLOCK_MONOTONIC ns.
 *
 * A detection that agrees with a record is counted there, always. Another
 * one opens a record of its own while the table has fewer than
 * PAIR_TABLE_MAX of these and while index memory and the file have room.
 * Else it goes to the rest: the one record with its threads, sharing and by
 * and all else 0. There are at most PAIR_TABLE_RESTS_MAX rests, which is 512
 * publishers; what finds no rest either is not tallied.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap.
 * Returns 0, or -ENOSPC if nothing could be tallied.
 */
int pair_table_add(struct store *s, struct pair_table *t,
		   const struct detection *d, uint64_t now,
		   uint64_t map_generation);
/* Give the index back; the records stay. Context: any. */
void pair_table_release(struct pair_table *t);

/* The same by cores, at most CORE_TABLE_MAX pairs of them a thread. */
struct core_table {
	struct store_writer writer;
	struct store_index index;
};

enum {
	CORE_TABLE_MAX = 4096
};

/* Returns 0, or -ENOSPC if nothing could be tallied. */
int core_table_add(struct store *s, struct core_table *t,
		   const struct detection *d);
void core_table_release(struct core_table *t);

/*
 * Write @bytes of @value, at most those of cdp_transfer's, as a record of its
 * own. What finds no room is counted as LOSS_STORE_FULL. Context: the writer's.
 */
void store_transfer(struct store *s, struct store_writer *w,
		    enum cdp_transfer_kind kind, uint32_t a, uint32_t b,
		    const void *value, size_t bytes);

/* One-writer counters in the file: no read-modify-write on the bus. */
static inline void store_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter,
			 __atomic_load_n(counter, __ATOMIC_RELAXED) + n,
			 __ATOMIC_RELAXED);
}

static inline void store_set(uint64_t *counter, uint64_t value)
{
	__atomic_store_n(counter, value, __ATOMIC_RELAXED);
}

/*
 * The process was alive at @now, CLOCK_MONOTONIC ns: what a killed process
 * leaves as its end. Seldom a store, since all threads share the line.
 */
static inline void store_touch(struct store *s, uint64_t now)
{
	uint64_t *last = &s->header->last_mono;

	if (now > __atomic_load_n(last, __ATOMIC_RELAXED) + STORE_TOUCH_NS)
		store_set(last, now);
}

#endif
