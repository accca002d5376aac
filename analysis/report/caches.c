/* SPDX-License-Identifier: MIT */
/*
 * caches - expected and simulated misses of caches, for the report
 */
#include <math.h>
#include <stdlib.h>

#include "caches.h"
#include "reuse_words.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

#define CONFLICT_TIMES 1.5   /* times the expected misses */
#define CONFLICT_SHARE 0.005 /* of all accesses, beyond the expected */
#define RANK_SHARE     0.005 /* of all accesses; below it no ranking by a cache */
#define LINE_SHARE_MIN 0.0005

/* Columns of the table of caches. */
struct caches_shown {
	bool limits, sets, simulated;
};

/* Print "12.5 %" in @columns. */
static void print_ratio(struct report *out, double ratio, int columns)
{
	if (isnan(ratio))
		fprintf(out->out, "%*s", columns, "-");
	else
		fprintf(out->out, "%*.*f %%", columns - 2,
			reuse_ratio_digits(ratio), 100 * ratio);
}

static void print_cache(struct report *out, const struct mrc_cache *c,
			const struct caches_shown *shown)
{
	fprintf(out->out, "  %-4s %9s %*s ", c->cache->name,
		size_text((double)c->cache->bytes), shown->simulated ? 8 : 12,
		c->cache->shared ? "shared" : "");
	fprintf(out->out, "%-*s",
		!shown->sets && !shown->simulated ? 0
		: shown->limits                   ? REUSE_RATIO_COLUMNS
						  : 7,
		isnan(c->miss_ratio) ? "      -"
				     : reuse_ratio_text(c->miss_ratio, c->by));
	if (shown->sets || shown->simulated)
		print_ratio(out, c->whole, 20);
	if (shown->simulated)
		print_ratio(out, c->simulated, 11);
	fputc('\n', out->out);
}

/*
 * Add simulated shared caches if the threads' reuses alone give no expectation
 * for them.
 */
static size_t add_shared(const struct report_reuse *r,
			 const struct reuse_stream *s,
			 struct mrc_cache cache[HOST_CACHES_MAX], size_t n)
{
	const struct reuse_streams *all = &r->streams;

	if (s->scope != REUSE_PRIVATE ||
	    report_reuse_find(r, s->basis, REUSE_GLOBAL, REUSE_LINE))
		return n;
	for (size_t i = 0; i < all->caches && n < HOST_CACHES_MAX; i++) {
		struct cache_count c;

		if (!reuse_scope_has_cache(all, s->scope, &all->cache[i]) &&
		    reuse_stream_simulated(all, s, &all->cache[i], &c))
			cache[n++] = (struct mrc_cache){
				.cache = &all->cache[i],
				.miss_ratio = NAN,
				.whole = NAN,
				.simulated = cache_miss_ratio(&c),
			};
	}
	return n;
}

size_t report_caches_print(struct report *out, const struct report_reuse *r,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX], size_t n)
{
	struct caches_shown shown = {
		.limits = n && cache->by.high > cache->by.low,
	};

	n = add_shared(r, s, cache, n);
	if (!n)
		return 0;
	for (size_t i = 0; i < n; i++) {
		shown.sets |= cache[i].cache->sets > 1;
		shown.simulated |= !isnan(cache[i].simulated);
	}
	fprintf(out->out, "  %scaches %-15s%s%s%s%s%s\n", paint(out, PAINT_DIM),
		r->streams.other_machine ? "simulated" : "of this machine",
		shown.simulated ? " expected" : "    miss ratio",
		shown.limits ? "   95 % interval" : "",
		shown.sets || shown.simulated ? "   fully associative" : "",
		shown.simulated ? "  simulated" : "", paint(out, PAINT_OFF));
	for (size_t i = 0; i < n; i++)
		print_cache(out, &cache[i], &shown);
	return n;
}

bool report_caches_conflict(const struct mrc_cache *c)
{
	double expected = fmax(c->miss_ratio, c->whole);

	return c->simulated > CONFLICT_TIMES * expected &&
	       c->simulated > CONFLICT_SHARE + expected;
}

/* "L1d misses 33.6 % where 0.3 % are expected" */
static char *conflict_text(const struct mrc_cache *c, const char *before)
{
	return xasprintf("%s%s misses %s where %s is expected", before,
			 c->cache->name, percent_text(c->simulated, 1),
			 percent_text(fmax(c->miss_ratio, c->whole), 1));
}

