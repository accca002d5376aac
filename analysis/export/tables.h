/* SPDX-License-Identifier: MIT */
/*
 * tables - the JSON of a report as tables with rows and columns
 *
 * An array of objects becomes a table, named after its path:
 * communication.cells is communication_cells. An object outside of arrays
 * becomes a table of one row. Objects within a row become columns, as
 * total_low; arrays of plain values one column, separated by blanks. An array
 * of objects within a row becomes a table of its own, whose first column says
 * to which row of the outer table each of its rows belongs. So new names of the
 * JSON need no change here.
 */
#ifndef COMDET_ANALYSIS_EXPORT_TABLES_H
#define COMDET_ANALYSIS_EXPORT_TABLES_H

#include <jansson.h>
#include <stddef.h>

struct table {
	char *name;
	char **column; /* the first is "row"; then of inner tables OUTER_row */
	size_t columns, columns_room;
	json_t **row; /* objects: plain values by column; others are absent */
	size_t rows, rows_room;
};

struct tables {
	struct table *table; /* in the order of the JSON */
	size_t tables, room;
};

/* Dies for want of memory. */
void tables_init(struct tables *t, const json_t *report);
void tables_release(struct tables *t);

/* NULL if there is none of that name. */
const struct table *tables_find(const struct tables *t, const char *name);

/* The value, or NULL if the row has none. */
const json_t *table_value(const struct table *t, size_t row, size_t column);

#endif
