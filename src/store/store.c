/* SPDX-License-Identifier: MIT */
/*
 * store - the writing side of a .cdp file
 *
 * The file is mapped once, at the size to which it may grow; only the part
 *below its end may be touched. A page is handed out in four steps:
 *
 *   1  pages += 1		the number is now this thread's alone
 *   2  its bytes are backed by disk blocks, the file ends behind them
 *   3  header.bytes >= its end	(A)
 *   4  page.section = S	(B)
 *
 * A record is then filled in with plain stores, and page.committed is stored
 * with release order (C). SIGKILL stops a thread between two instructions. The
 * pages belong to the kernel, so all earlier stores survive, and a reader finds
 * a prefix of each thread's stores:
 *
 *   before 2  a page beyond the end of the file, which the reader's bound
 *	       (pages, cut to the length of the file) hides
 *   before 4  a page of zeros: section CDP_FREE, skipped
 *   before C  a page with the records committed so far; what follows is cut
 *   after C   the record, whole
 *
 * (A) comes after the file has grown, so a file shorter than header.bytes was
 * truncated by another program. A reader that runs at the same time loads
 * section, then committed, then the records; x86-64 keeps the order of loads.
 * (B) and (C) are release stores, so the compiler keeps the order of stores.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "store.h"
#include "src/base/rawcall.h"
#include "src/base/rng.h"
#include "src/base/signal_safe.h"

enum {
	FD_LIMIT =
		1024, /* a higher number makes every fork copy a large table */
	FD_BELOW_LIMIT = 64,
	FD_BELOW_LITTLE = 4,         /* with a low limit, which leaves us few */
	MAP_BYTES_MIN = 1024 * 1024, /* the mapping is halved to no less */
	RETRIES = 8,                 /* of an interrupted system call */
};

static uint64_t soft_limit(int resource)
{
	struct rlimit lim;

	if (rawcall4(SYS_prlimit64, 0, resource, 0, &lim) &&
	    rawcall2(SYS_getrlimit, resource, &lim))
		return 0;
	return lim.rlim_cur;
}

/* The file has blocks up to @end, and says so. */
static void extend(struct store *s, uint64_t end)
{
	uint64_t *bytes = &s->header->bytes, old;

	/* (A) The file was that long before. */
	for (old = shared_load(bytes); old < end;)
		if (shared_swap_release(bytes, &old, end))
			break;
}

static void raise_allocated(struct store *s, uint64_t end)
{
	uint64_t old =
		atomic_load_explicit(&s->allocated, memory_order_relaxed);

	while (old < end && !atomic_compare_exchange_weak_explicit(
				    &s->allocated, &old, end,
				    memory_order_release, memory_order_relaxed))
		;
}

/*
 * True if the descriptor is still our file. Another thread may close it and
 * open a file of its own before we use it, since the kernel cannot test and use
 * a descriptor in one step. The window is one system call, and only a program
 * that closes descriptors which it did not open can hit it.
 */
static bool fd_is_ours(const struct store *s)
{
	struct stat st;

	return s->fd >= 0 && rawcall2(SYS_fstat, s->fd, &st) == 0 &&
	       st.st_dev == s->dev && st.st_ino == s->ino;
}

static long allocate(int fd, uint64_t from, uint64_t to)
{
	long err;
	int n = 0;

	do
		err = rawcall4(SYS_fallocate, fd, 0, from, to - from);
	while (err == -EINTR && ++n < RETRIES);
	return err;
}

/* True if the file system has no fallocate, or a sandbox refuses it. */
static bool no_allocate(long err)
{
	return err == -EOPNOTSUPP || err == -ENOSYS || err == -EPERM;
}

static long write_zeros(int fd, uint64_t from, uint64_t to)
{
	static const char zeros[CDP_PAGE_BYTES];
	int n = 0;

	while (from < to) {
		uint64_t len = to - from;
		long done;

		if (len > sizeof(zeros))
			len = sizeof(zeros);
		done = rawcall4(SYS_pwrite64, fd, zeros, len, from);
		if (done == -EINTR && ++n < RETRIES)
			continue;
		if (done <= 0)
			return done ? done : -ENOSPC;
		from += done;
	}
	return 0;
}

/*
 * Give page number @n, which is the caller's, disk blocks.
 *
 * Threads that grow the file at once reserve overlapping ranges. That is safe
 * with fallocate, which does not change existing blocks, but not with writing
 * zeros. So without fallocate each thread writes only its own page.
 */
