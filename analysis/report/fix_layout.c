/* SPDX-License-Identifier: MIT */
/*
 * fix_layout - the members of the objects on a line
 */
#include <stdlib.h>
#include <string.h>

#include "fix_layout.h"
#include "style.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"

enum {
	MEMBERS_MAX = 64,   /* of one object that are looked at */
	MEMBERS_SHOWN = 24, /* of all objects on a line */
	BYTES_MAX = 4096,   /* of one object that are looked at */
	NAME_COLUMNS = 36,
};

/* A member, and who accesses it on the line. */
struct member {
	const struct instance *in;
	char *path;
	uint64_t start, size; /* from the start of the object */
	uint8_t flags[BYTE_MAP_ROWS];
	bool accessed;
};

struct layout {
	struct member member[MEMBERS_MAX];
	size_t n;
};

static void find_users(struct member *x, const struct fields *f,
		       const struct byte_map *m)
{
	uint64_t from = x->in->start + x->start, to = from + x->size;

	for (size_t i = 0; i < f->rows; i++) {
		uint64_t first = m->line + f->row[i].first;

		if (first >= to || first + f->row[i].bytes <= from)
			continue;
		x->accessed = true;
		for (int k = 0; k < BYTE_MAP_ROWS; k++)
			x->flags[k] |= f->row[i].flags[k];
	}
}

/* The later elements of an array that nobody accesses are left out. */
static bool is_dull(const struct member *x, const struct data_part *part)
{
	return !x->accessed && part->in_array && x->start > part->array_from;
}

static void list_object(struct layout *l, const struct fields *f,
			const struct byte_map *m, const struct instance *in)
{
	uint64_t size = in->type.size < BYTES_MAX ? in->type.size : BYTES_MAX;
	uint64_t at = 0;

	/* Of a large variable, what is near the line. */
	if (in->start < m->line && in->type.size > BYTES_MAX) {
		at = m->line - in->start;
		size = at + m->bytes;
	}
	while (at < size && l->n < MEMBERS_MAX) {
		struct member *x = &l->member[l->n];
		struct data_part part;

		if (!symbols_part(&in->type, at, &part)) {
			at++; /* padding */
			continue;
		}
		*x = (struct member){ .in = in,
				      .path = part.path,
				      .start = part.start,
				      .size = part.size };
		find_users(x, f, m);
		if (is_dull(x, &part))
			free(part.path);
		else
			l->n++;
		at = part.start + part.size > at ? part.start + part.size
						 : at + 1;
	}
}

static void layout_build(struct layout *l, const struct fields *f,
			 const struct byte_map *m)
{
	l->n = 0;
	for (size_t i = 0; i < f->types.n; i++)
		list_object(l, f, m, &f->types.instance[i]);
}

static void layout_release(struct layout *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->member[i].path);
}

static void print_object(struct report *r, const struct byte_map *m,
			 const struct instance *in)
{
	char number[24] = "";

	if (in->of > 1)
		snprintf(number, sizeof(number), " #%u", in->number);
	fprintf(r->out,
		"     %s%s%s%s, %s bytes, begins at byte %llu of a line\n",
		paint(r, PAINT_DIM),
		cut_text(safe_text(instance_name(in)), NAME_COLUMNS), number,
		paint(r, PAINT_OFF), count_text(in->type.size),
		(unsigned long long)(in->start % m->bytes));
}

static void print_member(struct report *r, const struct byte_map *m,
			 const struct member *x)
{
	const char *path = x->path[0] == '.' ? x->path + 1 : x->path;
	const char *name = cut_text(safe_text(path), NAME_COLUMNS);

	fprintf(r->out, "       %5llu %4llu  %s", (unsigned long long)x->start,
		(unsigned long long)x->size, name);
	if (x->accessed)
		fprintf(r->out, "%*s", (int)(NAME_COLUMNS - text_columns(name)),
			"");
	for (size_t k = 0; k < m->rows && k < BYTE_MAP_ROWS; k++)
		if (x->flags[k])
			fprintf(r->out, " %u:%c", m->row[k].thread,
				byte_map_letter(x->flags[k]));
	fputc('\n', r->out);
}

void fix_layout_print(struct report *r, const struct fields *f,
		      const struct byte_map *m)
{
	const struct instance *in = NULL;
	uint64_t line = 0;
	struct layout l;

	layout_build(&l, f, m);
	for (size_t i = 0; i < l.n && i < MEMBERS_SHOWN; i++) {
		const struct member *x = &l.member[i];
		uint64_t at = (x->in->start + x->start) / m->bytes;

		if (x->in != in)
			print_object(r, m, x->in);
		else if (at != line)
			fprintf(r->out, "       %s---- next line ----%s\n",
				paint(r, PAINT_DIM), paint(r, PAINT_OFF));
		in = x->in;
		line = at;
		print_member(r, m, x);
	}
	if (l.n > MEMBERS_SHOWN)
		fputs("       ...\n", r->out);
	layout_release(&l);
}

json_t *fix_layout_json(const struct fields *f, const struct byte_map *m)
{
	json_t *a = json_array();
	struct layout l;

	layout_build(&l, f, m);
	for (size_t i = 0; i < l.n; i++) {
		const struct member *x = &l.member[i];
		json_t *o = json_object();

		put(o, "object", text(instance_name(x->in)));
		put(o, "start", hex(x->in->start));
		put_text(o, "member",
			 x->path[0] == '.' ? x->path + 1 : x->path);
		put(o, "offset", integer(x->start));
		put(o, "bytes", integer(x->size));
		put(o, "accessed", json_boolean(x->accessed));
		append(a, o);
	}
	layout_release(&l);
	return a;
}
