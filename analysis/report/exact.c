/* SPDX-License-Identifier: MIT */
/*
 * exact - transfers that were counted one by one, not sampled
 *
 * Threads are numbered within their process, by their start: rows may have been
 * merged for other parts of the report, but these counts are not.
 */
#include <stdlib.h>
#include <string.h>

#include "exact.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "src/exact/directory.h"

enum {
	MISS_BITS = 3, /* the low bits of cdp_transfer.b are the distance */
	DISTANCES = TOPOLOGY_LEVELS_MAX + 1,
	VARIABLES = 4,  /* named in the text */
	OBJECT_AT = 44, /* column where the objects' names begin */
};

struct found {
	uint32_t process;
	const struct cdp_transfer *record;
};

struct exact_tally {
	struct found *cell, *line, *thread, *miss;
	size_t cells, lines, threads, misses;
	uint64_t transfers, false_sharing;
};

static uint64_t transfers_of(const struct cdp_transfer *t)
{
	return t->value[t->kind == CDP_EXACT_LINE ? 1 : 0];
}

static int compare(const void *a, const void *b)
{
	const struct found *f = a, *g = b;
	uint64_t x = transfers_of(f->record), y = transfers_of(g->record);

	if (x != y)
		return x < y ? 1 : -1;
	if (f->process != g->process)
		return f->process < g->process ? -1 : 1;
	return (f->record > g->record) - (f->record < g->record);
}

static bool same(const struct cdp_transfer *x, const struct cdp_transfer *y)
{
	return x->kind == y->kind && x->a == y->a && x->b == y->b &&
	       (x->kind != CDP_EXACT_LINE || x->value[0] == y->value[0]);
}

static int compare_keys(const void *a, const void *b)
{
	const struct cdp_transfer *x = *(const struct cdp_transfer *const *)a;
	const struct cdp_transfer *y = *(const struct cdp_transfer *const *)b;
	uint64_t i = x->kind == CDP_EXACT_LINE ? x->value[0] : 0;
	uint64_t j = y->kind == CDP_EXACT_LINE ? y->value[0] : 0;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	if (i != j)
		return i < j ? -1 : 1;
	return (x > y) - (x < y); /* keep the file's order */
}

/* Take the records of one process; of equal ones the last counts. */
static void take_process(struct exact_tally *t, const struct process *s,
			 uint32_t process)
{
	const struct cdp_transfer **sorted =
		xcalloc(s->transfers, sizeof(*sorted));

	for (size_t i = 0; i < s->transfers; i++)
		sorted[i] = &s->transfer[i];
	qsort(sorted, s->transfers, sizeof(*sorted), compare_keys);
	for (size_t i = 0; i < s->transfers; i++) {
		const struct cdp_transfer *r = sorted[i];
		struct found f = { process, r };

		if (i + 1 < s->transfers && same(r, sorted[i + 1]))
			continue;
		switch (r->kind) {
		case CDP_EXACT_CELL:
			t->cell[t->cells++] = f;
			t->transfers = sat_add(t->transfers, r->value[0]);
			t->false_sharing =
				sat_add(t->false_sharing, r->value[1]);
			break;
		case CDP_EXACT_LINE:
			if (r->value[0])
				t->line[t->lines++] = f;
			break;
		case CDP_EXACT_THREAD:
			t->thread[t->threads++] = f;
			break;
		case CDP_EXACT_MISS:
			t->miss[t->misses++] = f;
			break;
		default: /* records of estimates, in the same section */
			break;
		}
	}
	free(sorted);
}

static bool is_exact(const struct cdp_transfer *r)
{
	return r->kind == CDP_EXACT_CELL || r->kind == CDP_EXACT_LINE ||
	       r->kind == CDP_EXACT_THREAD || r->kind == CDP_EXACT_MISS;
}

static size_t exact_records(const struct process *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->transfers; i++)
		n += is_exact(&s->transfer[i]);
	return n;
}

static bool tally(struct exact_tally *t, const struct profile *p)
{
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < p->processes; i++)
		n += exact_records(&p->process[i]);
	if (!n)
		return false;
	t->cell = xcalloc(n, sizeof(*t->cell));
	t->line = xcalloc(n, sizeof(*t->line));
	t->thread = xcalloc(n, sizeof(*t->thread));
	t->miss = xcalloc(n, sizeof(*t->miss));
	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].transfers)
			take_process(t, &p->process[i], i);
	qsort(t->cell, t->cells, sizeof(*t->cell), compare);
	qsort(t->line, t->lines, sizeof(*t->line), compare);
	return true;
}

