/* SPDX-License-Identifier: MIT */
/*
 * reuse_json - the arrays "reuse" and "reuse_sites"
 * (docs/report-json.md)
 */
#include <math.h>

#include "reuse_json.h"
#include "reuse_paths.h"
#include "reuse_times.h"
#include "reuse_words.h"
#include "analysis/base/json_build.h"
#include "analysis/locality/reuse_misses.h"

/*
 * @m is the mass from @low to the end of @bin. Sampling leaves its share of all
 * uses uncertain; the limits of its weight are those of this share, times the
 * weight of all.
 */
static json_t *json_bin(const struct reuse_mass *m, uint64_t low, uint32_t bin,
			const struct reuse_mass *total, bool ns)
{
	struct interval v = reuse_share(m, total, ns);
	json_t *o = json_object();

	put_count(o, "low", low);
	put_count(o, "high", reuse_bin_high(bin));
	put(o, "weight", json_real(m->weight));
	if (low == reuse_bin_low(bin))
		put(o, "mean", json_real(reuse_mass_mean(m, bin)));
	put(o, "low95", json_real(v.low * total->weight));
	put(o, "high95", json_real(v.high * total->weight));
	return o;
}

/* Times below @resolution, which is 0 for accesses, share a bin. */
static json_t *json_bins(const struct reuse_histogram *h,
			 const struct reuse_mass *total, uint64_t resolution)
{
	struct reuse_mass below = { 0 };
	json_t *a = json_array();
	uint32_t i = 0;

	for (; i < REUSE_BINS && reuse_bin_low(i) < resolution; i++)
		reuse_mass_merge(&below, &h->reuse[i]);
	if (below.weight > 0)
		append(a, json_bin(&below, 0, i - 1, total, true));
	for (; i < REUSE_BINS; i++)
		if (h->reuse[i].weight > 0)
			append(a, json_bin(&h->reuse[i], reuse_bin_low(i), i,
					   total, resolution));
	return a;
}

/* Bins of distances: 0 to below 1, 1 to below 2, 2 to below 4 and so on. */
static json_t *json_distances(const struct reuse_stream *s, double weight)
{
	json_t *o = json_object(), *bins = json_array();
	double above = 1;

	put(o, "method",
	    json_string(s->basis == REUSE_DISTANCES ? "exact" : "statstack"));
	put(o, "unit", json_string("cache lines"));
	for (double low = 0, high = 1; high < exp2(REUSE_TIME_BITS);
	     low = high, high *= 2) {
		double from = reuse_stream_from(s, high);
		json_t *bin;

		if (above - from > 1e-12) {
			bin = json_object();
			put(bin, "low", json_integer((json_int_t)low));
			put(bin, "high", json_integer((json_int_t)high));
			put(bin, "weight", json_real((above - from) * weight));
			append(bins, bin);
		}
		above = from;
	}
	put(o, "bins", bins);
	return o;
}

/* @model: StatStack's curve where @m is exact, else NULL. */
static json_t *json_curve(const struct mrc *m, const struct mrc *model)
{
	json_t *a = json_array();

	for (int i = 0; i < MRC_POINTS; i += MRC_OCTAVE_POINTS) {
		const struct mrc_point *p = &m->point[i];
		json_t *o = json_object();

		put_count(o, "bytes", p->bytes);
		put(o, "lru", json_real(p->lru));
		put_interval(o, p->by);
		if (!isnan(p->random))
			put(o, "random", json_real(p->random));
		if (model)
			put(o, "statstack", json_real(model->point[i].lru));
		p = model ? &model->point[i] : p;
		if (!isnan(p->aet))
			put(o, "aet", json_real(p->aet));
		append(a, o);
	}
	return a;
}

static json_t *json_cache(const char *name, uint64_t bytes, double ratio,
			  struct interval by)
{
	json_t *o = json_object();

	put(o, "name", text(name));
	put_count(o, "bytes", bytes);
	put(o, "miss_ratio", json_real(ratio));
	put_interval(o, by);
	return o;
}

static json_t *json_caches(const struct reuse_streams *all,
			   const struct reuse_stream *s)
{
	struct mrc_cache cache[HOST_CACHES_MAX];
	size_t n = reuse_stream_caches(all, s, cache);
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++) {
		const struct host_cache *c = cache[i].cache;
		json_t *o = json_cache(c->name, c->bytes, cache[i].miss_ratio,
				       cache[i].by);
		double loads = reuse_stream_kind_ratio(s, c, false);
		double stores = reuse_stream_kind_ratio(s, c, true);

		put(o, "fully_associative", json_real(cache[i].whole));
		if (!isnan(cache[i].simulated))
			put(o, "simulated", json_real(cache[i].simulated));
		if (!isnan(loads))
			put(o, "loads", json_real(loads));
		if (!isnan(stores))
			put(o, "stores", json_real(stores));
		append(a, o);
	}
	return a;
}

/* The weights that miss in each cache that the scope covers. */
static json_t *json_misses(const struct reuse_streams *all,
			   const struct reuse_pair *p)
{
	json_t *o = json_object();

	for (size_t c = 0; c < all->caches; c++)
		if (reuse_scope_has_cache(all, p->scope, &all->cache[c]))
			put(o, all->cache[c].name, json_real(p->miss[c]));
	return o;
}

