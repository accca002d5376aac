/* SPDX-License-Identifier: MIT */
/*
 * outdir - the directory that a run writes to
 *
 * A directory that carries our marker file ".comdet" is an earlier run's and
 * is moved to NAME.old (which replaces one with a marker); any other existing
 * NAME is left alone and NAME.1, NAME.2, ... is used. Mode 0700, marker 0600,
 * no symbolic link followed. Left alone too, so that NAME.1, ... is used:
 *
 * - a NAME or a NAME.old whose run still goes on: its directory or one of its
 *   .cdp files carries a flock;
 * - a NAME.old without a marker, or with anything in it but a marker and
 *   regular files named *.cdp.
 *
 * The directory appears under its name complete with its marker. A crash
 * before that leaves a ".comdet-XXXXXXXXXXXXXXXX" beside it, which nobody
 * needs.
 */
#ifndef COMDET_STORE_OUTDIR_H
#define COMDET_STORE_OUTDIR_H

#include <stddef.h>
#include <stdint.h>

#define OUTDIR_MARKER ".comdet"

enum {
	OUTDIR_RUN_ID_BYTES = 40
};

/*
 * Make the directory for run @run_id (1 to 39 printable characters without
 * blanks), as @wanted says or its alternative. Its parent must exist and may
 * be reached through symbolic links; slashes at the end do not count.
 * Two runs that start at once get different directories.
 *
 * On success the absolute path is in @path (@size bytes), the return value a
 * directory descriptor (close-on-exec). It carries a shared flock: as long as
 * it, or a store made in it, is open, no later run moves the directory.
 *
 * Else -errno: -ENOENT without a parent, -EINVAL if @wanted ends in "." or
 * ".." or is "/", -EACCES, -EROFS, -ENOSPC, -EFBIG (RLIMIT_FSIZE),
 * -ENAMETOOLONG, -EEXIST when a thousand names are taken ...; then nothing is
 * left behind.
 * Context: set-up; no allocation.
 */
int outdir_create(const char *wanted, const char *run_id, char *path,
		  size_t size);

/*
 * Open an existing one, which the user may name by a symbolic link; -ENOENT,
 * or -ENOTDIR, -EBADMSG without a marker. @run_id (OUTDIR_RUN_ID_BYTES, may be
 * NULL) receives what the marker says. Returns a directory descriptor
 * (close-on-exec), which holds no flock.
 */
int outdir_open(const char *path, char *run_id);

#endif
