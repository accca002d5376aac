/* SPDX-License-Identifier: MIT */
/*
 * reuse_svg - the miss ratio curves of a profile as a picture
 */
#include <stdlib.h>

#include "reuse_svg.h"
#include "reuse_words.h"
#include "analysis/base/util.h"
#include "analysis/locality/reuse_misses.h"

/* True if @s has a curve of its own. */
static bool has_curve(const struct report_reuse *r,
		      const struct reuse_stream *s)
{
	if (!report_reuse_shows(r, s) || !reuse_stream_has_misses(s))
		return false;
	/* Counted distances replace the converted ones of the same accesses. */
	if (s->basis == REUSE_DISTANCES)
		return false;
	/*
	 * With one thread, its own stream equals that of all threads under its
	 * cache.
	 */
	return s->scope == REUSE_PRIVATE ||
	       reuse_streams_threads(&r->streams) > 1 ||
	       !report_reuse_find(r, s->basis, REUSE_PRIVATE, s->granularity);
}

bool report_reuse_curves(const struct report_reuse *r)
{
	for (size_t i = 0; i < r->streams.streams; i++)
		if (has_curve(r, &r->streams.stream[i]))
			return true;
	return false;
}

static const char *name_of(const struct report_reuse *r,
			   const struct reuse_stream *s)
{
	char text[96];

	snprintf(text, sizeof(text), "%s, %s",
		 reuse_scope_text(s->scope, r->filter.thread),
		 s->basis == REUSE_SAMPLED ? "from samples"
					   : "every access counted");
	return safe_text(text);
}

void report_reuse_svg(FILE *f, const struct report_reuse *r)
{
	const struct reuse_streams *all = &r->streams;
	struct mrc *m = xcalloc(all->streams, sizeof(*m));
	struct mrc_named *curve = xcalloc(all->streams, sizeof(*curve));
	struct mrc_cache cache[HOST_CACHES_MAX];
	bool bands = false;
	char *title;
	size_t n = 0;

	for (size_t i = 0; i < all->streams; i++) {
		const struct reuse_stream *s = &all->stream[i];
		const struct reuse_stream *counted;

		if (!has_curve(r, s))
			continue;
		counted = s->basis == REUSE_COUNTED
				  ? reuse_streams_distances(all, s)
				  : NULL;
		reuse_stream_curve(all, counted ? counted : s, &m[n]);
		curve[n].mrc = &m[n];
		curve[n++].name = name_of(r, s);
		bands |= s->basis == REUSE_SAMPLED;
	}
	for (size_t i = 0; i < all->caches; i++)
		cache[i] = (struct mrc_cache){ .cache = &all->cache[i] };
	title = xasprintf(
		"%s: miss ratio by cache size (LRU)%s",
		base_name(profile_main_process(all->profile)->header.exe),
		bands ? "; shaded: 95 % interval, of sampling alone" : "");
	mrc_svg(f, title, curve, n, cache, all->caches);
	free(title);
	free(curve);
	free(m);
}
