/* SPDX-License-Identifier: MIT */
/*
 * over_time - when during a run which threads shared
 *
 * Files are untrusted: a slice that does not lie in the run is left out, and
 * sums saturate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "over_time.h"
#include "analysis/base/util.h"

/*
 * How long before the start of a file, and after the last sign of life in it,
 * something may have happened: a watcher makes the file when it reads a sample,
 * and a killed process may have been alive.
 */
#define SLACK_NS UINT64_C(1000000000)

enum {
	TESTED_MAX = 32,   /* pairs that are looked at for changes */
	BLOCK_EXPECTS = 5, /* detections in each part of the run, at least */
	PARTS_MIN = 4,
};
#define Z_MIN      4.5  /* one in 300,000; we look at up to 33 rows */
#define SPREAD_MIN 0.11 /* relative variance: a third of the mean, squared */

/* ns to add to times of process @s to have those of process @first. */
static uint64_t clock_offset(const struct process *first,
			     const struct process *s)
{
	const struct cdp_header *a = &first->header, *b = &s->header;

	if (!strcmp(a->boot_id, b->boot_id))
		return 0;
	return (b->start_real - b->start_mono) -
	       (a->start_real - a->start_mono);
}

static uint64_t offset_of(const struct profile *p, const struct slice_row *row)
{
	return clock_offset(&p->process[0], &p->process[row->process]);
}

static void find_run(struct over_time *o, const struct profile *p)
{
	o->start_ns = UINT64_MAX;
	for (size_t i = 0; i < p->processes; i++) {
		const struct cdp_header *h = &p->process[i].header;
		uint64_t by = clock_offset(&p->process[0], &p->process[i]);

		if (h->start_mono + by < o->start_ns)
			o->start_ns = h->start_mono + by;
		if (h->last_mono + by > o->end_ns)
			o->end_ns = h->last_mono + by;
	}
	o->first_ns = o->start_ns > SLACK_NS ? o->start_ns - SLACK_NS : 0;
	o->last_ns = sat_add(o->end_ns, SLACK_NS);
}

/* The beginning of slice @k of @row; false if it does not lie in the run. */
static bool slice_begins(const struct over_time *o, const struct profile *p,
			 const struct slice_row *row, uint32_t k,
			 uint64_t *begin)
{
	uint64_t at = ((row->first + k) << row->shift) + offset_of(p, row);
	uint64_t end = sat_add(at, UINT64_C(1) << row->shift);

	*begin = at;
	return at <= o->last_ns && end > o->first_ns;
}

/* The number of slice @k of @row among those of @o. */
static bool slice_of(const struct over_time *o, const struct profile *p,
		     const struct slice_row *row, uint32_t k, uint64_t *slice)
{
	uint64_t at;

	if (!row->count[k] || !slice_begins(o, p, row, k, &at))
		return false;
	/* One that begins before the run ends in it. */
	*slice = at > o->begin_ns ? (at - o->begin_ns) / o->slice_ns : 0;
	return *slice < o->slices;
}

/* Find the length at which the slices of all records fit. */
static void find_slices(struct over_time *o, const struct profile *p)
{
	uint32_t shift = CDP_SLICE_SHIFT_MIN;
	uint64_t start = o->start_ns, end = o->end_ns, at;
	bool any = false;

	for (size_t i = 0; i < p->slices; i++) {
		const struct slice_row *row = &p->slice[i];

		for (uint32_t k = 0; k < CDP_SLICES; k++) {
			if (!row->count[k] || !slice_begins(o, p, row, k, &at))
				continue;
			any = true;
			shift = row->shift > shift ? row->shift : shift;
			end = at > end ? at : end;
			if (at < start &&
			    at + (UINT64_C(1) << row->shift) <= o->start_ns)
				start = at;
		}
	}
	if (!any || start > end)
		return;
	o->start_ns = start;
	while ((end >> shift) - (o->start_ns >> shift) >= OVER_TIME_SLICES)
		shift++;
	o->end_ns = end;
	o->slice_ns = UINT64_C(1) << shift;
	o->begin_ns = o->start_ns >> shift << shift;
	o->slices = (uint32_t)((end - o->begin_ns) / o->slice_ns + 1);
}

