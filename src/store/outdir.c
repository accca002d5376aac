/* SPDX-License-Identifier: MIT */
/*
 * outdir - the directory that a run writes to
 *
 * It is completed under a temporary name and then renamed, with a rename that
 * does not replace. So a crash never leaves it without its marker, and only one
 * of two runs gets the name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "outdir.h"
#include "outdir_internal.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	NAMES_MAX = 1000, /* NAME, NAME.1 to NAME.999 */
	NAME_BYTES = 256,
	TRIES = 16, /* tries to find a random name, or to follow a name that
		       other runs change */
};

static void remove_new(int parent, const char *temp, int fd)
{
	rawcall3(SYS_unlinkat, fd, OUTDIR_MARKER, 0);
	rawcall3(SYS_unlinkat, parent, temp, AT_REMOVEDIR);
}

/* Make a directory with a marker under a temporary name; its descriptor. */
static long make_temp(int parent, char *temp, const char *run_id)
{
	long fd, err;
	int n = 0;

	do {
		outdir_temp_name(temp);
		err = rawcall3(SYS_mkdirat, parent, temp, 0700);
	} while (err == -EEXIST && ++n < TRIES);
	if (err)
		return err;
	fd = outdir_open_dir(parent, temp, O_NOFOLLOW);
	if (fd == -EACCES) { /* an odd umask */
		rawcall3(SYS_fchmodat, parent, temp, 0700);
		fd = outdir_open_dir(parent, temp, O_NOFOLLOW);
	}
	if (fd < 0) {
		rawcall3(SYS_unlinkat, parent, temp, AT_REMOVEDIR);
		return fd;
	}
	err = rawcall2(SYS_fchmod, fd, 0700);
	if (!err)
		err = outdir_write_marker(fd, run_id);
	if (err) {
		remove_new(parent, temp, fd);
		outdir_close(fd);
		return err;
	}
	rawcall2(SYS_flock, fd, LOCK_SH | LOCK_NB);
	return fd;
}

/* Give the complete directory its name; -EEXIST if that is taken. */
static long place(int parent, const char *temp, const char *name)
{
	long err = outdir_rename_new(parent, temp, name);

	if (err != -EINVAL && err != -ENOSYS)
		return err;
	/*
	 * The file system or kernel has no RENAME_NOREPLACE. Take the name with
	 * an empty directory, which rename replaces. A crash in between leaves
	 * it empty and without a marker.
	 */
	err = rawcall3(SYS_mkdirat, parent, name, 0700);
	if (err)
		return err;
	err = rawcall4(SYS_renameat, parent, temp, parent, name);
	if (err)
		rawcall3(SYS_unlinkat, parent, name, AT_REMOVEDIR);
	return err;
}

/* @name is NAME.@n in @numbered, NAME itself for 0. */
static const char *numbered_name(char *numbered, const char *name, int n)
{
	char digits[4];
	size_t len = strlen(name);
	int d = 0;

	memcpy(numbered, name, len);
	if (n)
		numbered[len++] = '.';
	for (; n; n /= 10)
		digits[d++] = '0' + n % 10;
	while (d)
		numbered[len++] = digits[--d];
	numbered[len] = 0;
	return numbered;
}

/* Find a name for @temp; -EEXIST if all are taken. */
static long place_somewhere(int parent, const char *temp, const char *name,
			    char *taken)
{
	char old[NAME_BYTES + 4];
	size_t len = strlen(name);
	long err;

	memcpy(old, name, len);
	memcpy(old + len, ".old", 5);
	for (int n = 0; n < TRIES; n++) {
		err = place(parent, temp, numbered_name(taken, name, 0));
		if (err != -EEXIST)
			return err;
		err = outdir_move_aside(parent, name, old);
		/* Another run has removed or replaced it: look again. */
		if (err && err != -ENOENT && err != -EAGAIN)
			break;
	}
	for (int n = 1; n < NAMES_MAX; n++) {
		err = place(parent, temp, numbered_name(taken, name, n));
		if (err != -EEXIST)
			return err;
	}
	return -EEXIST;
}

/*
 * Split @wanted: @path receives its absolute directory, with a slash at the
 * end,
 * @name the rest. Returns the length of the directory, or -errno. *@above is
 * the length of the working directory if @wanted is relative to it, else 0.
 */
static long split(const char *wanted, char *path, size_t size, char *name,
		  size_t *above)
{
	size_t end = strlen(wanted), start, len = 0;
	long n;

	while (end && wanted[end - 1] == '/')
		end--;
	for (start = end; start && wanted[start - 1] != '/';)
		start--;
	if (start == end)
		return *wanted ? -EINVAL : -ENOENT;
	if (end - start >= NAME_BYTES)
		return -ENAMETOOLONG;
	memcpy(name, wanted + start, end - start);
	name[end - start] = 0;
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return -EINVAL;

	if (wanted[0] != '/') {
		n = rawcall2(SYS_getcwd, path, size);
		if (n < 0)
			return n == -ERANGE ? -ENAMETOOLONG : n;
		if (path[0] != '/') /* "(unreachable)" */
			return -ENOENT;
		len = n - 1;
		if (path[len - 1] != '/')
			path[len++] = '/';
	}
	/* "/", what is before the name, the name and ".999" */
	if (len + end + sizeof(".999") > size)
		return -ENAMETOOLONG;
	memcpy(path + len, wanted, start);
	path[len + start] = 0;
	*above = len;
	return len + start;
}

int outdir_create(const char *wanted, const char *run_id, char *path,
		  size_t size)
{
	char name[NAME_BYTES], taken[NAME_BYTES + 4], temp[OUTDIR_TEMP_BYTES];
	long len, parent, fd, err;
	size_t above;

	if (!outdir_run_id_valid(run_id, strlen(run_id)))
		return -EINVAL;
	len = split(wanted, path, size, name, &above);
	if (len < 0)
		return len;
	/* A relative path, since "/" may not lead to the working directory. */
	parent =
		rawcall4(SYS_openat, AT_FDCWD, path[above] ? path + above : ".",
			 O_PATH | O_DIRECTORY | O_CLOEXEC, 0);
	if (parent < 0)
		return parent;
	fd = make_temp(parent, temp, run_id);
	err = fd;
	if (fd < 0)
		goto close_parent;
	err = place_somewhere(parent, temp, name, taken);
	if (err) {
		remove_new(parent, temp, fd);
		outdir_close(fd);
		goto close_parent;
	}
	memcpy(path + len, taken, strlen(taken) + 1);
	err = fd;
close_parent:
	outdir_close(parent);
	return err;
}

int outdir_open(const char *path, char *run_id)
{
	long fd = outdir_open_dir(AT_FDCWD, path, 0);
	int err;

	if (fd < 0)
		return fd;
	err = outdir_read_marker(fd, run_id);
	if (!err)
		return fd;
	outdir_close(fd);
	return err;
}
