/* SPDX-License-Identifier: MIT */
/*
 * adjacent - predict whether an adjacent-line prefetcher pays
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "adjacent.h"
#include "span.h"
#include "analysis/base/util.h"

enum {
	HALVINGS = 60 /* steps of a bisection */
};

#define RD_MAX exp2(REUSE_TIME_BITS)

/* All accesses under one shared cache, by any thread. */
struct interleaved {
	uint32_t process, domain;
	struct reuse_histogram histogram;
	struct locality locality;
};

struct search {
	const struct reuse_streams *streams;
	enum reuse_basis basis;
	double llc_lines, private_lines;
	struct interleaved **under;
	size_t unders, unders_room;
	double *dram_from; /* rd, by cell of a thread; < 0: not known yet */
};

static bool has(const struct reuse_streams *s, enum reuse_basis basis,
		enum reuse_scope scope)
{
	return reuse_streams_find(s, basis, scope, REUSE_LINE) != NULL;
}

static bool has_both(const struct reuse_streams *s, enum reuse_basis basis)
{
	return has(s, basis, REUSE_PRIVATE) && has(s, basis, REUSE_SHARED);
}

const char *adjacent_lacks(const struct reuse_streams *s)
{
	for (size_t i = 0; i < s->profile->processes; i++)
		if (!strcmp(s->profile->process[i].header.period_unit, "ns"))
			return "its reuse times are in nanoseconds, but "
			       "accesses fill caches; record with a source "
			       "that counts them, such as -s emu";
	if (!has_both(s, REUSE_SAMPLED) && !has_both(s, REUSE_COUNTED))
		return "it has no reuses of lines within threads and between "
		       "them; record with -m reuse,shared";
	return NULL;
}

static double weight_of(const struct reuse_cell *c)
{
	return reuse_histogram_total(&c->histogram).weight;
}

/* The lines that all threads touch while @cell makes @rd accesses. */
static double lines_while(const struct search *x, const struct reuse_cell *cell,
			  double rd)
{
	double lines = 0, own = weight_of(cell);

	for (size_t i = 0; i < x->streams->cells.count; i++) {
		const struct reuse_cell *c = x->streams->cells.cell[i];

		if (c->process == cell->process && c->basis == x->basis &&
		    c->scope == REUSE_PRIVATE && c->locality)
			lines += locality_distance(c->locality,
						   rd * weight_of(c) / own);
	}
	return lines;
}

/* The reuse distance of @cell beyond which a line has left the cache. */
static double dram_from(const struct search *x, const struct reuse_cell *cell)
{
	double low = 0, high = RD_MAX;

	if (lines_while(x, cell, high) < x->llc_lines - 0.5)
		return INFINITY;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = low + (high - low) / 2;

		if (lines_while(x, cell, middle) < x->llc_lines - 0.5)
			low = middle;
		else
			high = middle;
	}
	return high;
}

static double thread_dram_from(struct search *x, const struct reuse_row *row)
{
	const struct reuse_streams *s = x->streams;
	int64_t thread = row->thread == ALL_THREADS ? -1 : (int64_t)row->thread;

	for (size_t i = 0; i < s->cells.count; i++) {
		const struct reuse_cell *c = s->cells.cell[i];

		if (c->process != row->process || c->basis != x->basis ||
		    c->scope != REUSE_PRIVATE || c->granularity != REUSE_LINE ||
		    c->thread != thread || !c->locality)
			continue;
		if (x->dram_from[i] < 0)
			x->dram_from[i] = dram_from(x, c);
		return x->dram_from[i];
	}
	return INFINITY;
}

static struct interleaved *get_under(struct search *x, uint32_t process,
				     uint32_t domain)
{
	struct interleaved *u;

	for (size_t i = 0; i < x->unders; i++)
		if (x->under[i]->process == process &&
		    x->under[i]->domain == domain)
			return x->under[i];
	u = xcalloc(1, sizeof(*u));
	u->process = process;
	u->domain = domain;
	x->under =
		grow(x->under, x->unders, &x->unders_room, sizeof(*x->under));
	x->under[x->unders++] = u;
	return u;
}

static bool of_lines(const struct search *x, const struct reuse_row *row,
		     enum reuse_scope scope)
{
	uint32_t kind =
		x->basis == REUSE_SAMPLED ? CDP_REUSE_BIN : CDP_REUSE_EXACT;

	return row->record.kind == kind && row->record.scope == scope &&
	       row->record.granularity == REUSE_LINE;
}

/*
 * Sum the reuses that shared caches see: from each access to the next one under
 * its cache, by the same core or by another.
 */
static void interleave(struct search *x)
{
	const struct profile *p = x->streams->profile;

	for (size_t i = 0; i < p->reuses; i++) {
		const struct reuse_row *row = &p->reuse[i];
		const struct cdp_reuse *r = &row->record;
		struct reuse_mass m = reuse_record_mass(p, row), *to;
		struct reuse_histogram *h;

		if (!of_lines(x, row, REUSE_SHARED) || !(m.weight > 0))
			continue;
		h = &get_under(x, row->process, r->domain)->histogram;
		if (r->outcome == REUSE_REUSED || r->outcome == REUSE_SAME_CORE)
			to = &h->reuse[r->bin];
		else if (r->outcome == REUSE_INVALIDATED)
			to = &h->invalidated[r->bin];
		else if (r->outcome == REUSE_DANGLING)
			to = &h->never[r->bin ? r->bin : REUSE_BINS - 1];
		else
			continue;
		reuse_mass_merge(to, &m);
	}
	for (size_t i = 0; i < x->unders; i++)
		locality_init(&x->under[i]->locality, &x->under[i]->histogram);
}