static long back_page(struct store *s, uint64_t n)
{
	uint64_t have =
		atomic_load_explicit(&s->allocated, memory_order_acquire);
	uint64_t from = n * CDP_PAGE_BYTES, end = from + CDP_PAGE_BYTES;
	uint64_t limit, to;
	long err;

	if (end <= have)
		return 0;
	if (end > s->max_bytes)
		return -EFBIG;
	if (!fd_is_ours(s))
		return -EBADF;
	limit = soft_limit(RLIMIT_FSIZE);
	if (end > limit)
		return -EFBIG;
	if (limit > s->max_bytes)
		limit = s->max_bytes;
	to = have + (have < STORE_GROW_BYTES ? have : STORE_GROW_BYTES);
	if (to < end)
		to = end;
	if (to > limit)
		to = limit / CDP_PAGE_BYTES * CDP_PAGE_BYTES;

	err = allocate(s->fd, have, to);
	if (err && to > end && !no_allocate(err)) {
		to = end;
		err = allocate(s->fd, have, to);
	}
	if (!err) {
		raise_allocated(s, to);
		extend(s, to);
	} else if (no_allocate(err)) {
		err = write_zeros(s->fd, from, end);
		if (!err)
			extend(s, end);
	}
	return err;
}

struct cdp_page *store_page(struct store *s, enum cdp_section section)
{
	uint64_t *pages = &s->header->pages, n, after;
	struct cdp_page *page;

	if (section <= CDP_FREE || section >= CDP_SECTIONS)
		return NULL;
	/* A full store does not change. */
	if (shared_load(pages) >= s->max_bytes / CDP_PAGE_BYTES)
		return NULL;
	n = shared_add(pages, 1);
	if (n == 0 || n >= s->max_bytes / CDP_PAGE_BYTES || back_page(s, n)) {
		/*
		 * Give the page back, unless another thread has taken the next
		 * one: then it stays a page of zeros, or beyond the file.
		 */
		after = n + 1;
		shared_swap_release(pages, &after, n);
		return NULL;
	}
	page = (struct cdp_page *)(s->map + n * CDP_PAGE_BYTES);
	shared_store_release(&page->section, section); /* (B) */
	return page;
}

void *store_record(struct store *s, struct store_writer *w)
{
	uint32_t bytes = cdp_record_bytes(w->section);

	if (!w->page || w->used >= cdp_records_a_page(w->section)) {
		struct cdp_page *page = store_page(s, w->section);

		if (!page)
			return NULL;
		w->page = page;
		w->used = 0;
	}
	return (char *)w->page + CDP_PAGE_HEADER_BYTES + w->used++ * bytes;
}

void store_commit(struct store_writer *w)
{
	shared_store_release(&w->page->committed, w->used); /* (C) */
}

void store_transfer(struct store *s, struct store_writer *w,
		    enum cdp_transfer_kind kind, uint32_t a, uint32_t b,
		    const void *value, size_t bytes)
{
	struct cdp_transfer *t = store_record(s, w);

	if (!t) {
		store_lose(s, LOSS_STORE_FULL, 1);
		return;
	}
	t->kind = kind;
	t->a = a;
	t->b = b;
	memcpy(t->value, value, bytes);
	store_commit(w);
}

int store_move_high(int fd)
{
	uint64_t limit = soft_limit(RLIMIT_NOFILE);
	int from, high;

	if (limit > FD_LIMIT)
		limit = FD_LIMIT;
	from = limit > 2 * FD_BELOW_LIMIT ? limit - FD_BELOW_LIMIT
					  : limit - FD_BELOW_LITTLE;
	if (from < 0)
		from = 0;
	for (; from >= 3; from /= 2) {
		high = rawcall3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, from);
		if (high >= 0) {
			rawcall1(SYS_close, fd);
			return high;
		}
	}
	return fd;
}

static void fill_header(struct cdp_header *h, uint64_t bytes)
{
	static const char *const name[CDP_SECTIONS] = {
		[CDP_THREADS] = "threads",     [CDP_PAIRS] = "pairs",
		[CDP_MAPS] = "maps",           [CDP_CORES] = "cores",
		[CDP_TRANSFERS] = "transfers", [CDP_MEMORY] = "memory",
		[CDP_REUSE] = "reuse",         [CDP_PATHS] = "paths",
	};
	uint64_t magic;

	h->version = CDP_VERSION;
	h->header_bytes = CDP_HEADER_BYTES;
	h->page_bytes = CDP_PAGE_BYTES;
	h->sections = CDP_SECTIONS - 1;
	for (uint32_t i = 1; i < CDP_SECTIONS; i++) {
		struct cdp_section_entry *e = &h->section[i - 1];

		memcpy(e->name, name[i], strlen(name[i]));
		e->type = i;
		e->record_bytes = cdp_record_bytes(i);
	}
	h->pages = 1;
	h->bytes = bytes;
	h->state = CDP_RUNNING;
	/*
	 * Write it last: a reader takes a file without it for one that has no
	 * data.
	 */
	memcpy(&magic, CDP_MAGIC, sizeof(magic));
	shared_store_release((uint64_t *)(void *)h->magic, magic);
}

