/* SPDX-License-Identifier: MIT */
/*
 * report_reuse - how far apart a program's reuses are, for people
 *
 * First the caches and the curve, which say what it costs, then the threads and
 * the sites that cost most, then the reuse times themselves.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/report_reuse.h"
#include "analysis/util.h"

enum {
	BAR_COLUMNS = 40,
	BAR_OCTAVES = 2,
	NAME_COLUMNS = 15,
};

void report_reuse_init(struct report_reuse *r, const struct profile *p,
		       struct symbols *symbols)
{
	reuse_streams_init(&r->streams, p);
	reuse_sites_init(&r->sites, &r->streams, symbols);
}

void report_reuse_release(struct report_reuse *r)
{
	reuse_sites_release(&r->sites);
	reuse_streams_release(&r->streams);
}

const char *reuse_unit(const struct profile *p)
{
	const struct cdp_header *h = &profile_main_process(p)->header;

	return strcmp(h->period_unit, "ns") ? "accesses" : "ns";
}

const char *reuse_pairing_name(enum reuse_pairing pairing)
{
	static const char *const names[] = {
		[REUSE_RAR] = "RAR",
		[REUSE_RAW] = "RAW",
		[REUSE_WAR] = "WAR",
		[REUSE_WAW] = "WAW",
	};

	return names[pairing];
}

static const char *scope_text(enum reuse_scope scope)
{
	switch (scope) {
	case REUSE_PRIVATE:
		return "within each thread";
	case REUSE_SHARED:
		return "between cores that share a cache";
	default:
		return "in the accesses of all threads under a cache";
	}
}

/* "4.5 %", and the limits if sampling leaves any. */
static const char *ratio_text(double ratio, struct interval by)
{
	char text[64];

	if (by.high > by.low)
		snprintf(text, sizeof(text), "%5.1f %%   %.1f to %.1f",
			 100 * ratio, 100 * by.low, 100 * by.high);
	else
		snprintf(text, sizeof(text), "%5.1f %%", 100 * ratio);
	return safe_text(text);
}

static void print_caches(struct report *out, const struct mrc_cache *cache,
			 size_t n)
{
	if (!n)
		return;
	fprintf(out->out,
		"  %scaches of this machine    miss ratio   "
		"95 %% of samples%s\n",
		paint(out, PAINT_DIM), paint(out, PAINT_OFF));
	for (size_t i = 0; i < n; i++)
		fprintf(out->out, "  %-4s %9s %12s %s\n", cache[i].cache->name,
			size_text((double)cache[i].cache->bytes),
			cache[i].cache->shared ? "shared" : "",
			ratio_text(cache[i].miss_ratio, cache[i].by));
}

static void print_fates(struct report *out, const struct reuse_stream *s,
			const struct reuse_histogram *h,
			const struct reuse_sums *sums)
{
	double total = reuse_histogram_total(h).weight;
	double reused = reuse_histogram_reused(h).weight;
	double never = reuse_histogram_never(h).weight;
	double lost = reuse_histogram_invalidated(h).weight;

	fprintf(out->out, "  %s %s: ", count_text(h->uses),
		s->basis == REUSE_SAMPLED ? "uses followed" : "accesses");
	fprintf(out->out, "%s reused", percent_text(reused, total));
	if (lost > 0)
		fprintf(out->out, ", %s taken by another's store first",
			percent_text(lost, total));
	fprintf(out->out, ", %s never used again\n",
		percent_text(never, total));
	if (s->scope == REUSE_SHARED && sums->own > 0)
		fprintf(out->out,
			"  %s of the uses met their own core first and are "
			"left "
			"out\n",
			percent_text(sums->own, sums->own + total));
	if (reused > 0 && sums->spatial > 0)
		fprintf(out->out,
			"  %s of the reuses are spatial: other bytes of the "
			"line\n",
			percent_text(sums->spatial, reused));
}

