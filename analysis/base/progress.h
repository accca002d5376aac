/* SPDX-License-Identifier: MIT */
/*
 * progress - a line on a terminal that says how long something still takes
 *
 * It appears after PROGRESS_AFTER_MS, is written anew twice a second, and is
 * gone at the end.
 */
#ifndef COMDET_ANALYSIS_BASE_PROGRESS_H
#define COMDET_ANALYSIS_BASE_PROGRESS_H

#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum {
	PROGRESS_AFTER_MS = 2000,
	PROGRESS_EVERY_MS = 500,
	PROGRESS_STEP = 1 << 16, /* add so much at a time */
};

struct progress {
	FILE *to; /* NULL: nobody looks */
	const char *what;
	uint64_t all;   /* 0: nobody knows */
	uint64_t parts; /* each unit of work counts so often */
	uint64_t begin; /* ns */
	atomic_uint_fast64_t done, next;
	atomic_bool shown;
};

/*
 * The line begins with @what, @all is what there is to do. It goes to @to if
 * that is a terminal.
 */
void progress_begin(struct progress *p, FILE *to, const char *what,
		    uint64_t all);

/* The same for what nobody knows the end of; it is done @parts times. */
void progress_count(struct progress *p, FILE *to, const char *what,
		    uint64_t parts);

/* @more of it is done. Several threads may call this. */
void progress_add(struct progress *p, uint64_t more);

/* The same at @now, ns of any clock, for a line that begins at 0. */
void progress_add_at(struct progress *p, uint64_t more, uint64_t now);
void progress_end(struct progress *p);

#endif
