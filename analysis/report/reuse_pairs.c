/* SPDX-License-Identifier: MIT */
/*
 * reuse_pairs - pairs of use and reuse, by source line, for people
 */
#include <stdlib.h>

#include "reuse_pairs.h"
#include "reuse_paths.h"
#include "reuse_words.h"
#include "style.h"
#include "analysis/base/util.h"

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
		place_compare_lines(&site[x->use].place, &site[y->use].place);

	if (!order)
		order = place_compare_lines(&site[x->reuse].place,
					    &site[y->reuse].place);
	return order ? order : (int)x->pairing - (int)y->pairing;
}

static double pair_key(const struct reuse_pair *p, int by)
{
	return by < 0 ? p->weight : p->miss[by];
}

/* Returns true if a function recurs in a call path of @p. */
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
	report_place(out, use);
	if (place_compare_lines(use, reuse)) {
		fprintf(out->out, "%*s", columns, "");
		report_place(out, reuse);
	}
	return reuse_paths_print(out, r, p);
}

static int by_pair_key(const void *a, const void *b, void *by)
{
	const struct reuse_pair *x = a, *y = b;
	double key = pair_key(x, *(int *)by), other = pair_key(y, *(int *)by);

	if (key != other)
		return key < other ? 1 : -1;
	/* Sites are numbered by module and offset. */
	return x->use != y->use ? (x->use < y->use ? -1 : 1)
				: (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

/*
 * The pairs of @s by source line, ranked by misses in cache @by or, if that is
 * -1, by weight; the caller frees them.
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
			reuse_pair_add(&pair[*n - 1], &pair[i]);
		else
			pair[(*n)++] = pair[i];
	}
	qsort_r(pair, *n, sizeof(*pair), by_pair_key, &by);
	return pair;
}

void reuse_pairs_print(struct report *out, const struct report_reuse *r,
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
		if (by >= 0 &&
		    pair_key(&pair[i], by) < REUSE_MISS_SHARE_MIN * misses)
			break;
		if (++rows > out->top)
			continue;
		if (!i) {
			report_heading(
				out, "Pairs of use and reuse of %s%s%s%s%s",
				s->granularity == REUSE_LINE ? "cache lines"
							     : "addresses",
				reuse_kinds_text(&r->filter),
				s->ns ? ", estimated" : "",
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
	report_more(out, rows);
	if (n)
		fprintf(out->out, "  mean: %s from use to reuse%s\n",
			s->ns ? "CPU time" : "accesses",
			by >= 0 ? "; share: of the misses that reuses make"
				: "");
	if (r->paths.pairs)
		fprintf(out->out,
			"  below a pair: its share, its mean, the functions "
			"that are called,\n  innermost first%s\n",
			recurs ? "; *: it calls itself again" : "");
	free(pair);
}