/* The uses that a rate counts, and all uses. */
struct sum {
	double weight, squares;
	struct reuse_mass all;
};

static void add(struct sum *s, const struct reuse_mass *m, double share)
{
	s->weight += share * m->weight;
	s->squares += share * m->squares;
}

static struct adjacent_estimate estimate(const struct sum *s)
{
	struct adjacent_estimate e = { .value = s->weight };
	double n = interval_effective(s->weight, s->squares), unit;

	e.by = (struct interval){ s->weight, s->weight };
	if (!(reuse_mass_variance(&s->all) > 0))
		return e;
	/* If no such use was seen, take the usual weight of one use. */
	unit = s->weight > 0 ? s->weight / n : s->all.squares / s->all.weight;
	e.by = interval_count(n);
	e.by.low *= unit;
	e.by.high *= unit;
	return e;
}

static void add_private(struct search *x, const struct reuse_row *row,
			struct sum *s)
{
	struct reuse_mass m = reuse_record_mass(x->streams->profile, row);
	struct locality_span span;

	if (!(m.weight > 0) || row->record.outcome == REUSE_COLD)
		return;
	s->all.weight += m.weight;
	s->all.squares += m.squares;
	if (row->record.outcome != REUSE_REUSED || !row->record.spatial)
		return;
	span = locality_span(&m, row->record.bin);
	add(s, &m, locality_span_above(span, thread_dram_from(x, row)));
}

static void add_shared(struct search *x, const struct reuse_row *row,
		       struct sum *s)
{
	struct reuse_mass m = reuse_record_mass(x->streams->profile, row);
	const struct cdp_reuse *r = &row->record;
	const struct interleaved *u;
	double out;

	if (!(m.weight > 0) || r->outcome == REUSE_COLD)
		return;
	s->all.weight += m.weight;
	s->all.squares += m.squares;
	if (r->outcome != REUSE_REUSED || !r->spatial ||
	    (r->pairing != REUSE_RAW && r->pairing != REUSE_WAW))
		return;
	u = get_under(x, row->process, r->domain);
	out = locality_reach(&u->locality, x->private_lines - 0.5);
	add(s, &m, 1 - locality_span_above(locality_span(&m, r->bin), out));
}

static double line_bytes_of(const struct reuse_streams *s)
{
	uint32_t bytes = profile_main_process(s->profile)->header.line_bytes;

	return bytes ? bytes : 64;
}

static double square(double x)
{
	return x * x;
}

/*
 * The limits of a product, and of a difference, from those of its independent
 * parts (Zou and Donner, Statistics in Medicine 27, 2008).
 */
static struct adjacent_estimate times(struct adjacent_estimate r,
				      const struct latency *l)
{
	double v = r.value * l->ns;

	return (struct adjacent_estimate){
		.value = v,
		.by = { v - hypot((r.value - r.by.low) * l->ns,
				  r.value * (l->ns - l->by.low)),
			v + hypot((r.by.high - r.value) * l->ns,
				  r.value * (l->by.high - l->ns)) },
	};
}

static struct adjacent_estimate minus(struct adjacent_estimate a,
				      struct adjacent_estimate b)
{
	double v = a.value - b.value;

	return (struct adjacent_estimate){
		.value = v,
		.by = { v - sqrt(square(a.value - a.by.low) +
				 square(b.by.high - b.value)),
			v + sqrt(square(a.by.high - a.value) +
				 square(b.value - b.by.low)) },
	};
}

static enum adjacent_verdict verdict_of(const struct adjacent *a)
{
	if (!(a->dram.value > 0) && !(a->sharing.value > 0))
		return ADJACENT_NOTHING;
	if (a->gain.by.low > 0)
		return ADJACENT_GAIN;
	return a->gain.by.high < 0 ? ADJACENT_LOSS : ADJACENT_OPEN;
}

void adjacent_predict(struct adjacent *a, const struct reuse_streams *s,
		      const struct adjacent_machine *m)
{
	struct search x = {
		.streams = s,
		.basis = has_both(s, REUSE_SAMPLED) ? REUSE_SAMPLED
						    : REUSE_COUNTED,
		.llc_lines = (double)m->llc_bytes / line_bytes_of(s),
		.private_lines = (double)m->private_bytes / line_bytes_of(s),
		.dram_from = xcalloc(s->cells.count, sizeof(*x.dram_from)),
	};
	struct sum dram = { 0 }, sharing = { 0 };

	for (size_t i = 0; i < s->cells.count; i++)
		x.dram_from[i] = -1;
	interleave(&x);
	for (size_t i = 0; i < s->profile->reuses; i++) {
		const struct reuse_row *row = &s->profile->reuse[i];

		if (of_lines(&x, row, REUSE_PRIVATE))
			add_private(&x, row, &dram);
		else if (of_lines(&x, row, REUSE_SHARED))
			add_shared(&x, row, &sharing);
	}
	a->dram = estimate(&dram);
	a->sharing = estimate(&sharing);
	a->accesses = dram.all.weight;
	a->gain = minus(times(a->dram, &m->dram),
			times(a->sharing, &m->transfer));
	a->verdict = verdict_of(a);
	for (size_t i = 0; i < x.unders; i++)
		free(x.under[i]);
	free(x.under);
	free(x.dram_from);
}
