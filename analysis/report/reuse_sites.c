/* SPDX-License-Identifier: MIT */
/*
 * reuse_sites - where the program reuses its data, for people
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reuse.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

enum {
	ENDS_MAX = 5, /* rows of the table of last uses */
};

#define ENDS_SHARE_MIN 0.01   /* of all uses, to be in it */
#define MISS_SHARE_MIN 0.0005 /* of the misses, to be in their table */

/* Instructions of one source line, and what they are ranked by. */
struct ranked {
	const struct place *place;
	struct reuse_site sum; /* of them all */
	double key;
};

static int compare_text(const char *x, const char *y)
{
	return strcmp(x ? x : "", y ? y : "");
}

int reuse_compare_lines(const struct place *x, const struct place *y)
{
	int order = strcmp(x->module, y->module);

	if (!order)
		order = compare_text(x->file, y->file);
	if (order)
		return order;
	if (!x->file)
		return (x->offset > y->offset) - (x->offset < y->offset);
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return compare_text(x->function, y->function);
}

static int by_line(const void *a, const void *b)
{
	const struct place *x = ((const struct ranked *)a)->place;
	const struct place *y = ((const struct ranked *)b)->place;
	int order = reuse_compare_lines(x, y);

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

/* Sites by source line; to be freed. */
static struct ranked *lines_of(const struct reuse_sites *t, size_t *n)
{
	struct ranked *r = xcalloc(t->sites + 1, sizeof(*r));

	*n = 0;
	for (size_t i = 0; i < t->sites; i++)
		r[i] = (struct ranked){ .place = &t->site[i].place,
					.sum = t->site[i] };
	qsort(r, t->sites, sizeof(*r), by_line);
	for (size_t i = 0; i < t->sites; i++) {
		if (*n && !reuse_compare_lines(r[*n - 1].place, r[i].place))
			add_site(&r[*n - 1].sum, &r[i].sum);
		else
			r[(*n)++] = r[i];
	}
	return r;
}

static void print_place(struct report *out, const struct place *p)
{
	fputs(place_text(p), out->out);
	if (p->function)
		fprintf(out->out, " (%s)", safe_text(p->function));
	fputc('\n', out->out);
}

/* The outermost cache that sites were converted for, -1 if none. */
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
	print_place(out, s->place);
}

/* " (RAW, WAW)" if these alone were asked for, else "". */
static const char *kinds_text(const struct report_reuse *r)
{
	const char *between = " (";
	char text[64] = "";
	size_t n = 0;

	for (int i = 0; i < REUSE_PAIRINGS; i++) {
		if (!(r->filter.pairings >> i & 1))
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s",
				      between, reuse_pairing_name(i));
		between = ", ";
	}
	if (n)
		snprintf(text + n, sizeof(text) - n, ")");
	return safe_text(text);
}

/* All misses in cache @c that reuses make. */
static double misses_in(const struct ranked *line, size_t n, int c)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += line[i].sum.miss[c];
	return sum;
}

/*
 * The cache to rank by: the outermost that enough of the uses of @h miss in,
 * and if they do in none the one with most. -1 if no use misses anywhere.
 */
static int ranked_by(const struct report_reuse *r,
		     const struct reuse_histogram *h, const struct ranked *line,
		     size_t n)
{
	double uses = (double)h->uses / reuse_histogram_total(h).weight;
	double most = 0.5; /* of a use */
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
 * What stands beside: how many uses the table rests on, and what share of the
 * misses no reuse makes.
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
			"; %s of all misses are first uses\n  of a line, or "
			"after another's store, and of no site here",
			percent_text(ends, ends + misses));
	fputs(".\n", out->out);
}

/* Of a table of @rows what is left out. */
static void print_more(struct report *out, size_t rows)
{
	if (rows > out->top)
		fprintf(out->out, "  ... and %s more\n",
			count_text(rows - out->top));
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
	report_heading(out, "Sites by reuses%s that miss in %s", kinds_text(r),
		       r->streams.cache[by].name);
	fprintf(out->out, "  %s share ", paint(out, PAINT_DIM));
	for (int c = 0; c <= last; c++)
		fprintf(out->out, " %7s", r->streams.cache[c].name);
	fprintf(out->out, "  miss ratio of the reuses there%s\n",
		paint(out, PAINT_OFF));
	for (size_t i = 0; i < n; i++) {
		double share = line[i].key / total;

		if (share < MISS_SHARE_MIN)
			break;
		if (i < out->top)
			print_site(out, &line[i], share, last);
		shown++;
	}
	print_more(out, shown);
	print_rest(out, r, h, total);
}

