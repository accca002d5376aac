/* SPDX-License-Identifier: MIT */
/*
 * fields - the members and variables on a cache line, and who accesses them
 */
#include <stdlib.h>
#include <string.h>

#include "fields.h"
#include "style.h"
#include "analysis/base/util.h"

enum {
	FIELDS_SHOWN = 16,
	NAME_COLUMNS = 40,
};

static uint8_t flags_between(const struct byte_map *m, size_t row,
			     uint32_t first, uint32_t bytes)
{
	uint8_t flags = 0;

	for (uint32_t b = first; b < first + bytes && b < m->bytes; b++)
		flags |= m->row[row].flags[b / m->a_column];
	return flags & (ACCESS_LOAD | ACCESS_STORE);
}

static bool is_accessed(const struct byte_map *m, uint32_t byte)
{
	for (size_t i = 0; i < m->rows && i < BYTE_MAP_ROWS; i++)
		if (flags_between(m, i, byte, 1))
			return true;
	return false;
}

static void add_field(struct fields *f, const struct byte_map *m,
		      const struct line_field *field)
{
	uint64_t end = field->start + field->size;
	struct field_row *row;

	f->row = grow(f->row, f->rows, &f->room, sizeof(*f->row));
	row = &f->row[f->rows++];
	memset(row, 0, sizeof(*row));
	row->first =
		field->start > m->line ? (uint32_t)(field->start - m->line) : 0;
	row->bytes = (end > m->line + m->bytes ? m->bytes
					       : (uint32_t)(end - m->line)) -
		     row->first;
	row->name = line_field_name(field);
	for (size_t i = 0; i < m->rows && i < BYTE_MAP_ROWS; i++)
		row->flags[i] = flags_between(m, i, row->first, row->bytes);
}

void fields_build(struct fields *f, struct report *r,
		  const struct line_tally *l, const struct byte_map *m)
{
	struct line_field field;

	memset(f, 0, sizeof(*f));
	line_types_build(&f->types, &r->tally, r->symbols, l);
	for (uint32_t b = 0; b < m->bytes; b++) {
		if (!is_accessed(m, b) ||
		    !line_types_field(&f->types, m->line + b, &field))
			continue;
		add_field(f, m, &field);
		free(field.path);
		b = f->row[f->rows - 1].first + f->row[f->rows - 1].bytes - 1;
	}
}

void fields_release(struct fields *f)
{
	for (size_t i = 0; i < f->rows; i++)
		free(f->row[i].name);
	free(f->row);
	line_types_release(&f->types);
	memset(f, 0, sizeof(*f));
}

void fields_print(struct report *r, const struct fields *f,
		  const struct byte_map *m)
{
	for (size_t i = 0; i < f->rows && i < FIELDS_SHOWN; i++) {
		const struct field_row *row = &f->row[i];
		const char *name = cut_text(safe_text(row->name), NAME_COLUMNS);
		char bytes[32];

		snprintf(bytes, sizeof(bytes), "%u-%u", row->first,
			 row->first + row->bytes - 1);
		fprintf(r->out, "    %-8s%s%*s", bytes, name,
			(int)(NAME_COLUMNS - text_columns(name)), "");
		for (size_t k = 0; k < m->rows && k < BYTE_MAP_ROWS; k++)
			if (row->flags[k])
				fprintf(r->out, " %u:%c", m->row[k].thread,
					byte_map_letter(row->flags[k]));
		fputc('\n', r->out);
	}
	if (f->rows > FIELDS_SHOWN)
		fprintf(r->out, "    ... and %s more fields\n",
			count_text(f->rows - FIELDS_SHOWN));
}
