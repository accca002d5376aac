/* SPDX-License-Identifier: MIT */
/*
 * estimate - transfers that were estimated from samples
 *
 * Where there are estimates, the report's JSON gives transfers instead of
 * detections. Threads are numbered within their process, by their start.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate.h"
#include "doubts.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/profile/estimate.h"
#include "src/base/interval.h"

bool report_is_estimate(const struct cdp_header *h)
{
	return !strcmp(h->algorithm, "epoch") || !strcmp(h->algorithm, "chain");
}

static int compare_places(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->a != y->a ? (x->a > y->a) - (x->a < y->a)
			    : (x->b > y->b) - (x->b < y->b);
}

static uint64_t whole(double x)
{
	return x >= 0x1p63 ? INT64_MAX : x > 0 ? (uint64_t)(x + 0.5) : 0;
}

/* The row of a process's thread is row[first[process] + number]. */
struct numbering {
	const struct profile *profile;
	size_t *first;
	uint32_t *row;
};

static void numbering_init(struct numbering *n, const struct profile *p)
{
	size_t at = 0;

	n->profile = p;
	n->first = xcalloc(p->processes + 1, sizeof(*n->first));
	n->row = xcalloc(p->threads, sizeof(*n->row));
	for (size_t i = 0; i < p->processes; i++) {
		n->first[i] = at;
		for (size_t k = 0; k < p->threads; k++)
			if (p->thread[k].process == i)
				n->row[at++] = k;
	}
	n->first[p->processes] = at;
}

static void numbering_release(struct numbering *n)
{
	free(n->first);
	free(n->row);
}

/* The row of a thread; -1 if there is none. Merged rows have no number. */
static int64_t row_of(const struct numbering *n, uint32_t process,
		      uint32_t number)
{
	size_t at = n->first[process] + number;

	if (n->profile->merged || at >= n->first[process + 1])
		return -1;
	return n->row[at];
}

/* Remove from @e what the report is not about; returns the sums of the rest. */
static struct transfer_cell take_asked(struct estimate *e,
				       const struct report *r)
{
	struct transfer_cell sum = e->total;
	struct numbering n;
	size_t kept = 0;

	if (r->thread < 0)
		return sum;
	memset(&sum, 0, sizeof(sum));
	numbering_init(&n, r->profile);
	for (size_t i = 0; i < e->cells; i++) {
		const struct estimate_cell *f = &e->cell[i];

		if (row_of(&n, f->process, f->a) != r->thread &&
		    row_of(&n, f->process, f->b) != r->thread)
			continue;
		for (int k = 0; k < TRANSFER_SHARES; k++)
			sum.share[k].sum += f->cell.share[k].sum;
		e->cell[kept++] = *f;
	}
	e->cells = kept;
	numbering_release(&n);
	return sum;
}

struct cell *report_estimate_cells(const struct report *r, size_t *n)
{
	struct numbering rows;
	struct estimate e;
	struct cell *cell;

	*n = 0;
	if (r->profile->merged || !estimate_load(&e, r->profile))
		return NULL;
	take_asked(&e, r);
	numbering_init(&rows, r->profile);
	cell = xcalloc(e.cells, sizeof(*cell));
	for (size_t i = 0; i < e.cells; i++) {
		const struct estimate_cell *f = &e.cell[i];
		const struct transfer_moment *m = f->cell.share;
		int64_t a = row_of(&rows, f->process, f->a);
		int64_t b = row_of(&rows, f->process, f->b);

		if (a < 0 || b < 0)
			continue;
		cell[*n].a = a < b ? a : b;
		cell[*n].b = a < b ? b : a;
		cell[*n].kind[SHARING_TRUE] = whole(m[TRANSFER_TRUE].sum);
		cell[*n].kind[SHARING_FALSE] = whole(m[TRANSFER_FALSE].sum);
		++*n;
	}
	if (*n)
		qsort(cell, *n, sizeof(*cell), compare_places);
	numbering_release(&rows);
	estimate_release(&e);
	return cell;
}

/* The interval of the part @m by its own samples. */
static struct interval part_interval(const struct estimate *e,
				     const struct transfer_moment *m)
{
	struct transfer_sampling s = e->sampling;

	s.systematic = 0;
	return transfer_interval(m, &s);
}

