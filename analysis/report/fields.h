/* SPDX-License-Identifier: MIT */
/*
 * fields - the members and variables on a cache line, and who accesses them
 */
#ifndef COMDET_ANALYSIS_REPORT_FIELDS_H
#define COMDET_ANALYSIS_REPORT_FIELDS_H

#include "byte_map.h"
#include "report.h"
#include "analysis/attribution/line_types.h"

struct field_row {
	uint32_t first, bytes; /* from the start of the line */
	char *name;
	uint8_t flags[BYTE_MAP_ROWS]; /* by row of the map: ACCESS_* */
};

/* The fields that are accessed in the detections of a line. */
struct fields {
	struct line_types types;
	struct field_row *row; /* by place */
	size_t rows, room;
};

/* Find the fields of line @l, whose map is @m. */
void fields_build(struct fields *f, struct report *r,
		  const struct line_tally *l, const struct byte_map *m);
void fields_release(struct fields *f);

/* Print a row for each field below the map of the line. */
void fields_print(struct report *r, const struct fields *f,
		  const struct byte_map *m);

#endif
