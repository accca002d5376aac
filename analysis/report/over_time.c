/* SPDX-License-Identifier: MIT */
/*
 * over_time - when during the run which threads shared, as strips
 *
 * A row is 16 columns of text and a column for each slice of time, so it fits
 * 80 columns.
 */
#include <stdlib.h>
#include <string.h>

#include "over_time.h"
#include "style.h"
#include "analysis/attribution/over_time.h"
#include "analysis/base/json_build.h"

enum {
	HEIGHTS = 8,
	LABEL_COLUMNS = 16,
	STRIPS_MAX = 10, /* of pairs */
};

/* What is drawn for a slice: not sampled, nothing found, then the heights. */
static const char *const blocks[HEIGHTS + 2] = {
	" ",      "\u00b7", "\u2581", "\u2582", "\u2583",
	"\u2584", "\u2585", "\u2586", "\u2587", "\u2588",
};
static const char *const letters[HEIGHTS + 2] = {
	" ", ".", ":", "-", "=", "+", "*", "#", "%", "@",
};

/* Of the locale: the first of these that is set. */
static bool is_utf8(void)
{
	static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *value = getenv(names[i]);

		if (value && *value)
			return strcasestr(value, "utf-8") ||
			       strcasestr(value, "utf8");
	}
	return false;
}

static uint64_t most(const uint64_t *value, uint32_t n)
{
	uint64_t max = 0;

	for (uint32_t i = 0; i < n; i++)
		max = value[i] > max ? value[i] : max;
	return max;
}

/* From 1 to HEIGHTS; any value but 0 has a height. */
static int height(uint64_t value, uint64_t max)
{
	int h = (int)((double)value / (double)max * HEIGHTS + 0.5);

	return h < 1 ? 1 : h > HEIGHTS ? HEIGHTS : h;
}

static void print_strip(struct report *r, const struct over_time *o,
			const char *label, const uint64_t *value)
{
	const char *const *mark = is_utf8() ? blocks : letters;
	uint64_t max = most(value, o->slices), sum = 0;
	uint32_t end = o->slices;
	char count[16];

	for (uint32_t i = 0; i < o->slices; i++)
		sum = sat_add(sum, value[i]);
	while (end && !value[end - 1] && !o->samples[end - 1])
		end--;
	fprintf(r->out, "%9s %5s ", label,
		short_count(sum, count, sizeof(count)));
	for (uint32_t i = 0; i < end; i++)
		fputs(value[i] ? mark[1 + height(value[i], max)]
			       : mark[o->samples[i] != 0],
		      r->out);
	fputc('\n', r->out);
}

static void print_axis(struct report *r, const struct over_time *o)
{
	uint64_t run = o->end_ns - o->start_ns;
	char middle[32], end[32];
	int half, rest;

	snprintf(middle, sizeof(middle), "%s", duration_text(run / 2));
	snprintf(end, sizeof(end), "%s", duration_text(run));
	half = (int)o->slices / 2 - (int)strlen("0 s");
	rest = (int)o->slices - (int)o->slices / 2 - (int)strlen(middle) -
	       (int)strlen(end);
	if (rest < 2) { /* no room for the one in the middle */
		rest += half + (int)strlen(middle);
		half = 0;
		*middle = '\0';
	}
	fprintf(r->out, "%s%*s0 s%*s%s%*s%s%s\n", paint(r, PAINT_DIM),
		LABEL_COLUMNS, "", half, "", middle, rest > 1 ? rest : 1, "",
		end, paint(r, PAINT_OFF));
}

static void print_cell(struct report *r, const struct over_time *o,
		       const struct time_cell *c)
{
	uint64_t all[OVER_TIME_SLICES];
	char label[32];

	for (uint32_t i = 0; i < o->slices; i++)
		all[i] = time_cell_at(c, i);
	if (c == &o->all)
		snprintf(label, sizeof(label), "all");
	else
		snprintf(label, sizeof(label), "%u-%u", c->a, c->b);
	print_strip(r, o, label, all);
}

