/* SPDX-License-Identifier: MIT */
/*
 * roll - the directories that the daemon writes, one after the other
 *
 * Below one directory of mode 0700, each has its time as its name
 * (20261122-221500.123, UTC), and is an ordinary profile. A new one begins when
 * the last has grown too large or too old. The oldest are removed; nothing but
 * profiles with such names ever is.
 */
#ifndef COMDET_ANALYSIS_DAEMON_ROLL_H
#define COMDET_ANALYSIS_DAEMON_ROLL_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/store/outdir.h"

struct roll {
	const char *top;
	uint64_t bytes;  /* of one directory, at most this and a slice */
	uint64_t age;    /* ns */
	long keep;       /* directories, the current one included */
	int fd;          /* the current one, -1: none */
	uint64_t began;  /* ns */
	uint32_t slices; /* that were written to it */
	char path[PATH_MAX], run_id[OUTDIR_RUN_ID_BYTES];
};

/* Make @top if it is missing; dies if that is impossible. */
void roll_init(struct roll *r, const char *top);

/* Go on in the current directory, or in a new one if it is time, or @anew. */
void roll_next(struct roll *r, uint64_t now, bool anew);

/* True if @name is one that we give to directories. */
bool roll_is_name(const char *name);

/* The newest directory below @top into @path (PATH_MAX bytes), or false. */
bool roll_newest(const char *top, char *path);

/* Remove all directories, and the one above them if it is empty then. */
void roll_remove(struct roll *r);

void roll_release(struct roll *r);

#endif
