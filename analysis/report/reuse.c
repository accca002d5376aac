/* SPDX-License-Identifier: MIT */
/*
 * reuse - the streams, sites and paths that a report is about
 */
#include "reuse.h"

void report_reuse_init(struct report_reuse *r, const struct profile *p,
		       struct symbols *symbols,
		       const struct reuse_filter *filter)
{
	r->filter = *filter;
	reuse_streams_init(&r->streams, p);
	reuse_sites_init(&r->sites, &r->streams, symbols, filter);
	reuse_paths_init(&r->paths, &r->streams, symbols, &r->sites, filter);
	r->symbols = symbols;
}

void report_reuse_release(struct report_reuse *r)
{
	reuse_paths_release(&r->paths);
	reuse_sites_release(&r->sites);
	reuse_streams_release(&r->streams);
}

/* True if all cells that @s is made of belong to the thread @thread. */
static bool is_of_thread(const struct reuse_streams *all,
			 const struct reuse_stream *s, int64_t thread)
{
	bool found = false;

	for (size_t i = 0; i < all->cells.count; i++) {
		const struct reuse_cell *c = all->cells.cell[i];

		if (c->basis != s->basis || c->scope != s->scope ||
		    c->granularity != s->granularity || c->ns != s->ns ||
		    c->thread < 0)
			continue;
		if (c->thread != thread)
			return false;
		found = true;
	}
	return found;
}

bool report_reuse_shows(const struct report_reuse *r,
			const struct reuse_stream *s)
{
	if (s->domain >= 0)
		return false;
	/* A thread that is alone has no stream but that of all threads. */
	return s->thread == r->filter.thread ||
	       (s->thread < 0 &&
		is_of_thread(&r->streams, s, r->filter.thread));
}

const struct reuse_stream *report_reuse_find(const struct report_reuse *r,
					     enum reuse_basis basis,
					     enum reuse_scope scope,
					     enum reuse_granularity g)
{
	for (size_t i = 0; i < r->streams.streams; i++) {
		const struct reuse_stream *s = &r->streams.stream[i];

		if (s->basis == basis && s->scope == scope &&
		    s->granularity == g && report_reuse_shows(r, s))
			return s;
	}
	return NULL;
}

const struct reuse_stream *report_reuse_main(const struct report_reuse *r,
					     enum reuse_basis basis)
{
	static const enum reuse_scope scopes[] = { REUSE_PRIVATE, REUSE_GLOBAL,
						   REUSE_SHARED };

	for (int g = REUSE_GRANULARITIES - 1; g >= 0; g--)
		for (int i = 0; i < REUSE_SCOPES; i++) {
			const struct reuse_stream *s =
				report_reuse_find(r, basis, scopes[i], g);

			if (s)
				return s;
		}
	return NULL;
}
