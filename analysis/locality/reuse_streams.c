/* SPDX-License-Identifier: MIT */
/*
 * reuse_streams - what a profile says of reuse, by stream
 */
#include <stdlib.h>
#include <string.h>

#include "reuse_streams.h"
#include "analysis/base/util.h"

const char *reuse_scope_name(enum reuse_scope scope)
{
	static const char *const names[] = {
		[REUSE_PRIVATE] = "private",
		[REUSE_SHARED] = "shared",
		[REUSE_GLOBAL] = "global",
	};

	return names[scope];
}

const char *reuse_granularity_name(enum reuse_granularity granularity)
{
	return granularity == REUSE_LINE ? "line" : "address";
}

double reuse_number(double x)
{
	return x > 0 && x < 1e30 ? x : 0;
}

bool reuse_in_ns(const struct cdp_header *h)
{
	return !strcmp(h->period_unit, "ns");
}

double reuse_record_scale(const struct profile *p, const struct reuse_row *r)
{
	const struct cdp_header *h = &p->process[r->process].header;

	/* A clock's period is time; its weights remain samples. */
	if (r->record.kind == CDP_REUSE_EXACT ||
	    r->record.kind == CDP_REUSE_STACK || !h->period || reuse_in_ns(h))
		return 1;
	return (double)h->period;
}

struct reuse_cell *reuse_streams_cell(const struct reuse_streams *s,
				      uint32_t process, enum reuse_basis basis,
				      enum reuse_scope scope,
				      enum reuse_granularity granularity,
				      int64_t thread, int64_t domain)
{
	if (scope == REUSE_PRIVATE)
		domain = -1;
	for (size_t i = 0; i < s->cells; i++) {
		struct reuse_cell *c = s->cell[i];

		if (c->process == process && c->basis == basis &&
		    c->scope == scope && c->granularity == granularity &&
		    c->thread == thread && c->domain == domain)
			return c;
	}
	return NULL;
}

static struct reuse_cell *get_cell(struct reuse_streams *s, uint32_t process,
				   enum reuse_basis basis,
				   enum reuse_scope scope,
				   enum reuse_granularity granularity,
				   int64_t thread, int64_t domain)
{
	struct reuse_cell *c = reuse_streams_cell(s, process, basis, scope,
						  granularity, thread, domain);

	if (c)
		return c;
	c = xcalloc(1, sizeof(*c));
	c->process = process;
	c->basis = basis;
	c->scope = scope;
	c->granularity = granularity;
	c->thread = thread;
	c->domain = scope == REUSE_PRIVATE ? -1 : domain;
	c->ns = reuse_in_ns(&s->profile->process[process].header);
	s->cell = grow(s->cell, s->cells, &s->cells_room, sizeof(*s->cell));
	s->cell[s->cells++] = c;
	return c;
}

struct reuse_mass reuse_record_mass(const struct profile *p,
				    const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	double scale = reuse_record_scale(p, row);
	struct reuse_mass m = {
		.weight = reuse_number(r->weight) * scale,
		.squares = reuse_number(r->squares) * scale * scale,
		.offset = reuse_number(r->offset) * scale,
		.offset_squares = reuse_number(r->offset_squares) * scale,
	};

	return m;
}

bool reuse_record_add(struct reuse_histogram *h, const struct cdp_reuse *r,
		      enum reuse_basis basis, const struct reuse_mass *m)
{
	uint32_t bin = r->bin;

	switch (r->outcome) {
	case REUSE_REUSED:
		reuse_mass_merge(&h->reuse[bin], m);
		break;
	case REUSE_INVALIDATED:
		reuse_mass_merge(&h->invalidated[bin], m);
		break;
	case REUSE_COLD:
		/* Times look forward, counted distances look back. */
		if (basis != REUSE_DISTANCES)
			return false;
		/* fall through */
	case REUSE_DANGLING:
		/* 0 is no time: when the end cut it off is not known. */
		bin = bin ? bin : REUSE_BINS - 1;
		reuse_mass_merge(&h->never[bin], m);
		break;
	default:
		return false;
	}
	h->uses = sat_add(h->uses, r->count);
	return true;
}

/* Is the access that decided a store, or the use if none did? */
static bool stores(const struct cdp_reuse *r)
{
	if (r->outcome == REUSE_REUSED)
		return r->pairing == REUSE_WAR || r->pairing == REUSE_WAW;
	return r->pairing == REUSE_RAW || r->pairing == REUSE_WAW;
}

