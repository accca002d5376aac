/* SPDX-License-Identifier: MIT */
/*
 * outdir - the directory that a run writes to
 *
 * A directory that carries our marker file ".comdet" is an earlier run's and
 * is moved to NAME.old (which replaces one with a marker); any other existing
 * NAME is left alone and NAME.1, NAME.2, ... is used. Mode 0700, marker 0600,
 * no symbolic link followed. A NAME.old without a marker is left alone too:
 * then NAME.1, ... is used.
 */
#ifndef COMDET_OUTDIR_H
#define COMDET_OUTDIR_H

#include <stddef.h>
#include <stdint.h>

#define OUTDIR_MARKER ".comdet"

/*
 * Make the directory for run @run_id, as @wanted says or its alternative.
 * Two runs that start at once get different directories.
 * On success the absolute path is in @path (@size bytes), the return value a
 * directory descriptor (close-on-exec). Else -errno: -EACCES, -EROFS,
 * -ENOSPC, -ENAMETOOLONG, -EEXIST when a thousand names are taken ...
 * Context: set-up; no allocation.
 */
int outdir_create(const char *wanted, const char *run_id, char *path,
		  size_t size);

/*
 * Open an existing one; -ENOENT, or -ENOTDIR, -EBADMSG without a marker.
 * @run_id (40 bytes, may be NULL) receives what the marker says.
 */
int outdir_open(const char *path, char *run_id);

#endif
