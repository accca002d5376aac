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
 */
#ifndef COMDET_STORE_H
#define COMDET_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdp.h"

enum {
	STORE_GROW_BYTES = 256 * 1024,
	STORE_MAX_BYTES_DEFAULT = 256 * 1024 * 1024,
};

struct store {
	struct cdp_header *header;
	char *map;	    /* STORE max bytes of address space */
	uint64_t max_bytes; /* length of the mapping */
	uint64_t allocated; /* bytes backed by disk blocks; atomic */
	int fd;		    /* high, close-on-exec */
	uint64_t dev, ino;  /* of fd: an application may have closed it */
};

/*
 * Create @name in the directory @dirfd (mode 0600, exclusively, following no
 * symbolic link) and map it. @max_bytes bounds file and mapping. The header
 * is zeroed but for magic, version, sizes, section table and state
 * CDP_RUNNING; the caller fills in the rest.
 *
 * Context: set-up. Returns 0 or -errno (-ENOSPC, -EFBIG, -ENOMEM, -EEXIST...),
 * and then nothing is left behind.
 */
int store_create(struct store *s, int dirfd, const char *name,
		 uint64_t max_bytes);

/* Unmap and close. The file stays. Context: set-up. */
void store_release(struct store *s);

/*
 * Hand out a fresh page for @section.
 * Context: any, handler included; growing the file is a system call.
 * Returns the page, or NULL when max_bytes or the disk is exhausted.
 */
struct cdp_page *store_page(struct store *s, enum cdp_section section);

/*
 * A growing sequence of records of one section with one writer.
 * Zero-initialized with its section set, it is empty.
 */
struct store_writer {
	enum cdp_section section;
	struct cdp_page *page; /* the last one */
	uint32_t used;	       /* records handed out of it */
};

/*
 * The next record, zeroed and not yet committed; fill it in, then call
 * store_commit, which publishes it to readers with release order.
 * Returns NULL when the store is full. Context: the writer's thread.
 */
void *store_record(struct store *s, struct store_writer *w);
void store_commit(struct store_writer *w);

/*
 * Detections of one thread, aggregated by everything but their time: an
 * index in private memory over the thread's records in the file.
 */
struct pair_table {
	struct store_writer writer;
	struct cdp_pair **slot; /* open addressing; private memory */
	uint32_t slots, used;
	struct cdp_pair *rest;	/* where the table's limit was reached */
};

enum { PAIR_TABLE_MAX = 8192 };

/*
 * Count @d in @t. When PAIR_TABLE_MAX different pairs are in, or memory is
 * short, further ones are counted in a record that keeps threads and kind
 * alone (line, addresses 0). @now is CLOCK_MONOTONIC ns.
 *
 * Context: the thread's own handler. Index memory comes from raw mmap.
 * Returns 0, or -ENOSPC if nothing could be tallied.
 */
int pair_table_add(struct store *s, struct pair_table *t,
		   const struct detection *d, uint64_t now,
		   uint64_t map_generation);
void pair_table_release(struct pair_table *t);

/* The same by cores. One table a thread, few records. */
struct core_table {
	struct store_writer writer;
	struct cdp_core *record[64];
	uint32_t used;
};
int core_table_add(struct store *s, struct core_table *t,
		   const struct detection *d);

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

#endif