/* One row for two octaves of reuse time, as far as there are any. */
static void print_times(struct report *out, const struct reuse_histogram *h,
			const char *unit)
{
	double total = reuse_histogram_total(h).weight;
	double row[REUSE_TIME_BITS / BAR_OCTAVES] = { 0 }, most = 0;
	int first = -1, last = -1;

	for (uint32_t i = 1; i < REUSE_BINS; i++) {
		int at = (63 - __builtin_clzll(reuse_bin_low(i))) / BAR_OCTAVES;

		if (!(h->reuse[i].weight > 0))
			continue;
		row[at] += h->reuse[i].weight;
		most = fmax(most, row[at]);
		first = first < 0 ? at : first;
		last = at;
	}
	if (first < 0)
		return;
	fprintf(out->out, "  %sreuse time in %s%s\n", paint(out, PAINT_DIM),
		unit, paint(out, PAINT_OFF));
	for (int i = first; i <= last; i++) {
		int bar = (int)lround(row[i] / most * BAR_COLUMNS);

		fprintf(out->out, "  %19s up %7s  ",
			count_text(UINT64_C(1) << i * BAR_OCTAVES),
			percent_text(row[i], total));
		while (bar-- > 0)
			fputc('#', out->out);
		fputc('\n', out->out);
	}
}

static void print_stream(struct report *out, const struct report_reuse *r,
			 const struct reuse_stream *s)
{
	static struct reuse_histogram h;
	struct mrc_cache cache[HOST_CACHES_MAX];
	struct reuse_sums sums;
	struct mrc m;
	size_t n;

	reuse_stream_sum(s, &h, &sums);
	report_heading(
		out, "Reuse of %s %s%s",
		s->granularity == REUSE_LINE ? "cache lines" : "addresses",
		scope_text(s->scope),
		s->basis == REUSE_COUNTED ? ", every access counted" : "");
	print_fates(out, s, &h, &sums);
	if (!reuse_stream_has_misses(s)) {
		print_times(out, &h, reuse_unit(r->streams.profile));
		return;
	}
	n = reuse_stream_caches(&r->streams, s, cache);
	reuse_stream_curve(&r->streams, s, &m);
	if (s->basis == REUSE_COUNTED &&
	    reuse_streams_distances(&r->streams, s))
		reuse_stream_curve(&r->streams,
				   reuse_streams_distances(&r->streams, s), &m);
	fputc('\n', out->out);
	mrc_plot(out->out, &m, cache, n, 2);
	fprintf(out->out, "  miss ratio at each size of an LRU cache%s\n\n",
		s->basis == REUSE_SAMPLED ? "; ':' 95 % of samples" : "");
	print_caches(out, cache, n);
	print_times(out, &h, reuse_unit(r->streams.profile));
}

static void print_threads(struct report *out, const struct report_reuse *r)
{
	size_t rows = 0;

	for (size_t i = 0; i < r->streams.streams; i++) {
		const struct reuse_stream *s = &r->streams.stream[i];
		struct mrc_cache cache[HOST_CACHES_MAX];
		const struct thread_row *t;
		const char *name;
		size_t n;

		if (s->basis != REUSE_SAMPLED || s->thread < 0 ||
		    !reuse_stream_has_misses(s))
			continue;
		n = reuse_stream_caches(&r->streams, s, cache);
		if (!n || rows++ >= out->thread_rows)
			continue;
		if (rows == 1)
			report_heading(out, "Miss ratios of the threads");
		t = &r->streams.profile->thread[s->thread];
		name = cut_text(safe_text(t->name), NAME_COLUMNS);
		fprintf(out->out, "  %4lld  %s%*s", (long long)s->thread, name,
			(int)(NAME_COLUMNS - text_columns(name)), "");
		for (size_t c = 0; c < n; c++)
			fprintf(out->out, "  %-3s %5.1f %% +-%.1f",
				cache[c].cache->name, 100 * cache[c].miss_ratio,
				50 * (cache[c].by.high - cache[c].by.low));
		fputc('\n', out->out);
	}
	if (rows > out->thread_rows)
		fprintf(out->out, "  ... and %s more\n",
			count_text(rows - out->thread_rows));
}

struct ranked {
	size_t site;
	double miss;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->miss != y->miss)
		return x->miss < y->miss ? 1 : -1;
	return (x->site > y->site) - (x->site < y->site);
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

static void print_site(struct report *out, const struct report_reuse *r,
		       const struct reuse_site *s, double share, int by)
{
	fprintf(out->out, "  %6s ", percent_text(share, 1));
	for (int c = 0; c <= by; c++) {
		struct interval v;
		double ratio;

		if (reuse_site_ratio(s, (size_t)c, &ratio, &v))
			fprintf(out->out, " %5.1f %%", 100 * ratio);
		else
			fprintf(out->out, " %7s", "-");
	}
	fprintf(out->out, "  %s", place_text(&s->place));
	if (s->place.function)
		fprintf(out->out, " (%s)", safe_text(s->place.function));
	fputc('\n', out->out);
}