static void release(struct exact_tally *t)
{
	free(t->cell);
	free(t->line);
	free(t->thread);
	free(t->miss);
}

static uint64_t at_most(uint64_t part, uint64_t whole)
{
	return part < whole ? part : whole;
}

/* The bytes of a line, a bit each, that lie after the variable @o. */
static uint64_t behind(const struct object *o, uint64_t line)
{
	uint64_t end = o->start + o->size - line;

	return end < 64 ? ~0ull << end : 0;
}

/*
 * Call @fn with each object whose bytes the line's transfers were about, in the
 * order of addresses, with the address of its first accessed byte. If the bytes
 * are not known, call it with the object at the line's start.
 */
static void each_object(struct report *r, const struct found *f,
			void (*fn)(void *ctx, const struct object *object),
			void *ctx)
{
	uint64_t bytes = f->record->value[5] ? f->record->value[5] : 1;
	uint64_t line = f->record->value[0];
	struct object o, last;

	for (bool first = true; bytes; first = false) {
		symbols_object(r->symbols, &r->profile->process[f->process],
			       line + __builtin_ctzll(bytes), UINT64_MAX, &o);
		/* Unmapped memory is a new object at each address. */
		if (first || o.kind != last.kind ||
		    (o.start != last.start && o.kind != OBJECT_UNNAMED))
			fn(ctx, &o);
		last = o;
		bytes &= bytes - 1;
		if (o.kind == OBJECT_STATIC)
			bytes &= behind(&o, line);
	}
}

/* Names for the text: "a, b+8", "a, b, c, d, ..." */
struct names {
	char *text;
	size_t n;
};

static void add_name(void *ctx, const struct object *o)
{
	struct names *names = ctx;
	char *text;

	if (names->n++ > VARIABLES)
		return;
	text = xasprintf("%s%s%s", names->text ? names->text : "",
			 names->text ? ", " : "",
			 names->n > VARIABLES ? "..." : object_text(o));
	free(names->text);
	names->text = text;
}

static void print_objects(struct report *r, const struct found *f)
{
	struct names names = { NULL, 0 };

	each_object(r, f, add_name, &names);
	print_wrapped(r->out, names.text, OBJECT_AT, OBJECT_AT);
	free(names.text);
}

char *report_exact_answer(const struct report *r, uint64_t *transfers)
{
	struct exact_tally t;
	char *text;

	if (!tally(&t, r->profile))
		return NULL;
	*transfers = t.transfers;
	if (t.transfers)
		text = xasprintf("Cache lines were moved between threads %s "
				 "time%s (each one counted), %s of that by "
				 "false sharing.",
				 count_text(t.transfers),
				 t.transfers == 1 ? "" : "s",
				 percent_text((double)at_most(t.false_sharing,
							      t.transfers),
					      (double)t.transfers));
	else
		text = xstrdup("No cache line was moved between threads (each "
			       "access was checked).");
	release(&t);
	return text;
}

void report_exact(struct report *r)
{
	struct exact_tally t;

	if (!tally(&t, r->profile))
		return;
	report_heading(r, "Transfers of cache lines, counted one by one");
	fprintf(r->out, "  %s, of them false sharing %s\n",
		count_text(t.transfers),
		percent_text((double)at_most(t.false_sharing, t.transfers),
			     (double)t.transfers));
	if (t.cells)
		fprintf(r->out, "%s  %6s %6s %12s %7s%s\n", paint(r, PAINT_DIM),
			"from", "to", "transfers", "false",
			paint(r, PAINT_OFF));
	for (size_t i = 0; i < t.cells && i < r->top; i++) {
		const struct cdp_transfer *c = t.cell[i].record;

		fprintf(r->out, "  %6u %6u %12s %7s\n", c->a, c->b,
			count_text(c->value[0]),
			percent_text((double)at_most(c->value[1], c->value[0]),
				     (double)c->value[0]));
	}
	if (t.lines)
		fprintf(r->out, "%s  %-18s %12s %7s  object%s\n",
			paint(r, PAINT_DIM), "line", "transfers", "false",
			paint(r, PAINT_OFF));
	for (size_t i = 0; i < t.lines && i < r->top; i++) {
		const struct cdp_transfer *l = t.line[i].record;

		fprintf(r->out, "  0x%-16llx %12s %7s  ",
			(unsigned long long)l->value[0],
			count_text(l->value[1]),
			percent_text((double)at_most(l->value[2], l->value[1]),
				     (double)l->value[1]));
		print_objects(r, &t.line[i]);
	}
	release(&t);
}

