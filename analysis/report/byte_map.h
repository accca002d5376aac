/* SPDX-License-Identifier: MIT */
/*
 * byte_map - which threads access which bytes of a cache line
 */
#ifndef COMDET_ANALYSIS_REPORT_BYTE_MAP_H
#define COMDET_ANALYSIS_REPORT_BYTE_MAP_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/attribution/tally.h"

enum {
	BYTE_MAP_COLUMNS = 64,
	BYTE_MAP_ROWS = 8 /* that are shown */
};

struct byte_row {
	uint32_t thread;
	uint64_t detections;
	uint8_t flags[BYTE_MAP_COLUMNS]; /* ACCESS_LOAD | ACCESS_STORE */
};

struct byte_map {
	struct byte_row *row;
	size_t rows, room;
	uint64_t line;
	uint32_t bytes, a_column; /* of the line, and in one column */
};

/*
 * Map the accesses of the detections on @l. The first BYTE_MAP_ROWS rows are
 * those with most detections, ordered by thread.
 */
void byte_map_build(struct byte_map *m, const struct tally *t,
		    const struct line_tally *l);
void byte_map_release(struct byte_map *m);

static inline uint32_t byte_map_columns(const struct byte_map *m)
{
	return (m->bytes + m->a_column - 1) / m->a_column;
}

/* '.', 'r' loaded, 'W' stored, 'B' both. */
static inline char byte_map_letter(uint8_t flags)
{
	return ".rWB"[flags & 3];
}

#endif