static double ratio(double part, double rest)
{
	return part + rest > 0 ? part / (part + rest) : 0;
}

/*
 * The share of false sharing, and its interval. Many samples of a few lines in
 * steady use may all be of one kind; then what there is of the other kind comes
 * from one sample or two, or from none. So each kind has its own interval, too.
 */
static struct interval false_share(const struct estimate *e,
				   const struct transfer_cell *c, double *share)
{
	double all = c->share[TRANSFER_ALL].sum, part, rest;
	double n = interval_effective(all, c->share[TRANSFER_ALL].square);
	struct interval v, f, t;

	*share = all > 0 ? c->share[TRANSFER_FALSE].sum / all : 0;
	*share = *share < 0 ? 0 : *share > 1 ? 1 : *share;
	v = interval_share(*share * n, n);
	if (!(all > 0))
		return v;
	f = part_interval(e, &c->share[TRANSFER_FALSE]);
	t = part_interval(e, &c->share[TRANSFER_TRUE]);
	part = *share * all;
	rest = all - part;
	v.low = fmin(v.low, fmin(ratio(f.low, rest), ratio(part, t.high)));
	v.high = fmax(v.high, fmax(ratio(f.high, rest), ratio(part, t.low)));
	return estimate_share_interval(e, v);
}

/* ", 3 % of that by false sharing (1 to 5 %)", and what padding avoids. */
static char *share_text(const struct estimate *e,
			const struct transfer_cell *sum)
{
	double share;
	struct interval f = false_share(e, sum, &share), a;
	char *published = xstrdup(percent_text(share, 1)), *text;

	if (e->avoidable < 0) {
		text = xasprintf(", %s of that by false sharing (%.0f to "
				 "%.0f %%)",
				 published, 100 * f.low, 100 * f.high);
	} else {
		a = estimate_avoidable_interval(e);
		text = xasprintf(". Padding would avoid %s of that (%.0f to "
				 "%.0f %%); by the published definition %s is "
				 "false sharing (%.0f to %.0f %%)",
				 percent_text(e->avoidable, 1), 100 * a.low,
				 100 * a.high, published, 100 * f.low,
				 100 * f.high);
	}
	free(published);
	return text;
}

char *report_estimate_answer(const struct report *r, bool *weak)
{
	struct transfer_cell sum;
	char *shares, *text;
	struct interval v;
	struct estimate e;
	double share, all;

	if (!estimate_load(&e, r->profile))
		return NULL;
	sum = take_asked(&e, r);
	*weak = estimate_is_weak(&e);
	estimate_release(&e);
	all = sum.share[TRANSFER_ALL].sum;
	false_share(&e, &sum, &share);
	if (r->thread >= 0)
		return xasprintf("It took part in %s transfers of cache lines "
				 "between threads (estimated), %s of them "
				 "false sharing.",
				 count_text(whole(all)),
				 percent_text(share, 1));
	v = estimate_interval(&e, &sum.share[TRANSFER_ALL]);
	shares = share_text(&e, &sum);
	text = xasprintf("Cache lines were moved between threads %s times "
			 "(estimated; 95 %% interval %s to %s)%s%s.",
			 count_text(whole(all)), count_text(whole(v.low)),
			 count_text(whole(v.high)), shares,
			 *weak ? ": few samples, a weak answer" : "");
	free(shares);
	return text;
}

static void print_cell(struct report *r, const struct estimate *e,
		       const struct estimate_cell *f, double total)
{
	const struct transfer_cell *c = &f->cell;
	double all = c->share[TRANSFER_ALL].sum;
	double of_false = c->share[TRANSFER_FALSE].sum;
	struct interval v = estimate_interval(e, &c->share[TRANSFER_ALL]);
	char range[64];

	snprintf(range, sizeof(range), "%s to %s", count_text(whole(v.low)),
		 count_text(whole(v.high)));
	fprintf(r->out, "  %5u %5u %13s %25s %7s %7s %7s%s\n", f->a, f->b,
		count_text(whole(all)), range, percent_text(all, total),
		percent_text(of_false > 0 ? of_false : 0, all),
		percent_text(c->a_to_b, all),
		c->samples < ESTIMATE_FEW_SAMPLES ? " ?" : "");
}

