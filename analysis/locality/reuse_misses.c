/* SPDX-License-Identifier: MIT */
/*
 * reuse_misses - what the streams of a profile miss
 */
#include <math.h>

#include "reuse_misses.h"
#include "binomial.h"

bool reuse_stream_has_misses(const struct reuse_stream *s)
{
	return s->granularity == REUSE_LINE && s->scope != REUSE_SHARED &&
	       !s->ns;
}

static double weight_of(const struct reuse_cell *c)
{
	return reuse_histogram_total(&c->histogram).weight;
}

static uint32_t line_bytes_of(const struct reuse_streams *s,
			      const struct reuse_cell *c)
{
	return s->profile->process[c->process].header.line_bytes;
}

void reuse_stream_curve(const struct reuse_streams *all,
			const struct reuse_stream *s, struct mrc *m)
{
	double weight = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];
		struct mrc one;

		if (s->basis == REUSE_DISTANCES)
			mrc_of_distances(&one, &c->histogram,
					 line_bytes_of(all, c));
		else
			mrc_compute(&one, c->whole->locality, &c->histogram,
				    line_bytes_of(all, c));
		mrc_add(m, weight, &one, weight_of(c));
		weight += weight_of(c);
	}
}

double reuse_stream_from(const struct reuse_stream *s, double lines)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];
		double w = weight_of(c);

		weight += w;
		if (s->basis == REUSE_DISTANCES)
			sum += w * mrc_distances_from(&c->histogram, lines);
		else
			sum += w * locality_miss_stack(c->whole->locality,
						       &c->histogram, lines);
	}
	return weight > 0 ? sum / weight : 0;
}

const struct reuse_stream *reuse_streams_distances(
	const struct reuse_streams *s, const struct reuse_stream *of)
{
	for (size_t i = 0; i < s->streams; i++) {
		const struct reuse_stream *t = &s->stream[i];

		if (t->basis == REUSE_DISTANCES && t->scope == of->scope &&
		    t->granularity == of->granularity &&
		    t->thread == of->thread && t->domain == of->domain)
			return t;
	}
	return NULL;
}

size_t reuse_streams_threads(const struct reuse_streams *s)
{
	int64_t first = -1;

	for (size_t i = 0; i < s->cells.count; i++) {
		int64_t thread = s->cells.cell[i]->thread;

		if (thread < 0 || thread == first)
			continue;
		if (first >= 0)
			return 2;
		first = thread;
	}
	return first >= 0;
}

bool reuse_scope_has_cache(const struct reuse_streams *s,
			   enum reuse_scope scope,
			   const struct host_cache *cache)
{
	if (scope == REUSE_SHARED)
		return false;
	if (reuse_streams_threads(s) == 1)
		return true;
	return cache->shared == (scope == REUSE_GLOBAL);
}

static struct mrc_cache cache_of(const struct reuse_stream *s,
				 const struct host_cache *cache)
{
	struct mrc_cache sum = { .cache = cache };
	double weight = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];
		struct mrc_cache one =
			mrc_cache(c->whole->locality, &c->histogram, cache);

		mrc_cache_add(&sum, weight, &one, weight_of(c));
		weight += weight_of(c);
	}
	return sum;
}

double reuse_stream_kind_ratio(const struct reuse_stream *s,
			       const struct host_cache *cache, bool of_stores)
{
	double sum = 0, weight = 0;

	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];
		const struct reuse_histogram *part = c->kind[of_stores];
		double w = part ? reuse_histogram_total(part).weight : 0;

		if (!(w > 0))
			continue;
		sum += w * locality_miss_ways(c->whole->locality, part,
					      cache->sets,
					      host_cache_ways(cache));
		weight += w;
	}
	return weight > 0 ? sum / weight : NAN;
}

bool reuse_stream_simulated(const struct reuse_streams *all,
			    const struct reuse_stream *s,
			    const struct host_cache *cache,
			    struct cache_count *c)
{
	struct cache_part part = {
		.thread = s->thread,
		.process = s->domain < 0 ? -1 : (int64_t)s->cell[0]->process,
		.domain = s->domain,
	};

	return cache_misses_count(&all->simulated, cache, &part, c);
}

/*
 * Where stack distances were counted, the misses of a fully associative cache
 * are known exactly; the model only adds the effect of the sets.
 */
static void settle_whole(const struct reuse_streams *all,
			 const struct reuse_stream *s, struct mrc_cache *c)
{
	const struct reuse_stream *distances =
		s->basis == REUSE_COUNTED ? reuse_streams_distances(all, s)
					  : NULL;
	double lines = (double)(c->cache->bytes / c->cache->line_bytes);
	double moved;

	if (!distances)
		return;
	moved = reuse_stream_from(distances, lines) - c->whole;
	c->whole += moved;
	c->miss_ratio = fmin(1, fmax(0, c->miss_ratio + moved));
	c->by = (struct interval){ c->miss_ratio, c->miss_ratio };
}

size_t reuse_stream_caches(const struct reuse_streams *all,
			   const struct reuse_stream *s,
			   struct mrc_cache cache[HOST_CACHES_MAX])
{
	size_t n = 0;

	if (!reuse_stream_has_misses(s) || s->basis == REUSE_DISTANCES)
		return 0;
	for (size_t i = 0; i < all->caches; i++) {
		struct mrc_cache *c = &cache[n];
		struct cache_count count;

		if (!reuse_scope_has_cache(all, s->scope, &all->cache[i]))
			continue;
		*c = cache_of(s, &all->cache[i]);
		settle_whole(all, s, c);
		if (n && c->miss_ratio > c[-1].miss_ratio) {
			c->miss_ratio = c[-1].miss_ratio;
			c->by = c[-1].by;
		}
		if (reuse_stream_simulated(all, s, c->cache, &count))
			c->simulated = cache_miss_ratio(&count);
		n++;
	}
	return n;
}
