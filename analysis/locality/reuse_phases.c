/* SPDX-License-Identifier: MIT */
/*
 * reuse_phases - how the locality of streams changed while they ran
 *
 * Records say which phase of its stream a use was in
 * (src/store/reuse_tally.h).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_phases.h"
#include "phases.h"
#include "reuse_record.h"
#include "analysis/base/util.h"
#include "src/store/reuse_tally.h"

struct phase_row {
	struct reuse_cell *whole;
	const struct reuse_row *row;
};

static int by_phase(const void *a, const void *b)
{
	const struct phase_row *x = a, *y = b;
	uint64_t p = x->row->record.use_ip, q = y->row->record.use_ip;

	if (x->whole != y->whole)
		return (uintptr_t)x->whole < (uintptr_t)y->whole ? -1 : 1;
	return (p > q) - (p < q);
}

static struct reuse_cell *whole_of(const struct reuse_cells *s,
				   const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	struct reuse_cell *c;

	if (r->kind != CDP_REUSE_BIN || !r->use_ip ||
	    r->granularity != REUSE_LINE)
		return NULL;
	c = reuse_cells_find(
		s, row->process, REUSE_SAMPLED, r->scope, r->granularity,
		row->thread == ALL_THREADS ? -1 : (int64_t)row->thread,
		r->domain);
	return c && c->whole->locality ? c->whole : NULL;
}

/* Add the rows of one phase, the first of @row; returns how many. */
static size_t add_phase(const struct reuse_cells *s,
			const struct phase_row *row, size_t rows,
			struct locality_phases *sum)
{
	static struct reuse_histogram h;
	static struct locality phase;
	uint64_t number = row->row->record.use_ip;
	size_t n = 0;

	memset(&h, 0, sizeof(h));
	for (; n < rows && row[n].whole == row->whole &&
	       row[n].row->record.use_ip == number;
	     n++) {
		struct reuse_mass m = reuse_record_mass(s->profile, row[n].row);

		if (m.weight > 0)
			reuse_record_add(&h, &row[n].row->record, REUSE_SAMPLED,
					 &m);
	}
	locality_init(&phase, &h);
	locality_phase(sum, row->whole->locality, &phase,
		       exp2(reuse_phase_bits(number)));
	return n;
}

void reuse_phases_bend(struct reuse_cells *s)
{
	const struct profile *p = s->profile;
	struct phase_row *row = xcalloc(p->reuses + 1, sizeof(*row));
	size_t rows = 0, i = 0;

	for (size_t k = 0; k < p->reuses; k++) {
		struct reuse_cell *whole = whole_of(s, &p->reuse[k]);

		if (whole)
			row[rows++] = (struct phase_row){ whole, &p->reuse[k] };
	}
	qsort(row, rows, sizeof(*row), by_phase);
	while (i < rows) {
		struct reuse_cell *whole = row[i].whole;
		struct locality_phases sum = { 0 };

		while (i < rows && row[i].whole == whole)
			i += add_phase(s, &row[i], rows - i, &sum);
		locality_bend(whole->locality, &sum);
	}
	free(row);
}