static void print_legend(struct report *r, const struct over_time *o)
{
	const char *const *mark = is_utf8() ? blocks : letters;

	fprintf(r->out,
		"  A column is %s: ' ' nothing sampled, '%s' nothing found, "
		"'%s' few, '%s' the\n  most of the row. a-b: threads.",
		precise_time_text((double)o->slice_ns), mark[1], mark[2],
		mark[HEIGHTS + 1]);
	if (o->pairs > STRIPS_MAX || o->pairs > r->top)
		fprintf(r->out, " %s pairs shared.", count_text(o->pairs));
	if (o->outside)
		fprintf(r->out, " %s detections are in no column.",
			count_text(o->outside));
	fputc('\n', r->out);
}

static void draw(struct report *r, const struct over_time *o)
{
	const struct time_cell *all = &o->all;
	uint64_t max_false = most(all->kind[SHARING_FALSE], o->slices);
	uint64_t max_true = most(all->kind[SHARING_TRUE], o->slices);

	report_heading(r, "Sharing over time");
	print_axis(r, o);
	print_cell(r, o, all);
	if (max_false && max_true) {
		print_strip(r, o, "false", all->kind[SHARING_FALSE]);
		print_strip(r, o, "true", all->kind[SHARING_TRUE]);
	}
	for (size_t i = 0; i < o->cells && i < STRIPS_MAX && i < r->top; i++)
		if (o->pairs > 1)
			print_cell(r, o, &o->cell[i]);
	print_strip(r, o, "samples", o->samples);
	print_legend(r, o);
}

void report_over_time(struct report *r)
{
	struct over_time o;

	over_time_init(&o, &r->tally, r->thread);
	if (o.slices > 1 && o.all.total && (o.uneven || r->strips)) {
		draw(r, &o);
	} else if (o.judged) {
		report_heading(r, "Sharing over time");
		fprintf(r->out,
			"  Spread evenly over the run of %s, as far as %s "
			"detections tell.\n  --time draws it.\n",
			duration_text(o.end_ns - o.start_ns),
			count_text(o.all.total));
	}
	over_time_release(&o);
}

static json_t *numbers(const uint64_t *value, uint32_t n)
{
	json_t *a = json_array();

	for (uint32_t i = 0; i < n; i++)
		append(a, integer(value[i]));
	return a;
}

static void put_strips(json_t *j, const struct over_time *o,
		       const struct time_cell *c)
{
	put(j, "true", numbers(c->kind[SHARING_TRUE], o->slices));
	put(j, "false", numbers(c->kind[SHARING_FALSE], o->slices));
}

json_t *report_over_time_json(const struct report *r)
{
	json_t *j = NULL, *cells;
	struct over_time o;

	over_time_init(&o, &r->tally, r->thread);
	if (o.slices) {
		j = json_object();
		cells = json_array();
		put_count(j, "slice_ns", o.slice_ns);
		put(j, "begin_ns",
		    json_integer(-(json_int_t)(o.start_ns - o.begin_ns)));
		put_count(j, "start_mono_ns", o.start_ns);
		put_count(j, "run_ns", o.end_ns - o.start_ns);
		put(j, "uneven", json_boolean(o.uneven));
		put_count(j, "outside", o.outside);
		put_count(j, "pairs", o.pairs);
		put(j, "samples", numbers(o.samples, o.slices));
		put_strips(j, &o, &o.all);
		for (size_t i = 0; i < o.cells; i++) {
			json_t *cell = json_object();

			put_count(cell, "a", o.cell[i].a);
			put_count(cell, "b", o.cell[i].b);
			put_strips(cell, &o, &o.cell[i]);
			append(cells, cell);
		}
		put(j, "cells", cells);
	}
	over_time_release(&o);
	return j;
}
