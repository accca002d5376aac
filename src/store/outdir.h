/* SPDX-License-Identifier: MIT */
/*
 * outdir - the directory that a run writes to
 *
 * A directory NAME with our marker file ".comdet" belongs to an earlier run. It
 * is moved to NAME.old, replacing one that has a marker. Any other existing
 * NAME is left alone, and NAME.1, NAME.2, ... is used. Mode 0700, marker 0600,
 * no symbolic link followed. NAME.1, ... is also used in these cases:
 *
 * - the run of NAME or NAME.old still goes on: the directory or one of its .cdp
 *   files carries a flock;
 * - NAME.old has no marker, or holds anything but a marker and regular files
 *   named *.cdp, *.jitmap, *.jitdump, *.trace, *.profile, *.control and
 *   *.cost.
 *
 * The directory gets its name only when it has its marker. A crash before that
 * leaves a ".comdet-XXXXXXXXXXXXXXXX" beside it, which may be deleted.
 */
#ifndef COMDET_STORE_OUTDIR_H
#define COMDET_STORE_OUTDIR_H

#include <stddef.h>
#include <stdint.h>

#define OUTDIR_MARKER ".comdet"
/* What JIT compilers said of the process of a .cdp file, instead of ".cdp". */
#define OUTDIR_JIT_MAP  ".jitmap"
#define OUTDIR_JIT_DUMP ".jitdump"
/* The trace of the process, likewise. */
#define OUTDIR_TRACE ".trace"
/* What record -m profile makes of it. */
#define OUTDIR_PROFILE ".profile"
/* Whether samples are wanted, while record --control runs (control_page.h). */
#define OUTDIR_CONTROL ".control"
/* What sharing a line costs on the machine (analysis/profile/sharing_cost.h).
 */
#define OUTDIR_COST ".cost"

enum {
	OUTDIR_RUN_ID_BYTES = 40
};

/*
 * Make the directory for run @run_id (1 to 39 printable characters without
 * blanks) under the name @wanted or its alternative. The parent must exist and
 * may be reached through symbolic links; slashes at the end are ignored. Two
 * runs that start at once get different directories.
 *
 * On success returns a directory descriptor (close-on-exec), with the absolute
 * path in @path (@size bytes). It carries a shared flock: while it, or a store
 * made in it, is open, no later run moves the directory.
 *
 * Otherwise returns -errno and leaves nothing behind: -ENOENT without a parent,
 * -EINVAL if @wanted ends in "." or ".." or is "/", -EACCES, -EROFS, -ENOSPC,
 * -EFBIG (RLIMIT_FSIZE), -ENAMETOOLONG, -EEXIST if a thousand names are taken.
 * Context: set-up; no allocation.
 */
int outdir_create(const char *wanted, const char *run_id, char *path,
		  size_t size);

/*
 * Open an existing directory; @path may be a symbolic link. @run_id
 * (OUTDIR_RUN_ID_BYTES bytes, or NULL) receives the run id of its marker.
 * Returns a directory descriptor (close-on-exec) without a flock, or -errno:
 * -ENOENT, -ENOTDIR, -EBADMSG if there is no marker.
 */
int outdir_open(const char *path, char *run_id);

#endif
