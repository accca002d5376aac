/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "analysis/base/util.h"

#define MISS 0.05

/* The counts @of each run of @s; the caller frees them. */
static struct run_count *counts_of(const struct side *s, enum quantity q)
{
	struct run_count *c = xcalloc(s->runs, sizeof(*c));

	for (size_t i = 0; i < s->runs; i++)
		c[i] = s->run[i].count[q];
	return c;
}

static struct run_count *place_counts(const struct side *s,
				      enum place_kind kind, const char *name)
{
	struct run_count *c = xcalloc(s->runs, sizeof(*c));

	for (size_t i = 0; i < s->runs; i++)
		c[i] = run_place(&s->run[i], kind, name);
	return c;
}

static struct comparison compare_sides(struct run_count *a, size_t n,
				       struct run_count *b, size_t m,
				       double level)
{
	struct comparison c = compare_rates(a, n, b, m, level);

	free(a);
	free(b);
	return c;
}

static struct comparison compare_cpu(const struct side *a, const struct side *b)
{
	double *x = xcalloc(a->runs, sizeof(*x));
	double *y = xcalloc(b->runs, sizeof(*y));
	struct comparison c;

	for (size_t i = 0; i < a->runs; i++)
		x[i] = a->run[i].cpu_s;
	for (size_t i = 0; i < b->runs; i++)
		y[i] = b->run[i].cpu_s;
	c = compare_values(x, a->runs, y, b->runs, MISS);
	free(x);
	free(y);
	return c;
}

static int compare_names(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static void add_rows(void *to, const void *from)
{
	struct diff_row *x = to;
	const struct diff_row *y = from;

	x->detections += y->detections;
}

static int compare_weights(const void *a, const void *b)
{
	const struct diff_row *x = a, *y = b;

	if (x->detections != y->detections)
		return x->detections > y->detections ? -1 : 1;
	return strcmp(x->name, y->name);
}

static size_t add_names(struct diff_row *row, size_t n, const struct side *s,
			enum place_kind kind)
{
	for (size_t i = 0; i < s->runs; i++)
		for (size_t k = 0; k < s->run[i].places; k++) {
			const struct place_count *p = &s->run[i].place[k];

			if (p->kind == kind && p->detections > 0)
				row[n++] = (struct diff_row){
					.name = p->name,
					.detections = p->detections
				};
		}
	return n;
}

static size_t places_of(const struct side *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->runs; i++)
		n += s->run[i].places;
	return n;
}

static void compare_places(struct diff *d, enum place_kind kind)
{
	const struct side *a = d->before, *b = d->after;
	struct diff_row *row =
		xcalloc(places_of(a) + places_of(b) + 1, sizeof(*row));
	size_t n = add_names(row, add_names(row, 0, a, kind), b, kind);

	n = unite(row, n, sizeof(*row), compare_names, add_rows);
	qsort(row, n, sizeof(*row), compare_weights);
	for (size_t i = 0; i < n; i++)
		row[i].c = compare_sides(place_counts(a, kind, row[i].name),
					 a->runs,
					 place_counts(b, kind, row[i].name),
					 b->runs, MISS / (double)n);
	d->place[kind] = row;
	d->places[kind] = n;
}

static bool has_transfers(const struct side *s)
{
	for (size_t i = 0; i < s->runs; i++)
		if (!s->run[i].transfers)
			return false;
	return true;
}

void diff_init(struct diff *d, struct side *before, struct side *after)
{
	*d = (struct diff){ .before = before, .after = after };
	d->transfers = has_transfers(before) && has_transfers(after);
	if (!d->transfers) {
		side_use_detections(before);
		side_use_detections(after);
	}
	for (int q = 0; q < QUANTITIES; q++)
		d->quantity[q] =
			compare_sides(counts_of(before, q), before->runs,
				      counts_of(after, q), after->runs, MISS);
	d->cpu_s = compare_cpu(before, after);
	for (int k = 0; k < PLACE_KINDS; k++)
		compare_places(d, k);
}

void diff_release(struct diff *d)
{
	for (int k = 0; k < PLACE_KINDS; k++)
		free(d->place[k]);
}

static char *unlike_runs(const struct run *a, const struct run *b)
{
	if (strcmp(a->source, b->source) != 0)
		return xasprintf("%s was recorded with source %s, %s with %s",
				 safe_text(a->dir), safe_text(a->source),
				 safe_text(b->dir), safe_text(b->source));
	if (strcmp(a->algorithm, b->algorithm) != 0)
		return xasprintf("%s was recorded with the algorithm %s, %s "
				 "with %s",
				 safe_text(a->dir), safe_text(a->algorithm),
				 safe_text(b->dir), safe_text(b->algorithm));
	if (a->registers != b->registers)
		return xasprintf("%s was recorded with %u debug registers, %s "
				 "with %u",
				 safe_text(a->dir), a->registers,
				 safe_text(b->dir), b->registers);
	return NULL;
}

char *diff_unlike(const struct side *before, const struct side *after)
{
	const struct run *first = &before->run[0];
	char *why = NULL;

	for (size_t i = 1; !why && i < before->runs; i++)
		why = unlike_runs(first, &before->run[i]);
	for (size_t i = 0; !why && i < after->runs; i++)
		why = unlike_runs(first, &after->run[i]);
	return why;
}

double diff_share(const struct side *s, enum quantity q, struct interval *by)
{
	double part = 0, whole = 0;

	for (size_t i = 0; i < s->runs; i++) {
		const struct run_count *c = s->run[i].count;

		/* What was judged has an exposure of its own. */
		if (!(c[QUANTITY_ALL].exposure > 0))
			continue;
		part += c[q].events;
		whole += c[QUANTITY_ALL].events * c[q].exposure /
			 c[QUANTITY_ALL].exposure;
	}
	*by = interval_share(part < whole ? part : whole, whole);
	return whole > 0 ? fmin(1, part / whole) : NAN;
}