static json_t *json_pairs(const struct report_reuse *r,
			  const struct reuse_stream *s)
{
	const struct reuse_sites *sites = &r->sites;
	json_t *a = json_array();

	for (size_t i = 0; i < sites->pairs; i++) {
		const struct reuse_pair *p = &sites->pair[i];
		json_t *o;

		if (p->scope != s->scope || p->granularity != s->granularity ||
		    p->ns != s->ns || p->outcome != REUSE_REUSED ||
		    p->use == REUSE_NO_SITE || p->reuse == REUSE_NO_SITE)
			continue;
		o = json_object();
		put(o, "use", json_integer(p->use));
		put(o, "reuse", json_integer(p->reuse));
		put(o, "kind", json_string(reuse_pairing_name(p->pairing)));
		put(o, "weight", json_real(p->weight));
		put(o, "mean", json_real(p->sum / p->weight));
		if (reuse_stream_has_misses(s))
			put(o, "misses", json_misses(&r->streams, p));
		if (r->paths.pairs)
			put(o, "paths", reuse_paths_json(r, p));
		append(a, o);
	}
	return a;
}

static void put_kinds(json_t *o, const struct reuse_sums *sums)
{
	json_t *kinds = json_object();

	for (int i = 0; i < REUSE_PAIRINGS; i++)
		put(kinds, reuse_pairing_name(i), json_real(sums->pairing[i]));
	put(o, "kinds", kinds);
}

static void put_misses(json_t *o, const struct report_reuse *r,
		       const struct reuse_stream *s, double weight)
{
	const struct reuse_stream *counted =
		s->basis == REUSE_COUNTED
			? reuse_streams_distances(&r->streams, s)
			: NULL;
	struct mrc m, exact;

	reuse_stream_curve(&r->streams, s, &m);
	if (counted)
		reuse_stream_curve(&r->streams, counted, &exact);
	put(o, "stack_distance", json_distances(counted ? counted : s, weight));
	put(o, "miss_ratio_curve",
	    counted ? json_curve(&exact, &m) : json_curve(&m, NULL));
	put(o, "caches", json_caches(&r->streams, s));
}

/* The source clock counts nothing: all its numbers are estimates. */
static void put_units(json_t *o, const struct report_reuse *r,
		      const struct reuse_stream *s)
{
	put(o, "unit", json_string(s->ns ? "ns" : "accesses"));
	put(o, "weight_unit", json_string(s->ns ? "samples" : "accesses"));
	put(o, "estimated", json_boolean(s->ns));
	if (s->ns)
		put_count(o, "resolution", r->streams.resolution);
}

static json_t *json_stream(const struct report_reuse *r,
			   const struct reuse_stream *s)
{
	static struct reuse_histogram h;
	struct reuse_mass reused, total;
	struct reuse_sums sums;
	json_t *o = json_object();

	reuse_stream_sum(s, &h, &sums);
	total = reuse_histogram_total(&h);
	reused = reuse_histogram_reused(&h);
	put(o, "scope", json_string(reuse_scope_name(s->scope)));
	put(o, "granularity",
	    json_string(reuse_granularity_name(s->granularity)));
	if (s->thread >= 0)
		put(o, "thread", json_integer(s->thread));
	if (s->domain >= 0)
		put(o, "cache", json_integer(s->domain));
	put_units(o, r, s);
	put_count(o, "samples", h.uses);
	put(o, "weight", json_real(total.weight));
	put(o, "bins",
	    json_bins(&h, &total, s->ns ? r->streams.resolution : 0));
	put(o, "cold",
	    json_real(s->basis == REUSE_COUNTED
			      ? sums.cold
			      : reuse_histogram_never(&h).weight));
	put(o, "invalidated",
	    json_real(reuse_histogram_invalidated(&h).weight));
	put(o, "temporal", json_real(reused.weight - sums.spatial));
	put(o, "spatial", json_real(sums.spatial));
	put_kinds(o, &sums);
	if (s->scope == REUSE_SHARED)
		put(o, "same_core", json_real(sums.own));
	if (reuse_stream_has_misses(s))
		put_misses(o, r, s, total.weight);
	if (s->basis == REUSE_SAMPLED && report_reuse_shows(r, s))
		put(o, "pairs", json_pairs(r, s));
	return o;
}

json_t *report_reuse_json(const struct report_reuse *r, enum reuse_basis basis)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->streams.streams; i++)
		if (r->streams.stream[i].basis == basis)
			append(a, json_stream(r, &r->streams.stream[i]));
	if (json_array_size(a))
		return a;
	json_decref(a);
	return NULL;
}

/* Write the weights of uses without reuse, if there are any. */
static void put_ends(json_t *o, const struct reuse_site *s)
{
	json_t *ends = json_array();

	for (int i = 0; i < REUSE_SCOPES; i++)
		for (int g = 0; g < REUSE_GRANULARITIES; g++) {
			json_t *end;

			if (!(s->never[i][g] + s->taken[i][g] > 0))
				continue;
			end = json_object();
			put(end, "scope", json_string(reuse_scope_name(i)));
			put(end, "granularity",
			    json_string(reuse_granularity_name(g)));
			put(end, "never", json_real(s->never[i][g]));
			put(end, "invalidated", json_real(s->taken[i][g]));
			append(ends, end);
		}
	put(o, "ends", ends);
}

json_t *report_reuse_sites_json(const struct report_reuse *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->sites.sites; i++) {
		const struct reuse_site *s = &r->sites.site[i];
		json_t *o = json_object(), *caches = json_array();

		put_count(o, "id", i);
		put_location(o, s->place.function, s->place.file,
			     s->place.line);
		put(o, "module", text(s->place.module));
		put(o, "offset", hex(s->place.offset));
		for (size_t c = 0; c < r->streams.caches; c++) {
			struct interval by;
			double ratio;

			if (!reuse_site_ratio(s, c, &ratio, &by))
				continue;
			append(caches, json_cache(r->streams.cache[c].name,
						  r->streams.cache[c].bytes,
						  ratio, by));
		}
		put(o, "caches", caches);
		put_ends(o, s);
		append(a, o);
	}
	if (json_array_size(a))
		return a;
	json_decref(a);
	return NULL;
}