void report_caches_conflicts(struct report *out, const struct mrc_cache *cache,
			     size_t n)
{
	char *text = NULL, *more;

	for (size_t i = 0; i < n; i++) {
		if (!report_caches_conflict(&cache[i]))
			continue;
		more = conflict_text(&cache[i], text ? text : "");
		free(text);
		text = xasprintf("%s, ", more);
		free(more);
	}
	if (!text)
		return;
	more = xasprintf(
		"%sso lines conflict: more of them share a set than it has "
		"ways, and evict each other while other sets have room. Rows "
		"or tables whose distance in bytes is a power of two do that: "
		"pad each row by a cache line, or copy the data that is walked "
		"through into a block of its own. The source lines are below.",
		text);
	fputs("  ", out->out);
	print_wrapped(out->out, more, 2, 2);
	free(more);
	free(text);
}

static double misses_of(const struct cache_misser *m, size_t i)
{
	return m->miss[i][0] + m->miss[i][1];
}

static struct cache_part part_of(const struct report_reuse *r)
{
	struct cache_part part = CACHE_PART_ALL;

	part.thread = r->filter.thread;
	return part;
}

/* The nearest cache that conflicts; -1 if none does. */
static int conflicting(const struct report_reuse *r)
{
	const struct reuse_stream *s = report_reuse_main(r, REUSE_COUNTED);
	struct mrc_cache cache[HOST_CACHES_MAX];
	size_t n = s ? reuse_stream_caches(&r->streams, s, cache) : 0;
	const struct cache_misses *m = &r->streams.simulated;

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m->caches; k++)
			if (cache[i].cache->sets == m->cache[k].sets &&
			    cache[i].cache->ways == m->cache[k].ways &&
			    cache[i].cache->name[1] == m->cache[k].name[1] &&
			    report_caches_conflict(&cache[i]))
				return (int)k;
	return -1;
}

/*
 * The cache to rank by: one that conflicts, else the last in which enough of
 * the accesses miss, else the first.
 */
static size_t ranked_by(const struct report_reuse *r,
			const struct cache_part *part)
{
	const struct cache_misses *m = &r->streams.simulated;
	int by = conflicting(r);
	size_t i;

	if (by >= 0)
		return (size_t)by;
	for (i = m->caches - 1; i > 0; i--) {
		struct cache_count c;

		if (cache_misses_count(m, &m->cache[i], part, &c) &&
		    cache_miss_ratio(&c) >= RANK_SHARE)
			break;
	}
	return i;
}

static void print_counts(struct report *out, const struct cache_missers *m,
			 const struct cache_misser *line, double share)
{
	fprintf(out->out, "  %6s ", percent_text(share, 1));
	for (size_t i = 0; i < m->of->caches; i++)
		fprintf(out->out, " %13s",
			count_text((uint64_t)misses_of(line, i)));
}

static void print_line(struct report *out, const struct cache_missers *m,
		       const struct cache_misser *line, double share)
{
	print_counts(out, m, line, share);
	fprintf(out->out, "  %s", place_text(&line->place));
	if (line->place.function)
		fprintf(out->out, " (%s)", safe_text(line->place.function));
	fputc('\n', out->out);
}

/* The misses of @part that no known instruction accounts for. */
static struct cache_misser unknown_of(const struct cache_missers *m,
				      const struct cache_part *part)
{
	struct cache_misser rest = { 0 };

	for (size_t i = 0; i < m->of->caches; i++) {
		struct cache_count c;
		double known = 0;

		cache_misses_count(m->of, &m->of->cache[i], part, &c);
		for (size_t k = 0; k < m->missers; k++)
			known += misses_of(&m->misser[k], i);
		rest.miss[i][0] = fmax(c.misses[0] + c.misses[1] - known, 0);
	}
	return rest;
}

