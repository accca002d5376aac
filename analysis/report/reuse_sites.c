/* SPDX-License-Identifier: MIT */
/*
 * reuse_sites - where the program reuses its data, for people
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_sites.h"
#include "reuse_pairs.h"
#include "reuse_words.h"
#include "style.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

enum {
	ENDS_MAX = 5, /* most rows of the table of last uses */
};

#define ENDS_SHARE_MIN 0.01 /* least share of all uses for a row */

/* The instructions of one source line, and what they are ranked by. */
struct ranked {
	const struct place *place;
	struct reuse_site sum; /* over all of them */
	double key;
};

static int by_line(const void *a, const void *b)
{
	const struct place *x = ((const struct ranked *)a)->place;
	const struct place *y = ((const struct ranked *)b)->place;
	int order = place_compare_lines(x, y);

	return order ? order
		     : (x->offset > y->offset) - (x->offset < y->offset);
}

static int by_key(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->key != y->key)
		return x->key < y->key ? 1 : -1;
	return by_line(a, b);
}

static void add_site(struct reuse_site *to, const struct reuse_site *s)
{
	for (int c = 0; c < HOST_CACHES_MAX; c++) {
		to->seen[c] += s->seen[c];
		to->squares[c] += s->squares[c];
		to->miss[c] += s->miss[c];
	}
	for (int i = 0; i < REUSE_SCOPES; i++)
		for (int g = 0; g < REUSE_GRANULARITIES; g++) {
			to->never[i][g] += s->never[i][g];
			to->taken[i][g] += s->taken[i][g];
		}
}

/* Sum the sites by source line; the caller frees the result. */
static struct ranked *lines_of(const struct reuse_sites *t, size_t *n)
{
	struct ranked *r = xcalloc(t->sites + 1, sizeof(*r));

	*n = 0;
	for (size_t i = 0; i < t->sites; i++)
		r[i] = (struct ranked){ .place = &t->site[i].place,
					.sum = t->site[i] };
	qsort(r, t->sites, sizeof(*r), by_line);
	for (size_t i = 0; i < t->sites; i++) {
		if (*n && !place_compare_lines(r[*n - 1].place, r[i].place))
			add_site(&r[*n - 1].sum, &r[i].sum);
		else
			r[(*n)++] = r[i];
	}
	return r;
}

/* The outermost cache for which sites have misses; -1 if there is none. */
static int outermost(const struct report_reuse *r)
{
	for (int c = (int)r->streams.caches - 1; c >= 0; c--)
		for (size_t i = 0; i < r->sites.sites; i++)
			if (r->sites.site[i].seen[c] > 0)
				return c;
	return -1;
}

static void print_site(struct report *out, const struct ranked *s, double share,
		       int last)
{
	fprintf(out->out, "  %6s ", percent_text(share, 1));
	for (int c = 0; c <= last; c++) {
		struct interval v;
		double ratio;

		if (reuse_site_ratio(&s->sum, (size_t)c, &ratio, &v))
			fprintf(out->out, " %5.1f %%", 100 * ratio);
		else
			fprintf(out->out, " %7s", "-");
	}
	fputs("  ", out->out);
	report_place(out, s->place);
}

/* The weight of all reuses that miss in cache @c. */
static double misses_in(const struct ranked *line, size_t n, int c)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += line[i].sum.miss[c];
	return sum;
}

/*
 * The cache to rank by: the outermost in which enough of the uses of @h miss,
 * else the one in which most do. -1 if none miss anywhere.
 */
static int ranked_by(const struct report_reuse *r,
		     const struct reuse_histogram *h, const struct ranked *line,
		     size_t n)
{
	double uses = (double)h->uses / reuse_histogram_total(h).weight;
	double most = 0.5; /* half a use */
	int by = -1;

	for (int c = outermost(r); c >= 0; c--) {
		double missing = misses_in(line, n, c) * uses;

		if (missing >= REUSE_USES_MIN)
			return c;
		if (missing > most) {
			most = missing;
			by = c;
		}
	}
	return by;
}

/*
 * Print how many uses the table rests on, and the share of all misses that are
 * not reuses.
 */
