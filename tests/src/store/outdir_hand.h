/* SPDX-License-Identifier: MIT */
/*
 * outdir_hand - runs that make output directories in the sandbox
 *
 * Paths are relative to it: it is the working directory.
 */
#ifndef COMDET_TESTS_SRC_STORE_OUTDIR_HAND_H
#define COMDET_TESTS_SRC_STORE_OUTDIR_HAND_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

#include "tests/sandbox.h"
#include "src/store/outdir.h"
#include "src/store/store.h"

static char path[PATH_MAX];
static char run_id[OUTDIR_RUN_ID_BYTES];

static inline void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(chdir(sandbox), 0);
}

static inline int create(const char *wanted, const char *id)
{
	return outdir_create(wanted, id, path, sizeof(path));
}

/* A run that has ended: it made @wanted and a file in it. */
static inline void run(const char *wanted, const char *id)
{
	struct store s;
	int fd = create(wanted, id);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(store_create(&s, fd, "a.1.1.cdp", 8192), 0);
	store_release(&s);
	close(fd);
}

/* The run whose directory this is; "" if it carries no marker. */
static inline const char *owner(const char *dir)
{
	int fd = outdir_open(dir, run_id);

	if (fd < 0)
		return "";
	close(fd);
	return run_id;
}

static inline void make_file(const char *name)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY, 0600);

	ck_assert_int_ge(fd, 0);
	close(fd);
}

static inline bool there(const char *name)
{
	struct stat st;

	return lstat(name, &st) == 0;
}

/* Entries of @dir, of those that begin with @start. */
static inline int entries(const char *dir, const char *start)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	int n = 0;

	ck_assert_ptr_nonnull(d);
	while ((e = readdir(d)))
		n += strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		     !strncmp(e->d_name, start, strlen(start));
	closedir(d);
	return n;
}

#endif
