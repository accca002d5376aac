/* SPDX-License-Identifier: MIT */
/*
 * report - what the forms of the report share
 */
#ifndef COMDET_ANALYSIS_REPORT_REPORT_H
#define COMDET_ANALYSIS_REPORT_REPORT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"
#include "analysis/attribution/tally.h"

struct report_reuse;

struct report {
	const struct profile *profile;
	struct symbols *symbols;
	struct tally tally;
	const struct report_reuse *reuse; /* reuse.h */
	FILE *out;
	size_t top;         /* rows of a table at most */
	size_t thread_rows; /* the same of the table of threads */
	int64_t thread;     /* row asked for, -1: all */
	bool colour;
};

void report_text(struct report *r);
/* 0, or -1 when nothing could be made. */
int report_json(struct report *r);
struct json_t;
/* The object "exact", NULL if nothing was counted exactly. */
struct json_t *report_exact_json(struct report *r);
/* The object "memory", NULL if no source said where data came from. */
struct json_t *report_memory_json(struct report *r);
/* What takes the place of detections in "communication"; NULL: nothing. */
struct json_t *report_estimate_json(const struct profile *p);

/* Parts of the text. */
void report_answer(struct report *r);  /* answer.c */
void report_threads(struct report *r); /* text.c */
void report_matrix(struct report *r);  /* matrix.c */
void report_lines(struct report *r);   /* lines.c */
void report_sites(struct report *r);
void report_how(struct report *r); /* method.c */
void report_loss(struct report *r);
/* What was counted exactly, nothing if that was not asked for. */
void report_exact(struct report *r); /* exact.c */
/* Of all threads in one sentence, NULL if nothing was; to be freed. */
char *report_exact_answer(const struct report *r, uint64_t *transfers);
/* Where data came from, nothing if no source said so. */
void report_memory(struct report *r); /* memory.c */
/* What was estimated, nothing if nothing was. */
void report_estimate(struct report *r); /* estimate.c */
/*
 * The sentence that the answer begins with, NULL if nothing was estimated;
 * @weak if it rests on few samples. To be freed.
 */
char *report_estimate_answer(const struct report *r, bool *weak);
/*
 * The estimates by rows of threads, of @r->thread alone if that is asked for,
 * ordered as tally.cell is; NULL if there are none, or rows were merged. To be
 * freed.
 */
struct cell *report_estimate_cells(const struct report *r, size_t *n);
/* Did an estimator, and no map, measure @h? */
bool report_is_estimate(const struct cdp_header *h);
/* Estimated with debug registers, whose traps make it another program. */
bool report_has_traps(const struct report *r);

enum paint {
	PAINT_HEAD,
	PAINT_HOT,
	PAINT_WARM,
	PAINT_DIM,
	PAINT_OFF
};
/* The escape sequence, or "" without colour. */
const char *paint(const struct report *r, enum paint p);
void report_heading(struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* "foo.c:41", "foo.c" or "a.out+0x1139"; of safe_text's kind. */
const char *place_text(const struct place *p);

/* Seconds of running after which the answer would be sure; 0: it is. */
uint64_t report_seconds_needed(const struct profile *p);
uint64_t report_samples(const struct profile *p);
uint64_t report_threads_sampled(const struct profile *p);

#endif
