/* SPDX-License-Identifier: MIT */
/*
 * reuse_streams - what a profile says of reuse, by stream
 */
#include <stdlib.h>
#include <string.h>

#include "reuse_streams.h"
#include "reuse_phases.h"
#include "analysis/base/util.h"

static bool of_kind(const struct reuse_stream *k, const struct reuse_cell *c)
{
	return c->ns == k->ns && c->basis == k->basis && c->scope == k->scope &&
	       c->granularity == k->granularity;
}

/*
 * Add a stream with those cells of a kind whose thread is @value or, unless
 * @by_thread, whose domain is @value. With @value -1 it has all cells of the
 * kind.
 */
static void add_stream(struct reuse_streams *s, const struct reuse_stream *kind,
		       bool by_thread, uint32_t process, int64_t value)
{
	struct reuse_stream *t;
	size_t room = 0;

	s->stream = grow(s->stream, s->streams, &s->streams_room,
			 sizeof(*s->stream));
	t = &s->stream[s->streams++];
	*t = *kind;
	t->thread = by_thread ? value : -1;
	t->domain = by_thread ? -1 : value;
	for (size_t i = 0; i < s->cells.count; i++) {
		struct reuse_cell *c = s->cells.cell[i];
		bool whole = c->whole == c;

		if (!of_kind(kind, c))
			continue;
		if (value < 0   ? !whole
		    : by_thread ? c->thread != value
				: !whole || c->domain != value ||
					  c->process != process)
			continue;
		t->cell = grow(t->cell, t->cells, &room, sizeof(*t->cell));
		t->cell[t->cells++] = c;
	}
}

static void add_kind(struct reuse_streams *s, const struct reuse_stream *kind)
{
	size_t wholes = 0, threads = 0;
	bool *seen = xcalloc(s->profile->threads + 1, sizeof(*seen));

	for (size_t i = 0; i < s->cells.count; i++) {
		const struct reuse_cell *c = s->cells.cell[i];

		if (!of_kind(kind, c))
			continue;
		wholes += c->whole == c;
		if (c->thread >= 0 && !seen[c->thread]) {
			seen[c->thread] = true;
			threads++;
		}
	}
	if (wholes)
		add_stream(s, kind, false, 0, -1);
	for (size_t i = 0; wholes > 1 && i < s->cells.count; i++) {
		const struct reuse_cell *c = s->cells.cell[i];

		if (of_kind(kind, c) && c->whole == c && c->domain >= 0)
			add_stream(s, kind, false, c->process, c->domain);
	}
	for (size_t i = 0; threads > 1 && i < s->profile->threads; i++)
		if (seen[i])
			add_stream(s, kind, true, 0, (int64_t)i);
	free(seen);
}

/* Add the streams in accesses, or those in ns. */
static void add_kinds(struct reuse_streams *s, bool ns)
{
	for (int basis = 0; basis < REUSE_BASES; basis++)
		for (int scope = 0; scope < REUSE_SCOPES; scope++)
			for (int g = 0; g < REUSE_GRANULARITIES; g++) {
				struct reuse_stream kind = {
					.basis = basis,
					.scope = scope,
					.granularity = g,
					.ns = ns,
				};

				add_kind(s, &kind);
			}
}

void reuse_streams_init(struct reuse_streams *s, const struct profile *p)
{
	memset(s, 0, sizeof(*s));
	s->profile = p;
	reuse_cells_init(&s->cells, p);
	if (!s->cells.count)
		return;
	reuse_phases_bend(&s->cells);
	add_kinds(s, false);
	add_kinds(s, true);
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i].reuse_resolution > s->resolution)
			s->resolution = p->thread[i].reuse_resolution;
	cache_misses_init(&s->simulated, p);
	s->caches =
		cache_misses_choose(&s->simulated, s->cache, &s->other_machine);
}

void reuse_streams_release(struct reuse_streams *s)
{
	reuse_cells_release(&s->cells);
	for (size_t i = 0; i < s->streams; i++)
		free(s->stream[i].cell);
	cache_misses_release(&s->simulated);
	free(s->stream);
	memset(s, 0, sizeof(*s));
}

const struct reuse_stream *reuse_streams_find(const struct reuse_streams *s,
					      enum reuse_basis basis,
					      enum reuse_scope scope,
					      enum reuse_granularity g)
{
	for (size_t i = 0; i < s->streams; i++) {
		const struct reuse_stream *t = &s->stream[i];

		if (t->basis == basis && t->scope == scope &&
		    t->granularity == g)
			return t;
	}
	return NULL;
}

void reuse_stream_sum(const struct reuse_stream *s, struct reuse_histogram *h,
		      struct reuse_sums *sums)
{
	memset(h, 0, sizeof(*h));
	if (sums)
		memset(sums, 0, sizeof(*sums));
	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];

		reuse_histogram_merge(h, &c->histogram);
		if (!sums)
			continue;
		sums->spatial += c->spatial;
		sums->own += c->own;
		sums->cold += c->cold;
		for (int k = 0; k < REUSE_PAIRINGS; k++)
			sums->pairing[k] += c->pairing[k];
	}
}
