/* SPDX-License-Identifier: MIT */
/*
 * reuse_phases - how the locality of streams changed while they ran
 *
 * Records say which phase of its stream a use was in
 * (src/store/reuse_tally.h).
 */
#include <stddef.h>
#include <stdlib.h>

#include "reuse_phases.h"
#include "phases.h"
#include "reuse_record.h"
#include "analysis/base/util.h"
#include "src/store/reuse_tally.h"

enum {
	PHASES_MAX = 256, /* more are put together in twos, fours, ... */
	FEW = 10,         /* a tenth of the uses */
};

/* The accesses from start up to 2^bits after it; start is a multiple of that.
 */
struct phase_row {
	struct reuse_cell *whole;
	const struct reuse_row *row;
	uint32_t bits;
	uint64_t start;
};

/* What the rows of one phase say. */
struct part {
	uint32_t bits;
	uint64_t start;
	double weight; /* 0: its uses are in other parts */
	struct reuse_histogram histogram;
	struct locality locality;
};

static int by_whole(const void *a, const void *b)
{
	const struct phase_row *x = a, *y = b;

	return ((uintptr_t)x->whole > (uintptr_t)y->whole) -
	       ((uintptr_t)x->whole < (uintptr_t)y->whole);
}

static int by_phase(const void *a, const void *b)
{
	const struct phase_row *x = a, *y = b;

	if (x->bits != y->bits)
		return x->bits < y->bits ? -1 : 1;
	return (x->start > y->start) - (x->start < y->start);
}

static int by_start(const void *a, const void *b)
{
	const struct locality_phase *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static struct reuse_cell *whole_of(const struct reuse_cells *s,
				   const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	struct reuse_cell *c;

	if (r->kind != CDP_REUSE_BIN || !r->use_ip ||
	    r->granularity != REUSE_LINE || reuse_phase_bits(r->use_ip) > 63)
		return NULL;
	c = reuse_cells_find(
		s, row->process, REUSE_SAMPLED, r->scope, r->granularity,
		row->thread == ALL_THREADS ? -1 : (int64_t)row->thread,
		r->domain);
	return c && c->whole->locality ? c->whole : NULL;
}

/* Sort @row by phases of 2^@bits accesses or more; returns how many. */
static size_t sort_phases(struct phase_row *row, size_t rows, uint32_t bits)
{
	size_t n = 0;

	for (size_t i = 0; i < rows; i++) {
		uint64_t ip = row[i].row->record.use_ip;
		uint32_t own = reuse_phase_bits(ip);

		row[i].bits = own > bits ? own : bits;
		row[i].start = reuse_phase_start(ip) >> row[i].bits
								<< row[i].bits;
	}
	qsort(row, rows, sizeof(*row), by_phase);
	for (size_t i = 0; i < rows; i++)
		n += !i || by_phase(&row[i - 1], &row[i]);
	return n;
}

static void read_parts(const struct reuse_cells *s, const struct phase_row *row,
		       size_t rows, struct part *part)
{
	for (size_t i = 0; i < rows; i++) {
		struct reuse_mass m = reuse_record_mass(s->profile, row[i].row);

		part += i && by_phase(&row[i - 1], &row[i]);
		part->bits = row[i].bits;
		part->start = row[i].start;
		if (m.weight > 0 &&
		    reuse_record_add(&part->histogram, &row[i].row->record,
				     REUSE_SAMPLED, &m))
			part->weight += m.weight;
	}
}

static bool inside(const struct part *p, const struct part *of)
{
	return p->weight > 0 && p->start >> of->bits == of->start >> of->bits;
}

/* Add @share of @from to @to. */
static void add_share(struct part *to, const struct part *from, double share)
{
	struct reuse_mass *a = to->histogram.reuse;
	const struct reuse_mass *b = from->histogram.reuse;

	_Static_assert(offsetof(struct reuse_histogram, uses) ==
			       3 * REUSE_BINS * sizeof(*a),
		       "three arrays of masses");
	for (size_t i = 0; i < 3 * REUSE_BINS; i++) {
		struct reuse_mass m = b[i];

		m.weight *= share;
		m.squares *= share;
		m.offset *= share;
		m.offset_squares *= share;
		reuse_mass_merge(&a[i], &m);
	}
	to->weight += share * from->weight;
}

/*
 * Phases get longer as the stream goes on, and a use that is decided late is in
 * a phase of the length of that time. So phases may lie inside others. Spread a
 * few such uses over the phases inside, else make one phase of all.
 */
static void settle(struct part *part, size_t n)
{
	struct part *of = &part[n];
	double within = 0;

	for (size_t i = 0; i < n; i++)
		within += inside(&part[i], of) ? part[i].weight : 0;
	for (size_t i = 0; i < n && within > 0; i++) {
		if (!inside(&part[i], of))
			continue;
		if (of->weight * FEW < within) {
			add_share(&part[i], of, part[i].weight / within);
		} else {
			add_share(of, &part[i], 1);
			part[i].weight = 0;
		}
	}
	if (of->weight * FEW < within)
		of->weight = 0;
}

static void bend(const struct reuse_cells *s, struct phase_row *row,
		 size_t rows)
{
	struct locality_phase phase[PHASES_MAX];
	size_t parts, n = 0;
	struct part *part;
	uint32_t bits = 0;

	while ((parts = sort_phases(row, rows, bits)) > PHASES_MAX)
		bits++;
	part = xcalloc(parts, sizeof(*part));
	read_parts(s, row, rows, part);
	for (size_t i = 0; i < parts; i++)
		settle(part, i);
	for (size_t i = 0; i < parts; i++) {
		if (!(part[i].weight > 0))
			continue;
		locality_init(&part[i].locality, &part[i].histogram);
		phase[n].in = &part[i].locality;
		phase[n++].start = (double)part[i].start;
	}
	qsort(phase, n, sizeof(*phase), by_start);
	locality_bend(row->whole->locality, phase, n);
	free(part);
}

void reuse_phases_bend(struct reuse_cells *s)
{
	const struct profile *p = s->profile;
	struct phase_row *row = xcalloc(p->reuses + 1, sizeof(*row));
	size_t rows = 0, n;

	for (size_t k = 0; k < p->reuses; k++) {
		struct reuse_cell *whole = whole_of(s, &p->reuse[k]);

		if (whole)
			row[rows++] = (struct phase_row){ .whole = whole,
							  .row = &p->reuse[k] };
	}
	qsort(row, rows, sizeof(*row), by_whole);
	for (size_t i = 0; i < rows; i += n) {
		n = 1;
		while (i + n < rows && row[i + n].whole == row[i].whole)
			n++;
		bend(s, &row[i], n);
	}
	free(row);
}
