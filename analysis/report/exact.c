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
#include "exact_tally.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "src/exact/directory.h"

enum {
	MISS_BITS = 3, /* the low bits of cdp_transfer.b are the distance */
	DISTANCES = TOPOLOGY_LEVELS_MAX + 1,
	VARIABLES = 4,   /* named in the text */
	OBJECT_AT = 52,  /* column where the objects' names begin */
	NAMED_FROM = 10, /* a contended line: at least one transfer in ten */
};

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

static uint64_t avoided_on(const struct exact_tally *t, const struct found *f)
{
	const struct cdp_transfer *a = exact_tally_avoidable(t, f);

	return a ? at_most(a->value[2], f->record->value[1]) : 0;
}

/*
 * The lock or counter that keeps the line of @f moving, to be freed: bytes that
 * several threads modify in locked operations, where padding leaves most of the
 * transfers. NULL if there is none.
 */
static char *contended_on(const struct report *r, const struct exact_tally *t,
			  const struct found *f)
{
	const struct cdp_transfer *a = exact_tally_avoidable(t, f);
	struct object o;

	if (!a || !a->value[3] || avoided_on(t, f) > f->record->value[1] / 2)
		return NULL;
	symbols_object(r->symbols, &r->profile->process[f->process],
		       a->value[0] + __builtin_ctzll(a->value[3]), UINT64_MAX,
		       &o);
	return xstrdup(object_text(&o));
}

/* Name the contended line with most transfers; "" if it has few. */
static char *contended_answer(const struct report *r,
			      const struct exact_tally *t)
{
	for (size_t i = 0; i < t->lines; i++) {
		uint64_t n = t->line[i].record->value[1];
		char *name, *text;

		if (n < t->transfers / NAMED_FROM)
			break;
		name = contended_on(r, t, &t->line[i]);
		if (!name)
			continue;
		text = xasprintf(" %s of the transfers are of the line of a "
				 "contended lock or counter (%s): padding does "
				 "not help there. Use it less often, or split "
				 "it by thread.",
				 percent_text((double)n, (double)t->transfers),
				 name);
		free(name);
		return text;
	}
	return xstrdup("");
}

static char *false_share(const struct exact_tally *t)
{
	return xstrdup(
		percent_text((double)at_most(t->false_sharing, t->transfers),
			     (double)t->transfers));
}

static char *avoidable_share(const struct exact_tally *t)
{
	return xstrdup(percent_text((double)at_most(t->avoids, t->transfers),
				    (double)t->transfers));
}

static char *share_answer(const struct report *r, const struct exact_tally *t)
{
	char *published = false_share(t), *avoids = avoidable_share(t);
	char *contended = contended_answer(r, t), *text;
	const char *s = t->transfers == 1 ? "" : "s";

	if (t->avoidables)
		text = xasprintf("Cache lines were moved between threads %s "
				 "time%s (each one counted). Padding would "
				 "avoid %s of that.%s By the published "
				 "definition %s is false sharing.",
				 count_text(t->transfers), s, avoids, contended,
				 published);
	else
		text = xasprintf("Cache lines were moved between threads %s "
				 "time%s (each one counted), %s of that by "
				 "false sharing.",
				 count_text(t->transfers), s, published);
	free(published);
	free(avoids);
	free(contended);
	return text;
}

char *report_exact_answer(const struct report *r, uint64_t *transfers)
{
	struct exact_tally t;
	char *text;

	if (!exact_tally(&t, r->profile))
		return NULL;
	*transfers = t.transfers;
	if (t.transfers)
		text = share_answer(r, &t);
	else
		text = xstrdup("No cache line was moved between threads (each "
			       "access was checked).");
	exact_tally_release(&t);
	return text;
}

static void print_total(struct report *r, const struct exact_tally *t)
{
	char *published = false_share(t), *avoids = avoidable_share(t);

	if (t->avoidables)
		fprintf(r->out,
			"  %s; padding would avoid %s; false sharing by the "
			"published definition %s\n",
			count_text(t->transfers), avoids, published);
	else
		fprintf(r->out, "  %s, of them false sharing %s\n",
			count_text(t->transfers), published);
	free(published);
	free(avoids);
}