static void print_lines(struct report *out, const struct cache_missers *m,
			size_t by, const struct cache_part *part, double total)
{
	struct cache_misser rest = unknown_of(m, part);
	size_t rows = 0;

	report_heading(out, "Source lines by simulated misses in %s",
		       m->of->cache[by].name);
	fprintf(out->out, "  %s share ", paint(out, PAINT_DIM));
	for (size_t i = 0; i < m->of->caches; i++)
		fprintf(out->out, " %13s", m->of->cache[i].name);
	fprintf(out->out, "  location, function%s\n", paint(out, PAINT_OFF));
	for (size_t i = 0; i < m->missers; i++) {
		double share = misses_of(&m->misser[i], by) / total;

		if (rows && share < LINE_SHARE_MIN)
			break;
		if (rows++ < out->top)
			print_line(out, m, &m->misser[i], share);
	}
	if (rows > out->top)
		fprintf(out->out, "  ... and %s more\n",
			count_text(rows - out->top));
	if (misses_of(&rest, by) / total < LINE_SHARE_MIN)
		return;
	print_counts(out, m, &rest, misses_of(&rest, by) / total);
	fputs("  no instruction known\n", out->out);
}

void report_caches_lines(struct report *out, const struct report_reuse *r)
{
	const struct cache_misses *all = &r->streams.simulated;
	struct cache_part part = part_of(r);
	struct cache_missers m;
	struct cache_count c;
	double total;
	size_t by;

	if (!all->caches)
		return;
	by = ranked_by(r, &part);
	cache_misses_count(all, &all->cache[by], &part, &c);
	total = c.misses[0] + c.misses[1];
	if (!(total > 0))
		return;
	cache_missers_init(&m, all, out->profile, out->symbols, &part);
	cache_missers_join_lines(&m, by);
	print_lines(out, &m, by, &part, total);
	cache_missers_release(&m);
}

static json_t *json_counts(const struct cache_count *c, bool of_stores)
{
	json_t *o = json_object();

	put_count(o, "accesses", (uint64_t)c->accesses[of_stores]);
	put_count(o, "misses", (uint64_t)c->misses[of_stores]);
	return o;
}

/* An array of the caches with the misses of @part. */
static json_t *json_part(const struct cache_misses *m,
			 const struct cache_part *part)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->caches; i++) {
		const struct host_cache *h = &m->cache[i];
		struct cache_count c;
		json_t *o;

		if (!cache_misses_count(m, h, part, &c))
			continue;
		o = json_object();
		put(o, "name", text(h->name));
		put_count(o, "bytes", h->bytes);
		put_count(o, "ways", h->ways);
		put(o, "shared", json_boolean(h->shared));
		put(o, "miss_ratio", json_real(cache_miss_ratio(&c)));
		put(o, "loads", json_counts(&c, false));
		put(o, "stores", json_counts(&c, true));
		append(a, o);
	}
	return a;
}

static json_t *json_threads(const struct report *out,
			    const struct cache_misses *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < out->profile->threads; i++) {
		struct cache_part part = CACHE_PART_ALL;
		json_t *caches, *o;

		part.thread = (int64_t)i;
		caches = json_part(m, &part);
		if (!json_array_size(caches)) {
			json_decref(caches);
			continue;
		}
		o = json_object();
		put_count(o, "thread", i);
		put(o, "caches", caches);
		append(a, o);
	}
	return a;
}

static json_t *json_site(const struct cache_misses *m,
			 const struct cache_misser *s)
{
	json_t *o = json_object(), *caches = json_array();

	put_location(o, s->place.function, s->place.file, s->place.line);
	put(o, "module", text(s->place.module));
	put(o, "offset", hex(s->place.offset));
	for (size_t i = 0; i < m->caches; i++) {
		json_t *c;

		if (!(misses_of(s, i) > 0))
			continue;
		c = json_object();
		put(c, "name", text(m->cache[i].name));
		put_count(c, "loads", (uint64_t)s->miss[i][0]);
		put_count(c, "stores", (uint64_t)s->miss[i][1]);
		append(caches, c);
	}
	put(o, "caches", caches);
	return o;
}

json_t *report_caches_json(struct report *out)
{
	const struct cache_misses *m = &out->reuse->streams.simulated;
	struct cache_part part = CACHE_PART_ALL;
	struct cache_missers missers;
	json_t *o, *sites;

	if (!m->caches)
		return NULL;
	o = json_object();
	sites = json_array();
	put(o, "caches", json_part(m, &part));
	put(o, "threads", json_threads(out, m));
	cache_missers_init(&missers, m, out->profile, out->symbols, &part);
	for (size_t i = 0; i < missers.missers; i++)
		append(sites, json_site(m, &missers.misser[i]));
	cache_missers_release(&missers);
	put(o, "sites", sites);
	return o;
}