/*
 * btrfs writes a changed block to a new place, and a mapped page that finds
 * none raises SIGBUS, whatever was reserved. Let it write this file in place;
 * it takes the flag only while the file is empty.
 */
static void write_in_place(int fd)
{
	struct statfs fs;
	int flags;

	if (rawcall2(SYS_fstatfs, fd, &fs) || fs.f_type != BTRFS_SUPER_MAGIC ||
	    rawcall3(SYS_ioctl, fd, FS_IOC_GETFLAGS, &flags))
		return;
	flags |= FS_NOCOW_FL;
	rawcall3(SYS_ioctl, fd, FS_IOC_SETFLAGS, &flags);
}

/* Back the first bytes of the file; *@have receives how many. */
static long back_first(int fd, uint64_t max_bytes, uint64_t *have)
{
	uint64_t limit = soft_limit(RLIMIT_FSIZE);
	uint64_t to = STORE_FIRST_BYTES;
	long err;

	if (limit > max_bytes)
		limit = max_bytes;
	if (limit < CDP_PAGE_BYTES)
		return -EFBIG;
	if (to > limit)
		to = limit / CDP_PAGE_BYTES * CDP_PAGE_BYTES;
	err = allocate(fd, 0, to);
	if (err) {
		to = CDP_PAGE_BYTES;
		err = no_allocate(err) ? write_zeros(fd, 0, to)
				       : allocate(fd, 0, to);
	}
	*have = to;
	return err;
}

/* Random bytes from the kernel, without a system call or descriptor. */
static uint64_t secret_of_process(void)
{
	const char *drawn = (const char *)getauxval(AT_RANDOM);
	uint64_t x = 0;

	if (drawn)
		memcpy(&x, drawn, sizeof(x));
	return rng_splitmix(&x);
}

int store_create(struct store *s, int dirfd, const char *name,
		 uint64_t max_bytes)
{
	uint64_t have = 0;
	struct stat st;
	long fd, map, err;

	memset(s, 0, sizeof(*s));
	s->fd = -1;
	max_bytes -= max_bytes % CDP_PAGE_BYTES;
	if (max_bytes < 2 * CDP_PAGE_BYTES || max_bytes > CDP_BYTES_MAX ||
	    strchr(name, '/'))
		return -EINVAL;

	fd = rawcall4(SYS_openat, dirfd, name,
		      O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return fd;
	fd = store_move_high(fd);
	/* The umask may have removed bits that our reader needs. */
	err = rawcall2(SYS_fchmod, fd, 0600);
	if (!err)
		err = rawcall2(SYS_fstat, fd, &st);
	if (err)
		goto unlink_file;
	rawcall2(SYS_flock, fd, LOCK_SH | LOCK_NB); /* a courtesy: see outdir */
	write_in_place(fd);
	err = back_first(fd, max_bytes, &have);
	if (err)
		goto unlink_file;
	for (;;) {
		map = rawcall6(SYS_mmap, 0, max_bytes, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, 0);
		if (map != -ENOMEM || max_bytes / 2 < MAP_BYTES_MIN)
			break;
		max_bytes = max_bytes / 2 / CDP_PAGE_BYTES * CDP_PAGE_BYTES;
	}
	err = map;
	if (map < 0 && map > -CDP_PAGE_BYTES)
		goto unlink_file;

	s->map = (char *)map;
	s->header = (struct cdp_header *)map;
	s->max_bytes = max_bytes;
	s->allocated = have;
	s->fd = fd;
	s->dev = st.st_dev;
	s->ino = st.st_ino;
	s->secret = secret_of_process();
	fill_header(s->header, have);
	return 0;

unlink_file:
	rawcall3(SYS_unlinkat, dirfd, name, 0);
	rawcall1(SYS_close, fd);
	return err;
}

void store_after_fork(struct store *s)
{
	if (s->map && !s->kept)
		rawcall2(SYS_munmap, s->map, s->max_bytes);
	s->map = NULL;
	s->header = NULL;
}

void store_release(struct store *s)
{
	if (s->map)
		rawcall2(SYS_munmap, s->map, s->max_bytes);
	if (fd_is_ours(s))
		rawcall1(SYS_close, s->fd);
	memset(s, 0, sizeof(*s));
	s->fd = -1;
}