static void print_line(struct report *r, const struct exact_tally *t,
		       const struct found *f)
{
	const struct cdp_transfer *l = f->record;
	char *contended = contended_on(r, t, f);
	double all = (double)l->value[1];

	fprintf(r->out, "  0x%-16llx %12s", (unsigned long long)l->value[0],
		count_text(l->value[1]));
	fprintf(r->out, " %7s",
		exact_tally_avoidable(t, f)
			? percent_text((double)avoided_on(t, f), all)
			: "?");
	fprintf(r->out, " %7s  ",
		percent_text((double)at_most(l->value[2], l->value[1]), all));
	print_objects(r, f);
	if (contended)
		fprintf(r->out, "%*scontended lock or counter at %s\n",
			OBJECT_AT + 2, "", contended);
	free(contended);
}

void report_exact(struct report *r)
{
	struct exact_tally t;

	if (!exact_tally(&t, r->profile))
		return;
	report_heading(r, "Transfers of cache lines, counted one by one");
	print_total(r, &t);
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
		fprintf(r->out, "%s  %-18s %12s %7s %7s  object%s\n",
			paint(r, PAINT_DIM), "line", "transfers", "avoids",
			"false", paint(r, PAINT_OFF));
	for (size_t i = 0; i < t.lines && i < r->top; i++)
		print_line(r, &t, &t.line[i]);
	exact_tally_release(&t);
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

/* "0-7,16-23" */
static json_t *json_bytes(uint64_t bytes)
{
	char *text = xstrdup("");
	json_t *o;

	for (int first = 0, last; first < 64; first = last + 1) {
		char *longer;

		last = first;
		if (!(bytes >> first & 1))
			continue;
		while (last < 63 && bytes >> (last + 1) & 1)
			last++;
		longer = xasprintf("%s%s%d-%d", text, *text ? "," : "", first,
				   last);
		free(text);
		text = longer;
	}
	o = json_string(text);
	free(text);
	return o;
}

static void put_avoidable(struct report *r, json_t *o,
			  const struct exact_tally *t, const struct found *f)
{
	const struct cdp_transfer *a = exact_tally_avoidable(t, f);
	json_t *groups = json_array();
	const struct found *group;
	char *contended;
	size_t n;

	if (!a) {
		json_decref(groups);
		return;
	}
	put_count(o, "avoidable", avoided_on(t, f));
	put_count(o, "useless", at_most(a->value[1], f->record->value[1]));
	put(o, "avoidable_by", json_string(a->value[4] ? "log" : "visits"));
	contended = contended_on(r, t, f);
	put(o, "contended", contended ? text(contended) : json_null());
	free(contended);
	group = exact_tally_groups(t, a, f->process, &n);
	for (size_t i = 0; i < n; i++) {
		json_t *g = json_object();

		put(g, "bytes", json_bytes(group[i].record->value[1]));
		put_count(g, "all", group[i].record->value[2]);
		append(groups, g);
	}
	put(o, "groups", groups);
}

static json_t *json_line(struct report *r, const struct exact_tally *t,
			 const struct found *f)
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
	put_avoidable(r, o, t, f);
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

	if (!exact_tally(&t, r->profile))
		return NULL;
	o = json_object();
	cells = json_array();
	lines = json_array();
	threads = json_array();
	put(o, "unit", json_string("cache line transfers"));
	put_kinds(o, t.transfers, t.false_sharing);
	if (t.avoidables) {
		put_count(o, "avoidable", at_most(t.avoids, t.transfers));
		put_count(o, "useless", at_most(t.useless, t.transfers));
	}
	for (size_t i = 0; i < t.cells; i++)
		append(cells, json_cell(&t.cell[i]));
	for (size_t i = 0; i < t.lines; i++)
		append(lines, json_line(r, &t, &t.line[i]));
	for (size_t i = 0; i < t.threads; i++)
		append(threads, json_thread(&t, &t.thread[i]));
	put(o, "cells", cells);
	put(o, "lines", lines);
	put(o, "threads", threads);
	exact_tally_release(&t);
	return o;
}