static void print_sites(struct report *out, const struct report_reuse *r)
{
	int by = outermost(r);
	struct ranked *rank;
	double total = 0;

	if (by < 0)
		return;
	rank = xcalloc(r->sites.sites, sizeof(*rank));
	for (size_t i = 0; i < r->sites.sites; i++) {
		rank[i] = (struct ranked){ i, r->sites.site[i].miss[by] };
		total += rank[i].miss;
	}
	qsort(rank, r->sites.sites, sizeof(*rank), compare_ranked);
	report_heading(out, "Sites by misses in %s", r->streams.cache[by].name);
	fprintf(out->out, "  %s share ", paint(out, PAINT_DIM));
	for (int c = 0; c <= by; c++)
		fprintf(out->out, " %7s", r->streams.cache[c].name);
	fprintf(out->out, "  miss ratio, by site%s\n", paint(out, PAINT_OFF));
	for (size_t i = 0; i < r->sites.sites && i < out->top; i++)
		if (rank[i].miss > 0)
			print_site(out, r, &r->sites.site[rank[i].site],
				   rank[i].miss / total, by);
	free(rank);
}

/* The stream of all that says most, in lines if there are any. */
static const struct reuse_stream *main_stream(const struct report_reuse *r)
{
	static const enum reuse_scope scopes[] = { REUSE_PRIVATE, REUSE_GLOBAL,
						   REUSE_SHARED };

	for (int g = REUSE_GRANULARITIES - 1; g >= 0; g--)
		for (int i = 0; i < REUSE_SCOPES; i++) {
			const struct reuse_stream *s = reuse_streams_find(
				&r->streams, REUSE_SAMPLED, scopes[i], g);

			if (s)
				return s;
		}
	return NULL;
}

bool report_reuse_answer(struct report *out, const struct report_reuse *r)
{
	const struct reuse_stream *s = main_stream(r);
	static struct reuse_histogram h;
	struct mrc_cache cache[HOST_CACHES_MAX];
	size_t n;

	if (!s)
		return false;
	reuse_stream_sum(s, &h, NULL);
	n = reuse_stream_caches(&r->streams, s, cache);
	fprintf(out->out, "%s uses were followed to their reuse %s.\n",
		count_text(h.uses), scope_text(s->scope));
	for (size_t i = 0; i < n; i++)
		fprintf(out->out, "%s%s in %s",
			i == 0      ? "Expected to miss in this machine: "
			: i + 1 < n ? ", "
				    : " and ",
			percent_text(cache[i].miss_ratio, 1),
			cache[i].cache->name);
	fputs(n ? ".\n" : "", out->out);
	return true;
}

void report_reuse_text(struct report *out, const struct report_reuse *r)
{
	/* One thread's own accesses and all under its cache are the same. */
	bool alone = reuse_streams_threads(&r->streams) == 1;

	/* Lines before addresses. */
	for (int g = REUSE_GRANULARITIES - 1; g >= 0; g--)
		for (size_t i = 0; i < r->streams.streams; i++) {
			const struct reuse_stream *s = &r->streams.stream[i];

			if (s->thread >= 0 || s->domain >= 0 ||
			    s->granularity != (enum reuse_granularity)g ||
			    s->basis == REUSE_DISTANCES ||
			    (alone && s->scope == REUSE_GLOBAL &&
			     reuse_streams_find(&r->streams, s->basis,
						REUSE_PRIVATE, s->granularity)))
				continue;
			print_stream(out, r, s);
		}
	print_threads(out, r);
	print_sites(out, r);
}

void report_reuse_svg(FILE *f, const struct report_reuse *r)
{
	const struct reuse_streams *all = &r->streams;
	struct mrc *m = xcalloc(all->streams, sizeof(*m));
	struct mrc_named *curve = xcalloc(all->streams, sizeof(*curve));
	struct mrc_cache cache[HOST_CACHES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < all->streams; i++) {
		const struct reuse_stream *s = &all->stream[i];

		if (s->thread >= 0 || s->domain >= 0 ||
		    !reuse_stream_has_misses(s))
			continue;
		reuse_stream_curve(all, s, &m[n]);
		curve[n].mrc = &m[n];
		curve[n++].name = s->scope == REUSE_PRIVATE
					  ? "within each thread"
					  : "all threads under a cache";
	}
	for (size_t i = 0; i < all->caches; i++)
		cache[i] = (struct mrc_cache){ .cache = &all->cache[i] };
	mrc_svg(f, "Miss ratio by cache size (LRU)", curve, n, cache,
		all->caches);
	free(curve);
	free(m);
}