static void put_kinds(json_t *o, uint64_t all, uint64_t false_sharing)
{
	false_sharing = at_most(false_sharing, all);
	put_count(o, "all", all);
	put_count(o, "true", all - false_sharing);
	put_count(o, "false", false_sharing);
}

static json_t *json_cell(const struct found *f)
{
	json_t *o = json_object();

	put_count(o, "process", f->process);
	put_count(o, "from", f->record->a);
	put_count(o, "to", f->record->b);
	put_kinds(o, f->record->value[0], f->record->value[1]);
	return o;
}

static void append_name(void *array, const struct object *o)
{
	append(array, text(object_text(o)));
}

static json_t *json_line(struct report *r, const struct found *f)
{
	const uint64_t *value = f->record->value;
	json_t *o = json_object(), *objects = json_array();

	put(o, "line", hex(value[0]));
	put_count(o, "process", f->process);
	each_object(r, f, append_name, objects);
	put(o, "object", json_incref(json_array_get(objects, 0)));
	put(o, "objects", objects);
	put_kinds(o, value[1], value[2]);
	put_count(o, "stores", value[3]);
	put_count(o, "ownership", value[4]);
	return o;
}

/* The misses of a thread's private caches, by distance. */
static json_t *json_misses(const struct exact_tally *t, const struct found *f)
{
	static const char *const names[EXACT_MISSES] = {
		[EXACT_LOAD_CLEAN] = "load_clean",
		[EXACT_LOAD_MODIFIED] = "load_modified",
		[EXACT_OWN_CLEAN] = "own_clean",
		[EXACT_OWN_MODIFIED] = "own_modified",
		[EXACT_UPGRADE] = "upgrade",
	};
	uint64_t count[EXACT_MISSES][DISTANCES] = { { 0 } };
	json_t *o = json_object();

	for (size_t i = 0; i < t->misses; i++) {
		const struct cdp_transfer *m = t->miss[i].record;
		uint32_t miss = m->b >> MISS_BITS;
		uint32_t distance = m->b & ((1 << MISS_BITS) - 1);

		if (t->miss[i].process == f->process && m->a == f->record->a &&
		    miss < EXACT_MISSES && distance < DISTANCES)
			count[miss][distance] = m->value[0];
	}
	for (int m = 0; m < EXACT_MISSES; m++) {
		json_t *a = json_array();

		for (int d = 0; d < DISTANCES; d++)
			append(a, integer(count[m][d]));
		put(o, names[m], a);
	}
	return o;
}

static json_t *json_thread(const struct exact_tally *t, const struct found *f)
{
	static const char *const names[] = { "loads",       "stores",
					     "cold_loads",  "cold_stores",
					     "invalidated", "not_followed" };
	json_t *o = json_object();

	put_count(o, "process", f->process);
	put_count(o, "thread", f->record->a);
	for (int i = 0; i < 6; i++)
		put_count(o, names[i], f->record->value[i]);
	put(o, "misses", json_misses(t, f));
	return o;
}

json_t *report_exact_json(struct report *r)
{
	json_t *o, *cells, *lines, *threads;
	struct exact_tally t;

	if (!tally(&t, r->profile))
		return NULL;
	o = json_object();
	cells = json_array();
	lines = json_array();
	threads = json_array();
	put(o, "unit", json_string("cache line transfers"));
	put_kinds(o, t.transfers, t.false_sharing);
	for (size_t i = 0; i < t.cells; i++)
		append(cells, json_cell(&t.cell[i]));
	for (size_t i = 0; i < t.lines; i++)
		append(lines, json_line(r, &t.line[i]));
	for (size_t i = 0; i < t.threads; i++)
		append(threads, json_thread(&t, &t.thread[i]));
	put(o, "cells", cells);
	put(o, "lines", lines);
	put(o, "threads", threads);
	release(&t);
	return o;
}