void report_estimate(struct report *r)
{
	struct transfer_cell sum;
	struct estimate e;
	bool few = false;

	if (!estimate_load(&e, r->profile))
		return;
	sum = take_asked(&e, r);
	report_heading(r,
		       "Transfers of cache lines between threads, estimated");
	fprintf(r->out, "%s  %5s %5s %13s %25s %7s %7s %7s%s\n",
		paint(r, PAINT_DIM), "a", "b", "transfers", "95 % interval",
		"of all", "false", "a to b", paint(r, PAINT_OFF));
	for (size_t i = 0; i < e.cells && i < r->top; i++) {
		print_cell(r, &e, &e.cell[i], sum.share[TRANSFER_ALL].sum);
		few |= e.cell[i].cell.samples < ESTIMATE_FEW_SAMPLES;
	}
	if (e.cells > r->top)
		fprintf(r->out, "  ... and %s more pairs\n",
			count_text(e.cells - r->top));
	fputs("  Threads by their start; a to b: stored by a, then accessed by "
	      "b.\n",
	      r->out);
	if (few)
		fprintf(r->out, "  ? fewer than %d samples: a weak figure.\n",
			ESTIMATE_FEW_SAMPLES);
	fputs("  Below, each detection is a watched transfer, which stands for "
	      "many.\n",
	      r->out);
	estimate_release(&e);
}

static json_t *json_moment(const struct estimate *e,
			   const struct transfer_cell *c,
			   enum transfer_share share)
{
	struct interval v = estimate_interval(e, &c->share[share]);
	json_t *o = json_object();

	put(o, "estimate", json_real(c->share[share].sum));
	put_interval(o, v);
	return o;
}

static json_t *json_false_share(const struct estimate *e)
{
	json_t *o = json_object();
	double share;
	struct interval v = false_share(e, &e->total, &share);

	put(o, "estimate", json_real(share));
	put_interval(o, v);
	return o;
}

static void put_avoidable(json_t *o, const struct estimate *e)
{
	struct interval v;
	json_t *share;

	if (e->avoidable < 0)
		return;
	v = estimate_avoidable_interval(e);
	share = json_object();
	put(share, "estimate", json_real(e->avoidable));
	put_interval(share, v);
	put(o, "avoidable_share", share);
}

static json_t *json_cell(const struct estimate *e,
			 const struct estimate_cell *f)
{
	const struct transfer_cell *c = &f->cell;
	struct interval v = estimate_interval(e, &c->share[TRANSFER_ALL]);
	json_t *o = json_object();

	put(o, "process", json_integer(f->process));
	put(o, "a", json_integer(f->a));
	put(o, "b", json_integer(f->b));
	put(o, "all", json_real(c->share[TRANSFER_ALL].sum));
	put(o, "true", json_real(c->share[TRANSFER_TRUE].sum));
	put(o, "false", json_real(c->share[TRANSFER_FALSE].sum));
	put(o, "a_to_b", json_real(c->a_to_b));
	put(o, "b_to_a", json_real(c->share[TRANSFER_ALL].sum - c->a_to_b));
	put_interval(o, v);
	put_count(o, "traps", c->seen);
	put_count(o, "samples", c->samples);
	return o;
}

json_t *report_estimate_json(const struct profile *p)
{
	json_t *o, *cells;
	struct estimate e;

	if (!estimate_load(&e, p))
		return NULL;
	o = json_object();
	cells = json_array();
	put(o, "quantity", json_string("transfers"));
	put(o, "estimator", text(e.process->header.algorithm));
	put(o, "unit", json_string("cache line transfers"));
	put(o, "interval_covers",
	    json_string(e.sampling.systematic > 0 ? "total" : "sampling"));
	put(o, "total", json_moment(&e, &e.total, TRANSFER_ALL));
	put(o, "true_sharing", json_moment(&e, &e.total, TRANSFER_TRUE));
	put(o, "false_sharing", json_moment(&e, &e.total, TRANSFER_FALSE));
	if (e.total.share[TRANSFER_ALL].sum > 0)
		put(o, "false_share", json_false_share(&e));
	put_avoidable(o, &e);
	put(o, "warnings", report_doubts_json(&e));
	put(o, "samples", json_real(e.sampling.samples));
	for (size_t i = 0; i < e.cells; i++)
		append(cells, json_cell(&e, &e.cell[i]));
	put(o, "cells", cells);
	estimate_release(&e);
	return o;
}