static void take(struct reuse_streams *s, const struct reuse_row *row)
{
	static const enum reuse_basis bases[CDP_REUSE_KINDS] = {
		[CDP_REUSE_BIN] = REUSE_SAMPLED,
		[CDP_REUSE_EXACT] = REUSE_COUNTED,
		[CDP_REUSE_STACK] = REUSE_DISTANCES,
	};
	const struct cdp_reuse *r = &row->record;
	struct reuse_mass m = reuse_record_mass(s->profile, row);
	struct reuse_cell *c;
	struct reuse_histogram **kind;

	if (r->kind == CDP_REUSE_PAIR || r->kind == CDP_REUSE_PATHS ||
	    r->kind == CDP_REUSE_CACHE || !(m.weight > 0))
		return;
	c = get_cell(s, row->process, bases[r->kind], r->scope, r->granularity,
		     row->thread == ALL_THREADS ? -1 : (int64_t)row->thread,
		     r->domain);
	if (r->outcome == REUSE_COLD)
		c->cold += m.weight;
	if (r->outcome == REUSE_SAME_CORE)
		c->own += m.weight;
	if (!reuse_record_add(&c->histogram, r, c->basis, &m))
		return;
	if (r->outcome == REUSE_REUSED) {
		c->pairing[r->pairing] += m.weight;
		if (r->spatial)
			c->spatial += m.weight;
	}
	if (c->granularity != REUSE_LINE || c->scope == REUSE_SHARED ||
	    c->basis == REUSE_DISTANCES || c->ns)
		return;
	kind = &c->kind[stores(r)];
	if (!*kind)
		*kind = xcalloc(1, sizeof(**kind));
	reuse_record_add(*kind, r, c->basis, &m);
}

static void merge_cell(struct reuse_cell *to, const struct reuse_cell *from)
{
	reuse_histogram_merge(&to->histogram, &from->histogram);
	to->spatial += from->spatial;
	to->own += from->own;
	to->cold += from->cold;
	for (int i = 0; i < REUSE_PAIRINGS; i++)
		to->pairing[i] += from->pairing[i];
	for (int i = 0; i < 2; i++) {
		if (!from->kind[i])
			continue;
		if (!to->kind[i])
			to->kind[i] = xcalloc(1, sizeof(*to->kind[i]));
		reuse_histogram_merge(to->kind[i], from->kind[i]);
	}
}

/* The streams that distances are of: threads, or all threads under a cache. */
static void make_wholes(struct reuse_streams *s)
{
	size_t parts = s->cells;

	for (size_t i = 0; i < parts; i++) {
		struct reuse_cell *c = s->cell[i];

		if (c->scope == REUSE_PRIVATE || c->thread < 0) {
			c->whole = c;
			continue;
		}
		c->whole = get_cell(s, c->process, c->basis, c->scope,
				    c->granularity, -1, c->domain);
		c->whole->whole = c->whole;
		merge_cell(c->whole, c);
	}
	for (size_t i = 0; i < s->cells; i++) {
		struct reuse_cell *c = s->cell[i];

		if (c->whole != c || c->granularity != REUSE_LINE ||
		    c->scope == REUSE_SHARED || c->basis == REUSE_DISTANCES ||
		    c->ns)
			continue;
		c->locality = xcalloc(1, sizeof(*c->locality));
		locality_init(c->locality, &c->histogram);
	}
}

static bool of_kind(const struct reuse_stream *k, const struct reuse_cell *c)
{
	return c->ns == k->ns && c->basis == k->basis && c->scope == k->scope &&
	       c->granularity == k->granularity;
}

/*
 * The stream of those cells of a kind for which @key, thread or domain, is
 * @value; of all if @value is -1.
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
	for (size_t i = 0; i < s->cells; i++) {
		struct reuse_cell *c = s->cell[i];
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

	for (size_t i = 0; i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];

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
	for (size_t i = 0; wholes > 1 && i < s->cells; i++) {
		const struct reuse_cell *c = s->cell[i];

		if (of_kind(kind, c) && c->whole == c && c->domain >= 0)
			add_stream(s, kind, false, c->process, c->domain);
	}
	for (size_t i = 0; threads > 1 && i < s->profile->threads; i++)
		if (seen[i])
			add_stream(s, kind, true, 0, (int64_t)i);
	free(seen);
}

/* The streams of accesses, or those of time. */
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
	for (size_t i = 0; i < p->reuses; i++)
		take(s, &p->reuse[i]);
	if (!s->cells)
		return;
	make_wholes(s);
	reuse_streams_bend(s);
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
	for (size_t i = 0; i < s->cells; i++) {
		free(s->cell[i]->locality);
		free(s->cell[i]->kind[0]);
		free(s->cell[i]->kind[1]);
		free(s->cell[i]);
	}
	for (size_t i = 0; i < s->streams; i++)
		free(s->stream[i].cell);
	cache_misses_release(&s->simulated);
	free(s->cell);
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
