/* SPDX-License-Identifier: MIT */
/*
 * cdp_read - the reading side of a .cdp file, which trusts nothing in it
 *
 * The file may be truncated, damaged, written by an attacker, or growing
 * while we read. It is mapped read-only for its size at opening; every length,
 * count and string is checked against that; records are copied out. A file
 * that shrinks under the mapping is read with pread instead of a mapping, so
 * it cannot kill the reader.
 */
#ifndef COMDET_CDP_READ_H
#define COMDET_CDP_READ_H

#include <stddef.h>
#include <stdint.h>

#include "cdp.h"

struct cdp_reader {
	struct cdp_header header; /* a checked copy: strings end, sizes fit */
	int fd;
	uint64_t bytes; /* of the file at opening */
	uint64_t pages; /* to look at, page 0 excluded */
};

/*
 * Open @name under @dirfd (AT_FDCWD and a path will do).
 * Returns 0, -errno of the system, or: -EBADMSG not a .cdp file, -EPROTO
 * another version, -ENODATA too short or damaged; cdp_strerror has the words.
 */
int cdp_open(struct cdp_reader *r, int dirfd, const char *name);
void cdp_close(struct cdp_reader *r);
const char *cdp_strerror(int error);

/*
 * Call @each for every committed record of @section, with a copy of it whose
 * strings end and whose enumerations are in range (records that fail that
 * are skipped and counted in *@bad, which may be NULL). Stops at a non-zero
 * return of @each and returns it; 0 at the end; -errno.
 */
int cdp_each(struct cdp_reader *r, enum cdp_section section,
	     int (*each)(void *ctx, const void *record), void *ctx,
	     uint64_t *bad);

#endif
