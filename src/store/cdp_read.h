/* SPDX-License-Identifier: MIT */
/*
 * cdp_read - the reading side of a .cdp file, which trusts nothing in it
 *
 * The file may be truncated, damaged, written by an attacker, or growing while
 * we read. It is read with pread and never mapped, so a file that shrinks
 * meanwhile gives an error and not a SIGBUS. Every length, count and string is
 * checked; records are handed out as copies. Strings may hold any bytes: filter
 * them before printing to a terminal.
 */
#ifndef COMDET_STORE_CDP_READ_H
#define COMDET_STORE_CDP_READ_H

#include <stddef.h>
#include <stdint.h>

#include "cdp.h"

struct cdp_reader {
	struct cdp_header header; /* a checked copy: strings end, sizes fit */
	int fd;
	uint64_t bytes;   /* of the file at opening */
	uint64_t pages;   /* to look at, page 0 excluded */
	uint8_t *section; /* of each page, if known; NULL: no room */
};

/*
 * Open @name under @dirfd (AT_FDCWD and a path will do). Does not wait for
 * the other end of a FIFO and does not follow a symbolic link at the end of
 * the path (-ELOOP).
 *
 * Returns 0, -errno of the system (-EISDIR for a directory), or: -EBADMSG not
 * a .cdp file, -EPROTO another version, -EMSGSIZE cut short (the process was
 * killed before it began to write, or the file was truncated), -ENODATA
 * damaged. cdp_strerror explains them. After an error cdp_close does nothing.
 *
 * A process that is killed in set-up leaves fields at zero. A line_bytes of 0
 * is read as 64.
 */
int cdp_open(struct cdp_reader *r, int dirfd, const char *name);
void cdp_close(struct cdp_reader *r);

/* Explain @error, 0 or negative, to print after "NAME: ". Context: any. */
const char *cdp_strerror(int error);

/*
 * Call @each for every committed record of @section, with a copy of it whose
 * strings end and whose enumerations are in range. Other records, and pages
 * that are invalid, are skipped and each adds 1 to *@bad, which may be NULL.
 * Unused thread rows are skipped without that.
 *
 * If @each returns other than 0, stops and returns that. Else returns 0,
 * -errno, or -EMSGSIZE if the file has become shorter since it was opened.
 */
int cdp_each(struct cdp_reader *r, enum cdp_section section,
	     int (*each)(void *ctx, const void *record), void *ctx,
	     uint64_t *bad);

#endif
