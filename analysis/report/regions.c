/* SPDX-License-Identifier: MIT */
/*
 * regions - samples and detections by the regions that the program names
 */
#include <stdlib.h>
#include <string.h>

#include "regions.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	NAME_COLUMNS = 28
};

struct row {
	const char *name; /* NULL: in no region */
	uint64_t samples[SAMPLE_KINDS];
	uint64_t kind[SHARING_KINDS];
	uint64_t avoidable, judged;
};

static uint64_t samples_of(const struct row *g)
{
	return sat_add(g->samples[SAMPLE_UNIFORM], g->samples[SAMPLE_STALLED]);
}

static int by_name(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	return strcmp(x->name, y->name);
}

static int by_weight(const void *a, const void *b)
{
	const struct row *x = a, *y = b;
	int n = order_u64(tally_total(y->kind), tally_total(x->kind));

	if (!n)
		n = order_u64(samples_of(y), samples_of(x));
	return n ? n : by_name(a, b);
}

static void add(struct row *to, const struct row *from)
{
	for (int k = 0; k < SAMPLE_KINDS; k++)
		to->samples[k] = sat_add(to->samples[k], from->samples[k]);
	for (int k = 0; k < SHARING_KINDS; k++)
		to->kind[k] = sat_add(to->kind[k], from->kind[k]);
	to->avoidable = sat_add(to->avoidable, from->avoidable);
	to->judged = sat_add(to->judged, from->judged);
}

static uint64_t less(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

/* What the profile has beyond the @n rows of regions. */
static struct row outside(const struct report *r, const struct row *g, size_t n)
{
	const struct profile *p = r->profile;
	struct row in = { 0 }, all = { 0 };

	for (size_t i = 0; i < n; i++)
		add(&in, &g[i]);
	for (size_t i = 0; i < p->threads; i++)
		for (int k = 0; k < SAMPLE_KINDS; k++)
			all.samples[k] = sat_add(all.samples[k],
						 p->thread[i].samples[k]);
	for (size_t i = 0; i < p->pairs; i++) {
		const struct pair_row *d = &p->pair[i];

		all.kind[d->sharing] = sat_add(all.kind[d->sharing], d->count);
		all.avoidable = sat_add(all.avoidable, d->avoidable);
		all.judged = sat_add(all.judged, d->judged);
	}
	for (int k = 0; k < SAMPLE_KINDS; k++)
		all.samples[k] = less(all.samples[k], in.samples[k]);
	for (int k = 0; k < SHARING_KINDS; k++)
		all.kind[k] = less(all.kind[k], in.kind[k]);
	all.judged = less(all.judged, in.judged);
	all.avoidable = less(all.avoidable, in.avoidable);
	if (all.avoidable > all.judged)
		all.avoidable = all.judged;
	return all;
}

static struct row row_of(const struct cdp_memory_region *g)
{
	uint64_t judged = sat_add(g->avoidable, g->unavoidable);
	struct row row = { .name = g->name };

	memcpy(row.samples, g->samples, sizeof(row.samples));
	memcpy(row.kind, g->detections, sizeof(row.kind));
	if (judged <= tally_total(row.kind)) { /* else it is damaged */
		row.avoidable = g->avoidable;
		row.judged = judged;
	}
	return row;
}

/* The rows, of *@n regions and one for the rest; to be freed. NULL: none. */
static struct row *collect(const struct report *r, size_t *n)
{
	const struct profile *p = r->profile;
	struct row *row = NULL;
	size_t room = 0, rows = 0, kept = 0;

	*n = 0;
	for (size_t i = 0; r->thread < 0 && i < p->processes; i++)
		for (size_t k = 0; k < p->process[i].regions; k++) {
			row = grow(row, rows, &room, sizeof(*row));
			row[rows++] = row_of(&p->process[i].region[k]);
		}
	if (!rows)
		return NULL;
	qsort(row, rows, sizeof(*row), by_name);
	for (size_t i = 0; i < rows; i++)
		if (kept && !by_name(&row[kept - 1], &row[i]))
			add(&row[kept - 1], &row[i]);
		else
			row[kept++] = row[i];
	qsort(row, kept, sizeof(*row), by_weight);
	row = grow(row, kept, &room, sizeof(*row));
	row[kept] = outside(r, row, kept);
	*n = kept;
	return row;
}

static void print_row(struct report *r, const struct row *g, uint64_t samples)
{
	const char *name = g->name ? cut_text(safe_text(g->name), NAME_COLUMNS)
				   : "(in no region)";

	fprintf(r->out, "%9s %7s %10s %8s %8s %9s  %s\n",
		count_text(samples_of(g)),
		samples ? percent_text(samples_of(g), samples) : "-",
		count_text(tally_total(g->kind)),
		count_text(g->kind[SHARING_FALSE]),
		count_text(g->kind[SHARING_TRUE]),
		g->judged ? percent_text(g->avoidable, g->judged) : "-", name);
}

void report_regions(struct report *r)
{
	uint64_t samples = 0;
	size_t n;
	struct row *row = collect(r, &n);

	if (!row)
		return;
	for (size_t i = 0; i <= n; i++)
		samples = sat_add(samples, samples_of(&row[i]));
	report_heading(r, "Regions (that the program names)");
	fprintf(r->out, "%s%9s %7s %10s %8s %8s %9s  %s%s\n",
		paint(r, PAINT_DIM), "samples", "of all", "detections", "false",
		"true", "avoidable", "region", paint(r, PAINT_OFF));
	for (size_t i = 0; i < n && i < r->top; i++)
		print_row(r, &row[i], samples);
	report_more(r, n);
	print_row(r, &row[n], samples);
	fputs("  Each counts for the innermost region that the sampled thread "
	      "was in.\n",
	      r->out);
	free(row);
}

void report_regions_json(const struct report *r, json_t *o)
{
	size_t n;
	struct row *row = collect(r, &n);
	json_t *a;

	if (!row)
		return;
	a = json_array();
	for (size_t i = 0; i <= n; i++) {
		const struct row *g = &row[i];
		json_t *samples = json_object(), *region = json_object();

		if (g->name)
			put(region, "name", text(g->name));
		put_count(samples, "uniform", g->samples[SAMPLE_UNIFORM]);
		put_count(samples, "stalled", g->samples[SAMPLE_STALLED]);
		put(region, "samples", samples);
		put_count(region, "detections", tally_total(g->kind));
		put_count(region, "true", g->kind[SHARING_TRUE]);
		put_count(region, "false", g->kind[SHARING_FALSE]);
		put_count(region, "judged", g->judged);
		put_count(region, "avoidable", g->avoidable);
		append(a, region);
	}
	put(o, "regions", a);
	free(row);
}