static void print_rest(struct report *out, const struct report_reuse *r,
		       const struct reuse_histogram *h, double misses)
{
	double ends = reuse_histogram_never(h).weight +
		      reuse_histogram_invalidated(h).weight;
	double uses =
		misses / reuse_histogram_total(h).weight * (double)h->uses;

	fprintf(out->out, "  these are some %s of the uses followed",
		count_text((uint64_t)(uses + .5)));
	if (ends > 0 && !r->filter.pairings)
		fprintf(out->out,
			"; %s of all misses are the first\n  use of a line, or "
			"follow another thread's store, and belong to no site",
			percent_text(ends, ends + misses));
	fputs(".\n", out->out);
}

static void print_misses(struct report *out, const struct report_reuse *r,
			 const struct reuse_histogram *h, struct ranked *line,
			 size_t n, int by)
{
	int last = outermost(r);
	size_t shown = 0;
	double total;

	for (size_t i = 0; i < n; i++)
		line[i].key = line[i].sum.miss[by];
	total = misses_in(line, n, by);
	qsort(line, n, sizeof(*line), by_key);
	report_heading(out, "Sites by reuses%s that miss in %s",
		       reuse_kinds_text(&r->filter), r->streams.cache[by].name);
	fprintf(out->out, "  %s share ", paint(out, PAINT_DIM));
	for (int c = 0; c <= last; c++)
		fprintf(out->out, " %7s", r->streams.cache[c].name);
	fprintf(out->out, "  miss ratio of the reuses there%s\n",
		paint(out, PAINT_OFF));
	for (size_t i = 0; i < n; i++) {
		double share = line[i].key / total;

		if (share < REUSE_MISS_SHARE_MIN)
			break;
		if (i < out->top)
			print_site(out, &line[i], share, last);
		shown++;
	}
	report_more(out, shown);
	print_rest(out, r, h, total);
}

/*
 * Print the sites of uses of @s that are never reused. For lines, there are as
 * many of these as first uses, which are cold misses.
 */
static void print_ends(struct report *out, const struct reuse_stream *s,
		       struct ranked *line, size_t n)
{
	static struct reuse_histogram h;
	double total;
	size_t rows = 0;

	reuse_stream_sum(s, &h, NULL);
	total = reuse_histogram_total(&h).weight;
	for (size_t i = 0; i < n; i++)
		line[i].key = line[i].sum.never[s->scope][s->granularity] +
			      line[i].sum.taken[s->scope][s->granularity];
	qsort(line, n, sizeof(*line), by_key);
	for (size_t i = 0; i < n && i < out->top && rows < ENDS_MAX; i++) {
		double never = line[i].sum.never[s->scope][s->granularity];
		double taken = line[i].sum.taken[s->scope][s->granularity];

		if (line[i].key < ENDS_SHARE_MIN * total)
			break;
		if (!rows++) {
			report_heading(out, "Sites whose %s are not used again",
				       s->granularity == REUSE_LINE
					       ? "cache lines"
					       : "data");
			fprintf(out->out,
				"  %s never  stored to by another first  (of "
				"all uses%s)%s\n",
				paint(out, PAINT_DIM),
				s->ns ? ", estimated" : "",
				paint(out, PAINT_OFF));
		}
		fprintf(out->out, "  %6s %7s  ", percent_text(never, total),
			taken > 0 ? percent_text(taken, total) : "-");
		report_place(out, line[i].place);
	}
}

void reuse_sites_print(struct report *out, const struct report_reuse *r,
		       const struct reuse_stream *s)
{
	static struct reuse_histogram h;
	struct ranked *line;
	size_t n;
	int by;

	if (!s)
		return;
	reuse_stream_sum(s, &h, NULL);
	line = lines_of(&r->sites, &n);
	by = ranked_by(r, &h, line, n);
	if (by >= 0)
		print_misses(out, r, &h, line, n, by);
	if (by >= 0 || !reuse_stream_has_misses(s))
		reuse_pairs_print(out, r, s, reuse_histogram_total(&h).weight,
				  by);
	if (!r->filter.pairings)
		print_ends(out, s, line, n);
	free(line);
}
