/* SPDX-License-Identifier: MIT */
/*
 * outdir_internal - shared by the files of outdir
 *
 * outdir.c uses outdir_old.c, and both use outdir_marker.c.
 */
#ifndef COMDET_STORE_OUTDIR_INTERNAL_H
#define COMDET_STORE_OUTDIR_INTERNAL_H

#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>

#include "src/base/rawcall.h"

enum {
	OUTDIR_TEMP_BYTES = 32
};

static inline long outdir_open_dir(int dirfd, const char *name, int more)
{
	return rawcall4(SYS_openat, dirfd, name,
			O_RDONLY | O_DIRECTORY | O_CLOEXEC | more, 0);
}

static inline void outdir_close(int fd)
{
	rawcall1(SYS_close, fd);
}

/* Rename within @dirfd; -EEXIST if @to exists. */
long outdir_rename_new(int dirfd, const char *from, const char *to);

/* Write a random ".comdet-XXXXXXXXXXXXXXXX" to @name, OUTDIR_TEMP_BYTES. */
void outdir_temp_name(char *name);

/* True if @id of @len bytes can be a run's id. */
bool outdir_run_id_valid(const char *id, size_t len);

/* Write our marker with @run_id into @dir. Returns 0 or -errno. */
int outdir_write_marker(int dir, const char *run_id);

/* Returns 0 if @dir has our marker, else -EBADMSG or -errno. */
int outdir_read_marker(int dir, char *run_id);

/*
 * Move the earlier run @name to @old, replacing an earlier run there. Returns
 * 0; -ENOENT or -EAGAIN if another run has changed @name meanwhile; any other
 * -errno if one of the two must be left alone.
 */
long outdir_move_aside(int parent, const char *name, const char *old);

#endif
