/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "byte_map.h"
#include "analysis/base/util.h"

static struct byte_row *map_row(struct byte_map *m, uint32_t thread)
{
	for (size_t i = 0; i < m->rows; i++)
		if (m->row[i].thread == thread)
			return &m->row[i];
	m->row = grow(m->row, m->rows, &m->room, sizeof(*m->row));
	m->row[m->rows] = (struct byte_row){ .thread = thread };
	return &m->row[m->rows++];
}

/* An access may begin before the line or end after it. */
static void map_access(struct byte_map *m, uint32_t thread, uint64_t addr,
		       uint32_t len, uint16_t flags, uint64_t count)
{
	struct byte_row *row = map_row(m, thread);
	uint64_t end = sat_add(addr, len), stop = sat_add(m->line, m->bytes);

	row->detections = sat_add(row->detections, count);
	if (addr < m->line)
		addr = m->line;
	if (end > stop)
		end = stop;
	for (; addr < end; addr++)
		row->flags[(addr - m->line) / m->a_column] |=
			flags & (ACCESS_LOAD | ACCESS_STORE);
}

static int compare_rows(const void *a, const void *b)
{
	const struct byte_row *x = a, *y = b;

	return x->thread < y->thread ? -1 : x->thread > y->thread;
}

static int compare_row_weights(const void *a, const void *b)
{
	const struct byte_row *x = a, *y = b;

	if (x->detections != y->detections)
		return x->detections > y->detections ? -1 : 1;
	return compare_rows(a, b);
}

void byte_map_build(struct byte_map *m, const struct tally *t,
		    const struct line_tally *l)
{
	uint32_t bytes = t->profile->process[l->process].header.line_bytes;

	memset(m, 0, sizeof(*m));
	m->line = l->line;
	m->bytes = bytes >= 16 && bytes <= 4096 ? bytes : 64;
	m->a_column =
		m->bytes > BYTE_MAP_COLUMNS
			? (m->bytes + BYTE_MAP_COLUMNS - 1) / BYTE_MAP_COLUMNS
			: 1;
	for (size_t i = 0; i < l->pairs; i++) {
		const struct pair_row *p =
			&t->profile->pair[t->by_line[l->first + i]];

		map_access(m, p->publisher, p->publisher_addr, p->publisher_len,
			   p->publisher_flags, p->count);
		map_access(m, p->detector, p->detector_addr, p->detector_len,
			   p->detector_flags, p->count);
	}
	qsort(m->row, m->rows, sizeof(*m->row), compare_row_weights);
	qsort(m->row, m->rows < BYTE_MAP_ROWS ? m->rows : BYTE_MAP_ROWS,
	      sizeof(*m->row), compare_rows);
}

void byte_map_release(struct byte_map *m)
{
	free(m->row);
}
