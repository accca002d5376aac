/* SPDX-License-Identifier: MIT */
/*
 * cdp_read - the reading side of a .cdp file, which trusts nothing in it
 *
 * The file may be truncated, damaged, written by an attacker, or growing
 * while we read. It is read with pread and never mapped, so a file that
 * shrinks meanwhile is an error and not a SIGBUS. Every length, count and
 * string is checked; records are handed out as copies. Strings may hold any
 * bytes: who prints them to a terminal filters them.
 */
#ifndef COMDET_STORE_CDP_READ_H
#define COMDET_STORE_CDP_READ_H

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
 * Open @name under @dirfd (AT_FDCWD and a path will do). Does not wait for
 * the other end of a FIFO and does not follow a symbolic link at the end of
 * the path (-ELOOP).
 *
 * Returns 0, -errno of the system (-EISDIR for a directory), or: -EBADMSG not
 * a .cdp file, -EPROTO another version, -EMSGSIZE cut short (the process may
 * have been killed before it began, or the file truncated), -ENODATA damaged;
 * cdp_strerror has the words. After an error cdp_close does nothing.
 *
 * A process killed in set-up leaves fields at zero; line_bytes 0 reads as 64,
 * all else as it is.
 */
int cdp_open(struct cdp_reader *r, int dirfd, const char *name);
void cdp_close(struct cdp_reader *r);

/* What @error, 0 or negative, means; the end of "NAME: ...". Any thread. */
const char *cdp_strerror(int error);

/*
 * Call @each for every committed record of @section, with a copy of it whose
 * strings end and whose enumerations are in range. What fails that is skipped
 * and added to *@bad, which may be NULL: one for a record, one for a page that
 * cannot be. Thread rows that wait for their next use are skipped in silence.
 *
 * Stops at a non-zero return of @each and returns it; 0 at the end; -errno;
 * -EMSGSIZE if the file has become shorter than it was at opening.
 */
int cdp_each(struct cdp_reader *r, enum cdp_section section,
	     int (*each)(void *ctx, const void *record), void *ctx,
	     uint64_t *bad);

#endif
