/* SPDX-License-Identifier: MIT */
/*
 * lines_json - the cache lines of the report for programs
 */
#include <stdlib.h>

#include "lines_json.h"
#include "byte_map.h"
#include "calls.h"
#include "fields.h"
#include "analysis/base/json_build.h"

enum {
	LINES_WITH_FIELDS = 500, /* those with most detections */
};

void put_kinds(json_t *o, const uint64_t *kind)
{
	put(o, "true", integer(kind[SHARING_TRUE]));
	put(o, "false", integer(kind[SHARING_FALSE]));
}

/* Which call allocated the heap block, and whether it was freed since. */
void put_allocated(json_t *o, const struct object *object)
{
	const struct place *p = &object->allocated;
	json_t *call, *callers;

	if (!object->block)
		return;
	call = call_json(p, false);
	callers = json_array();
	for (size_t i = 0; i < object->callers; i++)
		append(callers, call_json(&object->caller[i], false));
	if (object->callers)
		put(call, "callers", callers);
	else
		json_decref(callers);
	put(o, "allocated", call);
	put(o, "freed", json_boolean(object->freed));
}

/* What padding avoids, where detections could be judged. */
void put_judged(json_t *o, const struct judged *j)
{
	if (!j->all)
		return;
	put(o, "judged", integer(j->all));
	put(o, "avoidable", integer(j->avoidable));
}

static int compare_u32(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

/* The different values among @n ids, without NO_SITE. */
static json_t *json_ids(uint32_t *id, size_t n)
{
	json_t *a = json_array();

	qsort(id, n, sizeof(*id), compare_u32);
	for (size_t i = 0; i < n; i++)
		if (id[i] != NO_SITE && (!i || id[i] != id[i - 1]))
			append(a, integer(id[i]));
	return a;
}

/* Each thread's accesses to the bytes of the line, a letter a column. */
static json_t *json_bytes(const struct byte_map *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < m->rows && i < BYTE_MAP_ROWS; i++) {
		char map[BYTE_MAP_COLUMNS + 1] = "";
		json_t *o = json_object();

		for (uint32_t c = 0; c < byte_map_columns(m); c++)
			map[c] = byte_map_letter(m->row[i].flags[c]);
		put(o, "thread", integer(m->row[i].thread));
		put(o, "map", json_string(map));
		append(a, o);
	}
	return a;
}

/* The fields that the detections access, and by which threads. */
static json_t *json_fields(const struct fields *f, const struct byte_map *m)
{
	json_t *a = json_array();

	for (size_t i = 0; i < f->rows; i++) {
		const struct field_row *row = &f->row[i];
		json_t *o = json_object(), *threads = json_array();

		put(o, "name", text(row->name));
		put(o, "byte", integer(row->first));
		put(o, "bytes", integer(row->bytes));
		for (size_t k = 0; k < m->rows && k < BYTE_MAP_ROWS; k++) {
			char letter[2] = { byte_map_letter(row->flags[k]), 0 };
			json_t *thread;

			if (!row->flags[k])
				continue;
			thread = json_object();
			put(thread, "thread", integer(m->row[k].thread));
			put(thread, "access", json_string(letter));
			append(threads, thread);
		}
		put(o, "threads", threads);
		append(a, o);
	}
	return a;
}

/* An object that is known to lie on the line. */
static json_t *json_instance(const struct instance *in)
{
	json_t *o = json_object();

	put_text(o, "variable", in->variable);
	put_text(o, "type", in->type.name);
	put(o, "start", hex(in->start));
	put(o, "size", integer(in->type.size));
	return o;
}

static void put_fields(json_t *o, struct report *r, const struct line_tally *l,
		       const struct byte_map *m)
{
	json_t *types = json_array();
	struct fields f;

	fields_build(&f, r, l, m);
	for (size_t i = 0; i < f.types.n; i++)
		append(types, json_instance(&f.types.instance[i]));
	if (f.types.n)
		put(o, "types", types);
	else
		json_decref(types);
	if (f.rows)
		put(o, "fields", json_fields(&f, m));
	fields_release(&f);
}

static json_t *json_line(struct report *r, size_t number)
{
	const struct tally *t = &r->tally;
	const struct line_tally *l = &t->line[number];
	struct byte_map m;
	json_t *o = json_object();
	uint32_t *site = xcalloc(2 * l->pairs, sizeof(*site));
	uint32_t *thread = xcalloc(2 * l->pairs, sizeof(*thread));

	for (size_t i = 0; i < l->pairs; i++) {
		uint32_t pair = t->by_line[l->first + i];

		site[2 * i] = t->publisher_site[pair];
		site[2 * i + 1] = t->detector_site[pair];
		thread[2 * i] = t->profile->pair[pair].publisher;
		thread[2 * i + 1] = t->profile->pair[pair].detector;
	}
	put(o, "line", hex(l->line));
	put(o, "process", integer(l->process));
	put(o, "object", text(object_text(&l->object)));
	put_allocated(o, &l->object);
	put_kinds(o, l->kind);
	put_judged(o, &l->judged);
	put(o, "sites", json_ids(site, 2 * l->pairs));
	put(o, "threads", json_ids(thread, 2 * l->pairs));
	byte_map_build(&m, t, l);
	put(o, "bytes", json_bytes(&m));
	if (number < LINES_WITH_FIELDS)
		put_fields(o, r, l, &m);
	byte_map_release(&m);
	free(site);
	free(thread);
	return o;
}

json_t *report_lines_json(struct report *r)
{
	json_t *a = json_array();

	for (size_t i = 0; i < r->tally.lines; i++)
		append(a, json_line(r, i));
	return a;
}