/* Uses of @s without reuse: of lines as many are first uses, and cold misses.
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
		print_place(out, line[i].place);
	}
}

static bool is_of(const struct reuse_pair *p, const struct reuse_stream *s)
{
	return p->scope == s->scope && p->granularity == s->granularity &&
	       p->ns == s->ns && p->outcome == REUSE_REUSED &&
	       p->use != REUSE_NO_SITE && p->reuse != REUSE_NO_SITE;
}

static const char *mean_text(const struct reuse_pair *p, uint64_t resolution)
{
	double mean = p->sum / p->weight;
	char text[32];

	if (!p->ns || mean >= (double)resolution)
		return reuse_time_text(mean, p->ns);
	snprintf(text, sizeof(text), "<%s",
		 reuse_time_text((double)resolution, true));
	return safe_text(text);
}

static int by_pair_lines(const void *a, const void *b, void *sites)
{
	const struct reuse_site *site = sites;
	const struct reuse_pair *x = a, *y = b;
	int order =
		reuse_compare_lines(&site[x->use].place, &site[y->use].place);

	if (!order)
		order = reuse_compare_lines(&site[x->reuse].place,
					    &site[y->reuse].place);
	return order ? order : (int)x->pairing - (int)y->pairing;
}

static void add_pair(struct reuse_pair *to, const struct reuse_pair *p)
{
	to->weight += p->weight;
	to->sum += p->sum;
	for (int c = 0; c < HOST_CACHES_MAX; c++)
		to->miss[c] += p->miss[c];
}

static double pair_key(const struct reuse_pair *p, int by)
{
	return by < 0 ? p->weight : p->miss[by];
}

/* Did a call path in it recur? */
static bool print_pair(struct report *out, const struct report_reuse *r,
		       const struct reuse_pair *p, int by, double misses,
		       double total)
{
	const struct place *use = &r->sites.site[p->use].place;
	const struct place *reuse = &r->sites.site[p->reuse].place;
	int columns = 27;

	if (by >= 0) {
		fprintf(out->out, "  %7s",
			percent_text(pair_key(p, by), misses));
		columns += 9;
	}
	fprintf(out->out, "  %7s %9s  %s   ", percent_text(p->weight, total),
		mean_text(p, r->streams.resolution),
		reuse_pairing_name(p->pairing));
	print_place(out, use);
	if (reuse_compare_lines(use, reuse)) {
		fprintf(out->out, "%*s", columns, "");
		print_place(out, reuse);
	}
	return reuse_paths_print(out, r, p);
}

static int by_pair_key(const void *a, const void *b, void *by)
{
	const struct reuse_pair *x = a, *y = b;
	double key = pair_key(x, *(int *)by), other = pair_key(y, *(int *)by);

	if (key != other)
		return key < other ? 1 : -1;
	/* Sites are ordered by module and offset. */
	return x->use != y->use ? (x->use < y->use ? -1 : 1)
				: (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

/*
 * The pairs of @s by source line, ranked by misses in cache @by or, if that is
 * -1, by weight; to be freed.
 */
static struct reuse_pair *pairs_of(const struct report_reuse *r,
				   const struct reuse_stream *s, int by,
				   size_t *n)
{
	struct reuse_pair *pair = xcalloc(r->sites.pairs + 1, sizeof(*pair));
	size_t all = 0;

	for (size_t i = 0; i < r->sites.pairs; i++)
		if (is_of(&r->sites.pair[i], s))
			pair[all++] = r->sites.pair[i];
	qsort_r(pair, all, sizeof(*pair), by_pair_lines, r->sites.site);
	*n = 0;
	for (size_t i = 0; i < all; i++) {
		if (*n &&
		    !by_pair_lines(&pair[*n - 1], &pair[i], r->sites.site))
			add_pair(&pair[*n - 1], &pair[i]);
		else
			pair[(*n)++] = pair[i];
	}
	qsort_r(pair, *n, sizeof(*pair), by_pair_key, &by);
	return pair;
}

/* Ranked by misses in cache @by, -1: by weight. */
static void print_pairs(struct report *out, const struct report_reuse *r,
			const struct reuse_stream *s, double total, int by)
{
	size_t n;
	struct reuse_pair *pair = pairs_of(r, s, by, &n);
	double misses = 0;
	bool recurs = false;
	size_t rows = 0;

	for (size_t i = 0; i < n; i++)
		misses += pair_key(&pair[i], by);
	for (size_t i = 0; i < n; i++) {
		if (by >= 0 && pair_key(&pair[i], by) < MISS_SHARE_MIN * misses)
			break;
		if (++rows > out->top)
			continue;
		if (!i) {
			report_heading(
				out, "Pairs of use and reuse of %s%s%s%s%s",
				s->granularity == REUSE_LINE ? "cache lines"
							     : "addresses",
				kinds_text(r), s->ns ? ", estimated" : "",
				by >= 0 ? ", by misses in " : "",
				by >= 0 ? r->streams.cache[by].name : "");
			fprintf(out->out,
				"  %s%sof uses      mean  kind  used at, then "
				"reused at%s\n",
				paint(out, PAINT_DIM),
				by >= 0 ? "  share  " : "",
				paint(out, PAINT_OFF));
		}
		recurs |= print_pair(out, r, &pair[i], by, misses, total);
	}
	print_more(out, rows);
	if (n)
		fprintf(out->out, "  mean: %s from use to reuse%s\n",
			s->ns ? "CPU time" : "accesses",
			by >= 0 ? "; share: of the misses that reuses make"
				: "");
	if (r->paths.pairs)
		fprintf(out->out,
			"  below a pair: its share, its mean, the functions "
			"that are called,\n  innermost first%s\n",
			recurs ? "; * that call themselves again" : "");
	free(pair);
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
		print_pairs(out, r, s, reuse_histogram_total(&h).weight, by);
	if (!r->filter.pairings)
		print_ends(out, s, line, n);
	free(line);
}