static void add_row(const struct over_time *o, const struct profile *p,
		    const struct slice_row *row, struct time_cell *c)
{
	for (uint32_t k = 0; k < CDP_SLICES; k++) {
		uint64_t both = row->count[k], f = (uint32_t)both, t;
		uint64_t slice;

		if (!slice_of(o, p, row, k, &slice))
			continue;
		t = both >> 32;
		c->kind[SHARING_FALSE][slice] =
			sat_add(c->kind[SHARING_FALSE][slice], f);
		c->kind[SHARING_TRUE][slice] =
			sat_add(c->kind[SHARING_TRUE][slice], t);
		c->total = sat_add(c->total, f + t);
	}
}

static void add_samples(struct over_time *o, const struct profile *p,
			const struct slice_row *row)
{
	for (uint32_t k = 0; k < CDP_SLICES; k++) {
		uint64_t slice;

		if (slice_of(o, p, row, k, &slice))
			o->samples[slice] =
				sat_add(o->samples[slice], row->count[k]);
	}
}

static uint32_t low_of(const struct slice_row *r)
{
	return r->publisher < r->detector ? r->publisher : r->detector;
}

static uint32_t high_of(const struct slice_row *r)
{
	return r->publisher < r->detector ? r->detector : r->publisher;
}

static int by_pair(const void *x, const void *y, void *profile)
{
	const struct profile *p = profile;
	const struct slice_row *a = &p->slice[*(const uint32_t *)x];
	const struct slice_row *b = &p->slice[*(const uint32_t *)y];

	return low_of(a) != low_of(b) ? order_u64(low_of(a), low_of(b))
				      : order_u64(high_of(a), high_of(b));
}

/* Rows of one pair: a part of an index ordered by pair. */
struct group {
	size_t first, rows;
	uint32_t a, b;
	uint64_t total;
};

static int by_weight(const void *x, const void *y)
{
	const struct group *a = x, *b = y;

	if (a->total != b->total)
		return order_u64(b->total, a->total);
	return a->a != b->a ? order_u64(a->a, b->a) : order_u64(a->b, b->b);
}

/* Detections of @row in the run. */
static uint64_t weight_of(const struct over_time *o, const struct profile *p,
			  const struct slice_row *row)
{
	uint64_t n = 0, slice;

	for (uint32_t k = 0; k < CDP_SLICES; k++)
		if (slice_of(o, p, row, k, &slice))
			n += (row->count[k] >> 32) + (uint32_t)row->count[k];
	return n;
}

/* Pairs that shared, the busiest first; o->pairs says how many. */
static struct group *group_rows(struct over_time *o, const struct profile *p,
				uint32_t *index, size_t n)
{
	struct group *group = xcalloc(n + 1, sizeof(*group)), *g = group;
	size_t groups = 0;

	qsort_r(index, n, sizeof(*index), by_pair, (void *)p);
	for (size_t i = 0; i < n; i++) {
		const struct slice_row *row = &p->slice[index[i]];

		if (!i || by_pair(&index[i - 1], &index[i], (void *)p))
			*(g = &group[groups++]) = (struct group){
				.first = i, .a = low_of(row), .b = high_of(row)
			};
		g->rows++;
		g->total = sat_add(g->total, weight_of(o, p, row));
	}
	qsort(group, groups, sizeof(*group), by_weight);
	while (groups && !group[groups - 1].total)
		groups--;
	o->pairs = groups;
	return group;
}

