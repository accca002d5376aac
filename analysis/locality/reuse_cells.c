/* SPDX-License-Identifier: MIT */
/*
 * reuse_cells - the reuse records of a profile, summed by thread and cache
 */
#include <stdlib.h>
#include <string.h>

#include "reuse_cells.h"
#include "reuse_record.h"
#include "analysis/base/util.h"

struct reuse_cell *reuse_cells_find(const struct reuse_cells *s,
				    uint32_t process, enum reuse_basis basis,
				    enum reuse_scope scope,
				    enum reuse_granularity granularity,
				    int64_t thread, int64_t domain)
{
	if (scope == REUSE_PRIVATE)
		domain = -1;
	for (size_t i = 0; i < s->count; i++) {
		struct reuse_cell *c = s->cell[i];

		if (c->process == process && c->basis == basis &&
		    c->scope == scope && c->granularity == granularity &&
		    c->thread == thread && c->domain == domain)
			return c;
	}
	return NULL;
}

static struct reuse_cell *get_cell(struct reuse_cells *s, uint32_t process,
				   enum reuse_basis basis,
				   enum reuse_scope scope,
				   enum reuse_granularity granularity,
				   int64_t thread, int64_t domain)
{
	struct reuse_cell *c = reuse_cells_find(s, process, basis, scope,
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
	s->cell = grow(s->cell, s->count, &s->room, sizeof(*s->cell));
	s->cell[s->count++] = c;
	return c;
}

/*
 * True if the deciding access is a store: the reuse or, without one, the use.
 */
static bool stores(const struct cdp_reuse *r)
{
	if (r->outcome == REUSE_REUSED)
		return r->pairing == REUSE_WAR || r->pairing == REUSE_WAW;
	return r->pairing == REUSE_RAW || r->pairing == REUSE_WAW;
}

static void take(struct reuse_cells *s, const struct reuse_row *row)
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

/*
 * Make the streams that distances are computed for: each thread, or all threads
 * under a cache.
 */
static void make_wholes(struct reuse_cells *s)
{
	size_t parts = s->count;

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
	for (size_t i = 0; i < s->count; i++) {
		struct reuse_cell *c = s->cell[i];

		if (c->whole != c || c->granularity != REUSE_LINE ||
		    c->scope == REUSE_SHARED || c->basis == REUSE_DISTANCES ||
		    c->ns)
			continue;
		c->locality = xcalloc(1, sizeof(*c->locality));
		locality_init(c->locality, &c->histogram);
	}
}

void reuse_cells_init(struct reuse_cells *s, const struct profile *p)
{
	memset(s, 0, sizeof(*s));
	s->profile = p;
	for (size_t i = 0; i < p->reuses; i++)
		take(s, &p->reuse[i]);
	make_wholes(s);
}

void reuse_cells_release(struct reuse_cells *s)
{
	for (size_t i = 0; i < s->count; i++) {
		free(s->cell[i]->locality);
		free(s->cell[i]->kind[0]);
		free(s->cell[i]->kind[1]);
		free(s->cell[i]);
	}
	free(s->cell);
	memset(s, 0, sizeof(*s));
}
