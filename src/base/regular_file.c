/* SPDX-License-Identifier: MIT */
/*
 * regular_file - open a path that may name anything
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "regular_file.h"
#include "text.h"

/* File systems whose files are made by the kernel when they are read. */
static bool is_made_up(int fd)
{
	struct statfs fs;

	if (fstatfs(fd, &fs))
		return false;
	switch ((unsigned long)fs.f_type & 0xffffffff) {
	case PROC_SUPER_MAGIC:
	case SYSFS_MAGIC:
	case DEBUGFS_MAGIC:
	case TRACEFS_MAGIC:
	case SECURITYFS_MAGIC:
		return true;
	}
	return false;
}

/* A descriptor that says what @path is, and opens nothing; or -errno. */
static int look_at(const char *path, struct stat *st)
{
	int fd = open(path, O_PATH | O_CLOEXEC), err;

	if (fd < 0)
		return -errno;
	if (fstat(fd, st))
		err = -errno;
	else
		err = S_ISREG(st->st_mode) && !is_made_up(fd) ? 0
							      : -EMEDIUMTYPE;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* Without /proc there is only the path, which may name another file by now. */
static int open_again(const char *path, const struct stat *seen)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && st.st_dev == seen->st_dev &&
	    st.st_ino == seen->st_ino)
		return fd;
	close(fd);
	return -EMEDIUMTYPE;
}

int regular_file_open(const char *path)
{
	struct stat st;
	char same[40];
	struct text t;
	int at = look_at(path, &st), fd;

	if (at < 0)
		return at;
	text_begin(&t, same, sizeof(same));
	text_put(&t, "/proc/self/fd/");
	text_number(&t, at);
	fd = open(same, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		fd = errno == ENOENT ? open_again(path, &st) : -errno;
	close(at);
	return fd;
}

const char *regular_file_error(int error)
{
	const char *text;

	if (error == -EMEDIUMTYPE)
		return "a directory, pipe, device or file of the kernel, not a "
		       "regular file";
	text = strerrordesc_np(-error);
	return text ? text : "unknown error";
}

int regular_file_or_none(const char *path)
{
	struct stat st;
	int fd = look_at(path, &st);

	if (fd >= 0)
		close(fd);
	return fd != -EMEDIUMTYPE;
}
