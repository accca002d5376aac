/* SPDX-License-Identifier: MIT */
/*
 * outdir_old - move or remove the directory of an earlier run
 *
 * No directory is changed by its name alone. It is opened without following a
 * link, examined through the descriptor, and locked exclusively. Only the
 * holder of that lock may move it, so no other run of ours changes what the
 * name stands for. If another program swaps the directory in between, we notice
 * after the move, by device and inode, and move it back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "outdir_internal.h"
#include "outdir.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	TRIES = 16, /* tries to empty a directory */
};

struct kernel_dirent {
	uint64_t ino;
	int64_t off;
	unsigned short reclen;
	unsigned char type;
	char name[];
};

static bool same_file(int fd, int dirfd, const char *name)
{
	struct stat a, b;

	return rawcall2(SYS_fstat, fd, &a) == 0 &&
	       rawcall4(SYS_newfstatat, dirfd, name, &b, AT_SYMLINK_NOFOLLOW) ==
		       0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Called for each entry; a result other than 0 ends the walk. */
typedef long (*entry_fn)(int dir, const char *name);

static long each_entry(int dir, entry_fn each)
{
	_Alignas(struct kernel_dirent) char buf[4096];
	long n;

	n = rawcall3(SYS_lseek, dir, 0, SEEK_SET);
	if (n < 0)
		return n;
	while ((n = rawcall3(SYS_getdents64, dir, buf, sizeof(buf))) > 0) {
		for (long at = 0; at < n;) {
			struct kernel_dirent *e = (void *)(buf + at);
			long err;

			at += e->reclen;
			if (!strcmp(e->name, ".") || !strcmp(e->name, ".."))
				continue;
			err = each(dir, e->name);
			if (err)
				return err;
		}
	}
	return n;
}

static bool is_marker(const char *name)
{
	return !strcmp(name, OUTDIR_MARKER);
}

static bool ends_in(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

static bool is_cdp(const char *name)
{
	return ends_in(name, ".cdp");
}

/* A file of a run: a profile, or what JIT compilers said beside it. */
static bool is_of_run(const char *name)
{
	return is_cdp(name) || ends_in(name, OUTDIR_JIT_MAP) ||
	       ends_in(name, OUTDIR_JIT_DUMP) || ends_in(name, OUTDIR_TRACE) ||
	       ends_in(name, OUTDIR_PROFILE) || ends_in(name, OUTDIR_COST) ||
	       ends_in(name, OUTDIR_CONTROL);
}

static bool is_busy(int fd)
{
	/* Without support for flock no directory counts as busy. */
	return rawcall2(SYS_flock, fd, LOCK_EX | LOCK_NB) == -EWOULDBLOCK;
}

static long refuse_busy(int dir, const char *name)
{
	long fd, err = 0;

	if (!is_cdp(name))
		return 0;
	fd = rawcall4(SYS_openat, dir, name,
		      O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0);
	if (fd < 0)
		return 0;
	if (is_busy(fd))
		err = -EBUSY;
	outdir_close(fd);
	return err;
}

static long refuse_foreign(int dir, const char *name)
{
	struct stat st;
	long err;

	if (!is_of_run(name) && !is_marker(name))
		return -EEXIST;
	err = rawcall4(SYS_newfstatat, dir, name, &st, AT_SYMLINK_NOFOLLOW);
	if (err)
		return err;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

static long remove_of_run(int dir, const char *name)
{
	return is_of_run(name) ? rawcall3(SYS_unlinkat, dir, name, 0) : 0;
}

/*
 * Open @name and lock it exclusively, if it is the directory of an earlier run
 * that is not in use. Else returns -errno.
 */
static long claim(int parent, const char *name)
{
	long fd = outdir_open_dir(parent, name, O_NOFOLLOW), err;

	if (fd < 0)
		return fd;
	err = outdir_read_marker(fd, NULL);
	if (!err && is_busy(fd))
		err = -EBUSY;
	if (!err)
		err = each_entry(fd, refuse_busy);
	/* Another run may have moved it before we had the lock. */
	if (!err && !same_file(fd, parent, name))
		err = -EAGAIN;
	if (!err)
		return fd;
	outdir_close(fd);
	return err;
}

/*
 * Move the directory @fd from @from to @to. If @from named another directory,
 * it is moved back.
 */
static long move(int parent, const char *from, const char *to, int fd)
{
	struct stat st;
	long err = outdir_rename_new(parent, from, to);

	/*
	 * A kernel that cannot refuse to replace still replaces only an empty
	 * directory.
	 */
	if (err == -EINVAL || err == -ENOSYS) {
		err = rawcall4(SYS_newfstatat, parent, to, &st,
			       AT_SYMLINK_NOFOLLOW);
		if (!err)
			return -EEXIST;
		if (err == -ENOENT)
			err = rawcall4(SYS_renameat, parent, from, parent, to);
	}
	if (!err && !same_file(fd, parent, to)) {
		outdir_rename_new(parent, to, from);
		err = -EAGAIN;
	}
	return err;
}

/*
 * Remove the earlier run @name. It gets a temporary name first, so that a crash
 * leaves no half-emptied run under that name.
 */
static long remove_run(int parent, const char *name)
{
	char temp[OUTDIR_TEMP_BYTES];
	long fd = claim(parent, name), err;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	err = each_entry(fd, refuse_foreign);
	if (err)
		goto close_dir;
	outdir_temp_name(temp);
	err = move(parent, name, temp, fd);
	if (err)
		goto close_dir;
	/* A walk may miss entries that move within the directory. */
	for (int i = 0; i < TRIES; i++) {
		err = each_entry(fd, remove_of_run);
		if (err)
			break;
		rawcall3(SYS_unlinkat, fd, OUTDIR_MARKER, 0);
		err = rawcall3(SYS_unlinkat, parent, temp, AT_REMOVEDIR);
		if (err != -ENOTEMPTY)
			break;
	}
	if (err == -ENOTEMPTY) /* another program added an entry */
		outdir_rename_new(parent, temp, name);
close_dir:
	outdir_close(fd);
	return err;
}

long outdir_move_aside(int parent, const char *name, const char *old)
{
	long fd = claim(parent, name), err;

	if (fd < 0)
		return fd;
	err = remove_run(parent, old);
	if (!err)
		err = move(parent, name, old, fd);
	outdir_close(fd);
	return err;
}