static void fill_cells(struct over_time *o, const struct profile *p,
		       const struct group *group, const uint32_t *index)
{
	o->cells = o->pairs < OVER_TIME_CELLS ? o->pairs : OVER_TIME_CELLS;
	o->cell = xcalloc(o->cells + 1, sizeof(*o->cell));
	for (size_t i = 0; i < o->cells; i++) {
		const struct group *g = &group[i];

		o->cell[i].a = g->a;
		o->cell[i].b = g->b;
		for (size_t k = 0; k < g->rows; k++)
			add_row(o, p, &p->slice[index[g->first + k]],
				&o->cell[i]);
	}
}

/* The part of slice @i that lies in the run, ns. */
static double covered(const struct over_time *o, uint32_t i)
{
	uint64_t low = o->begin_ns + i * o->slice_ns, high = low + o->slice_ns;

	if (low < o->start_ns)
		low = o->start_ns;
	if (high > o->end_ns)
		high = o->end_ns;
	return high > low ? (double)(high - low) : 0;
}

/*
 * Pearson's chi-square of the detections in parts of the run that are long
 * enough, against their length; its normal deviate by Wilson and Hilferty. What
 * it has beyond its expectation is the variance of the rate.
 */
static bool is_spread(const struct over_time *o, const struct time_cell *c,
		      double design, bool *judged)
{
	double n = (double)c->total / design, chi = 0, whole = 0, free, third;
	double seen = 0, length = 0;
	uint32_t parts = o->slices, closed = 0;

	if (n / BLOCK_EXPECTS < parts)
		parts = (uint32_t)(n / BLOCK_EXPECTS);
	if (parts < PARTS_MIN)
		return false;
	for (uint32_t i = 0; i < o->slices; i++)
		whole += covered(o, i);
	for (uint32_t i = 0; i < o->slices; i++) {
		double expected;

		seen += (double)time_cell_at(c, i) / design;
		length += covered(o, i);
		expected = n * length / whole;
		/* What is left at the end is too short to say much. */
		if (expected < n / parts * 0.99)
			continue;
		chi += (seen - expected) * (seen - expected) / expected;
		seen = length = 0;
		closed++;
	}
	if (closed < PARTS_MIN)
		return false;
	*judged = true;
	free = closed - 1;
	third = 2 / (9 * free);
	return (cbrt(chi / free) - (1 - third)) / sqrt(third) > Z_MIN &&
	       (chi - free) / n > SPREAD_MIN;
}

static void judge(struct over_time *o, double design)
{
	bool judged;

	o->uneven = is_spread(o, &o->all, design, &o->judged);
	for (size_t i = 0; i < o->cells && i < TESTED_MAX; i++)
		o->uneven =
			is_spread(o, &o->cell[i], design, &judged) || o->uneven;
}

void over_time_init(struct over_time *o, const struct tally *t, int64_t thread)
{
	const struct profile *p = t->profile;
	uint64_t total = tally_total(t->kind);
	uint32_t *index;
	struct group *group;
	size_t n = 0;

	memset(o, 0, sizeof(*o));
	find_run(o, p);
	find_slices(o, p);
	if (!o->slices)
		return;
	index = xcalloc(p->slices, sizeof(*index));
	for (size_t i = 0; i < p->slices; i++) {
		const struct slice_row *row = &p->slice[i];

		if (row->samples) {
			add_samples(o, p, row);
			continue;
		}
		if (thread >= 0 && row->publisher != thread &&
		    row->detector != thread)
			continue;
		add_row(o, p, row, &o->all);
		if (row->publisher != NO_THREAD && row->detector != NO_THREAD)
			index[n++] = (uint32_t)i;
	}
	group = group_rows(o, p, index, n);
	fill_cells(o, p, group, index);
	free(group);
	free(index);
	o->outside = total > o->all.total ? total - o->all.total : 0;
	judge(o, t->design);
}

void over_time_release(struct over_time *o)
{
	free(o->cell);
	memset(o, 0, sizeof(*o));
}
