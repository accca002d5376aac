/* SPDX-License-Identifier: MIT */
/*
 * store - the writing side of a .cdp file, through a shared memory mapping
 *
 * Committed records survive SIGKILL, because the kernel owns the pages. Disk
 * blocks are reserved (fallocate) before a page is handed out, so a full disk
 * gives an error code and no SIGBUS in the profiled program, if the file system
 * writes in place; btrfs is told to (docs/format.md, "Disk full"). RLIMIT_FSIZE
 * is checked first, so there is no SIGXFSZ either.
 *
 * Any threads may call store_page at once, handlers included; it is wait-free
 * except for the system call that grows the file. A writer belongs to one
 * thread. Readers of the file are other processes and rely only on the commit
 * counters.
 *
 * While the mapping exists, in this process or in one that inherited it, the
 * file carries a shared flock, so outdir_create does not move its directory.
 */
#ifndef COMDET_STORE_STORE_H
#define COMDET_STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cdp.h"
#include "src/base/shared_word.h"

enum {
	STORE_FIRST_BYTES = 64 * 1024,
	STORE_GROW_BYTES = 256 * 1024, /* the file grows by at most this at a
					  time */
	STORE_MAX_BYTES_DEFAULT = 64 * 1024 * 1024,
	STORE_TOUCH_NS = 10 * 1000 * 1000,
};

struct store {
	struct cdp_header *header;
	char *map;                  /* max_bytes of address space */
	uint64_t max_bytes;         /* length of the mapping */
	_Atomic uint64_t allocated; /* bytes backed by disk blocks */
	bool kept;         /* forked children do not inherit the mapping */
	int fd;            /* high, close-on-exec */
	uint64_t dev, ino; /* of fd: an application may have closed it */
	uint64_t secret;   /* of the process, for store_index */
};

/*
 * Move @fd near the soft limit, where applications seldom close descriptors or
 * expect numbers, and never to a standard stream. Returns the new descriptor,
 * or @fd if that fails. Context: set-up.
 */
int store_move_high(int fd);

/*
 * Create @name in the directory @dirfd (mode 0600, exclusively, following no
 * symbolic link) and map it. @max_bytes bounds file and mapping; it is cut to
 * whole pages, and halved while address space is short. In the header only
 * magic, version, sizes, section table and state CDP_RUNNING are set; the
 * caller fills in the rest.
 *
 * Context: set-up. Returns 0 or -errno (-ENOSPC, -EFBIG, -ENOMEM, -EEXIST,
 * -EINVAL for a name with a slash or a @max_bytes below two pages or above
 * CDP_BYTES_MAX), and then nothing is left behind.
 */
int store_create(struct store *s, int dirfd, const char *name,
		 uint64_t max_bytes);

/*
 * Unmap and close; the file stays. A forked child calls it too: the file does
 * not change. The descriptor is closed only if it is still our file. Context:
 * set-up, while no other thread uses @s.
 */
void store_release(struct store *s);

/*
 * In a forked child: unmap the parent's file, unless it was kept from children.
 * The descriptor, which holds the lock on it, stays open until store_release.
 * Context: set-up.
 */
void store_after_fork(struct store *s);

/*
 * Hand out a new page for @section.
 * Context: any, handler included; growing the file is a system call.
 * Returns the page, or NULL if max_bytes, RLIMIT_FSIZE or the disk is
 * exhausted, or if the application has closed our descriptor.
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
 * Hand out the next record, zeroed and not yet committed. Fill it in, then call
 * store_commit, which publishes it to readers with release order. Commit each
 * record before asking for the next: otherwise both are published together, or
 * the earlier one is lost where a page ends.
 * Returns NULL when the store is full. Context: the writer's thread.
 */
void *store_record(struct store *s, struct store_writer *w);
void store_commit(struct store_writer *w);

/*
 * Write @bytes of @value, at most sizeof(struct cdp_transfer.value), as a
 * record. If there is no room, count LOSS_STORE_FULL. Context: the writer's
 * thread.
 */
void store_transfer(struct store *s, struct store_writer *w,
		    enum cdp_transfer_kind kind, uint32_t a, uint32_t b,
		    const void *value, size_t bytes);

/* A counter in the file with one writer: no locked instruction. */
static inline void store_add(uint64_t *counter, uint64_t n)
{
	shared_store(counter, shared_load(counter) + n);
}

static inline void store_set(uint64_t *counter, uint64_t value)
{
	shared_store(counter, value);
}

/* Count @n of @cause for the process, where there is no row of a thread. */
static inline void store_lose(struct store *s, enum loss_cause cause,
			      uint64_t n)
{
	shared_add(&s->header->loss[cause], n);
}

/*
 * Note that the process was alive at @now, CLOCK_MONOTONIC ns. For a killed
 * process this is the end. Stores only now and then: all threads share the
 * line.
 */
static inline void store_touch(struct store *s, uint64_t now)
{
	uint64_t *last = &s->header->last_mono;

	if (now > shared_load(last) + STORE_TOUCH_NS)
		shared_store(last, now);
}

#endif
