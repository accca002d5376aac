/* SPDX-License-Identifier: MIT */
/*
 * reuse - what the forms of the report say of reuse
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_H
#define COMDET_ANALYSIS_REPORT_REUSE_H

#include "report.h"
#include "analysis/locality/reuse_paths.h"
#include "analysis/locality/reuse_sites.h"

enum {
	REUSE_USES_MIN = 30,      /* to speak of misses without a warning */
	REUSE_RATIO_COLUMNS = 23, /* of a ratio and its limits */
};

struct report_reuse {
	struct reuse_streams streams;
	struct reuse_sites sites;
	struct reuse_paths paths;
	struct symbols *symbols;
	struct reuse_filter filter; /* pairings: of sites and pairs alone */
};

void report_reuse_init(struct report_reuse *r, const struct profile *p,
		       struct symbols *symbols,
		       const struct reuse_filter *filter);
void report_reuse_release(struct report_reuse *r);

/* The streams of one basis, and all sites; NULL if there are none. */
struct json_t *report_reuse_json(const struct report_reuse *r,
				 enum reuse_basis basis);
struct json_t *report_reuse_sites_json(const struct report_reuse *r);

/* The first words of the text on reuse, false if none was measured. */
bool report_reuse_answer(struct report *out, const struct report_reuse *r);

/* Is @s a stream of all that is asked for, and not of a part of it? */
bool report_reuse_shows(const struct report_reuse *r,
			const struct reuse_stream *s);
/* The first such stream of that kind, NULL if there is none. */
const struct reuse_stream *report_reuse_find(const struct report_reuse *r,
					     enum reuse_basis basis,
					     enum reuse_scope scope,
					     enum reuse_granularity g);

/* The one that says most, in lines if there are any, or NULL. */
const struct reuse_stream *report_reuse_main(const struct report_reuse *r,
					     enum reuse_basis basis);

/* The part of the text that is about reuse; nothing if none was measured. */
void report_reuse_text(struct report *out, const struct report_reuse *r);

/* Is there one at all? */
bool report_reuse_curves(const struct report_reuse *r);
/* Curves of all streams that have one, as a picture. */
void report_reuse_svg(FILE *f, const struct report_reuse *r);

/* Parts of the text; @s: what sites are told of, or NULL: nothing is. */
void reuse_sites_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_stream *s);
/* 0: the same line of the source, or instruction where it has none. */
int reuse_compare_lines(const struct place *x, const struct place *y);
/*
 * The calls that led to use and reuse of @p, which stands for its source lines;
 * nothing if none are known. Was there a function that recurs?
 */
bool reuse_paths_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_pair *p);
/* An array: those of @p itself. */
struct json_t *reuse_paths_json(const struct report_reuse *r,
				const struct reuse_pair *p);
/* Below @resolution times in @ns are not told apart. */
void reuse_times_print(struct report *out, const struct reuse_histogram *h,
		       bool ns, uint64_t resolution);

/*
 * The share of @total that is @part, and what sampling leaves open of it. A
 * weight of one is an access that was counted, but not of uses in @ns.
 */
struct interval reuse_share(const struct reuse_mass *part,
			    const struct reuse_mass *total, bool ns);
/* Time that half of the reuses do not exceed, 0 if there are none. */
double reuse_median(const struct reuse_histogram *h);
/* "29 us", or accesses; of safe_text's kind. */
const char *reuse_time_text(double time, bool ns);
/* "within each thread" and so on, or of @thread; of safe_text's kind. */
const char *reuse_scope_text(enum reuse_scope scope, int64_t thread);
/* Digits behind the point of a ratio in per cent: of less than one two. */
int reuse_ratio_digits(double ratio);
/* "4.5 %", and the limits if sampling leaves any; of safe_text's kind. */
const char *reuse_ratio_text(double ratio, struct interval by);
/* "RAR" and so on: how the reuse accesses, after how the use did. */
const char *reuse_pairing_name(enum reuse_pairing pairing);
/* Bits of a list such as "RAW,WAW", in either case; 0 if it is none. */
unsigned reuse_pairings_parse(const char *list);

#endif
