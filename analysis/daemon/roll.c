/* SPDX-License-Identifier: MIT */
/*
 * roll - the directories that the daemon writes, one after the other
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "roll.h"
#include "analysis/base/util.h"
#include "analysis/record/output.h"

static const char shape[] = "dddddddd-dddddd.ddd";

bool roll_is_name(const char *name)
{
	if (strlen(name) != sizeof(shape) - 1)
		return false;
	for (size_t i = 0; shape[i]; i++)
		if (shape[i] == 'd' ? !isdigit((unsigned char)name[i])
				    : name[i] != shape[i])
			return false;
	return true;
}

static int only_ours(const struct dirent *e)
{
	return roll_is_name(e->d_name);
}

void roll_init(struct roll *r, const char *top)
{
	struct stat st;
	char *marker = xasprintf("%s/" OUTDIR_MARKER, top);

	memset(r, 0, sizeof(*r));
	r->top = top;
	r->fd = -1;
	if (mkdir(top, 0700) && errno != EEXIST)
		die("cannot make the directory %s: %s; choose another one "
		    "with -o",
		    safe_text(top), strerror(errno));
	if (stat(top, &st) || !S_ISDIR(st.st_mode))
		die("%s is not a directory; choose another one with -o",
		    safe_text(top));
	if (!access(marker, F_OK))
		die("%s is a profile; choose another directory with -o",
		    safe_text(top));
	free(marker);
}

/* Bytes on the disk. */
static uint64_t size_of(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	uint64_t bytes = 0;
	struct dirent *e;
	struct stat st;

	while (dir && (e = readdir(dir)))
		if (!fstatat(dirfd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) &&
		    S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_blocks * 512;
	if (dir)
		closedir(dir);
	return bytes;
}

static bool is_file_of_ours(const char *name)
{
	static const char *const ends[] = { ".cdp", OUTDIR_JIT_MAP,
					    OUTDIR_JIT_DUMP };
	size_t n = strlen(name);

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
		if (n > strlen(ends[i]) &&
		    !strcmp(name + n - strlen(ends[i]), ends[i]))
			return true;
	return false;
}

/* It goes only if it holds nothing but our files. */
static void remove_profile(const char *path)
{
	int dirfd = outdir_open(path, NULL), fd;
	struct dirent *e;
	DIR *dir;

	if (dirfd < 0)
		return;
	fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	while (dir && (e = readdir(dir)))
		if (is_file_of_ours(e->d_name))
			unlinkat(dirfd, e->d_name, 0);
	if (dir)
		closedir(dir);
	output_remove_if_empty(dirfd, path);
	close(dirfd);
}

static void remove_old(const struct roll *r)
{
	struct dirent **list;
	int n = scandir(r->top, &list, only_ours, alphasort);

	for (int i = 0; i < n; i++) {
		char *path = xasprintf("%s/%s", r->top, list[i]->d_name);

		if (i < n - r->keep)
			remove_profile(path);
		free(path);
		free(list[i]);
	}
	if (n >= 0)
		free(list);
}

bool roll_newest(const char *top, char *path)
{
	struct dirent **list;
	int n = scandir(top, &list, only_ours, alphasort);
	bool found = n > 0;

	if (found)
		snprintf(path, PATH_MAX, "%s/%s", top, list[n - 1]->d_name);
	for (int i = 0; i < n; i++)
		free(list[i]);
	if (n >= 0)
		free(list);
	return found;
}

static void begin(struct roll *r, uint64_t now)
{
	struct timespec ts;
	struct tm tm;
	char *name;

	clock_gettime(CLOCK_REALTIME, &ts);
	gmtime_r(&ts.tv_sec, &tm);
	name = xasprintf("%s/%04d%02d%02d-%02d%02d%02d.%03ld", r->top,
			 tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
			 tm.tm_hour, tm.tm_min, tm.tm_sec,
			 ts.tv_nsec / 1000000);
	r->fd = output_make(name, r->run_id, r->path);
	r->began = now;
	r->slices = 0;
	free(name);
	remove_old(r);
}

/* Nobody needs a directory without a profile. */
static void end(struct roll *r)
{
	if (r->fd < 0)
		return;
	output_remove_if_empty(r->fd, r->path);
	close(r->fd);
	r->fd = -1;
}

void roll_next(struct roll *r, uint64_t now, bool anew)
{
	if (r->fd >= 0 && !anew && now - r->began < r->age &&
	    size_of(r->fd) < r->bytes && !access(r->path, F_OK))
		return;
	end(r);
	begin(r, now);
}

void roll_remove(struct roll *r)
{
	end(r);
	r->keep = 0;
	remove_old(r);
	rmdir(r->top);
}

void roll_release(struct roll *r)
{
	end(r);
}
