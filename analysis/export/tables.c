/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "tables.h"
#include "analysis/base/json_build.h"

static size_t find_index(const struct tables *t, const char *name)
{
	size_t i = 0;

	while (i < t->tables && strcmp(t->table[i].name, name) != 0)
		i++;
	return i;
}

const struct table *tables_find(const struct tables *t, const char *name)
{
	size_t i = find_index(t, name);

	return i < t->tables ? &t->table[i] : NULL;
}

static void add_column(struct table *t, const char *name)
{
	for (size_t i = 0; i < t->columns; i++)
		if (!strcmp(t->column[i], name))
			return;
	t->column = grow(t->column, t->columns, &t->columns_room,
			 sizeof(*t->column));
	t->column[t->columns++] = xstrdup(name);
}

static void set_value(struct table *t, json_t *row, const char *name,
		      json_t *value)
{
	add_column(t, name);
	put(row, name, value);
}

/* The number of the table in @t, which is made if there is none. */
static size_t table_at(struct tables *t, const char *name)
{
	size_t i = find_index(t, name);

	if (i < t->tables)
		return i;
	t->table = grow(t->table, t->tables, &t->room, sizeof(*t->table));
	t->table[i] = (struct table){ .name = xstrdup(name) };
	add_column(&t->table[i], "row");
	t->tables++;
	return i;
}

static json_t *add_row(struct table *t)
{
	json_t *row = json_object();

	t->row = grow(t->row, t->rows, &t->rows_room, sizeof(*t->row));
	set_value(t, row, "row", integer(t->rows));
	t->row[t->rows++] = row;
	return row;
}

/* Plain values, separated by blanks. */
static json_t *joined(const json_t *array)
{
	char *all = xstrdup("");
	json_t *value, *text;
	size_t i;

	json_array_foreach(array, i, value)
	{
		const char *s = json_string_value(value);
		char *one = s ? xstrdup(s) : json_dumps(value, JSON_ENCODE_ANY);
		char *longer = one ? xasprintf("%s%s%s", all, i ? " " : "", one)
				   : NULL;

		if (!longer)
			die("out of memory");
		free(one);
		free(all);
		all = longer;
	}
	text = json_string(all);
	free(all);
	return text;
}

static bool has_objects(const json_t *array)
{
	return json_is_object(json_array_get(array, 0));
}

static void add_rows(struct tables *t, const char *name, const json_t *array,
		     const char *outer, size_t outer_row);

/* Columns of one row, and inner tables. @prefix is "" or ends in '_'. */
static void add_values(struct tables *t, size_t table, json_t *row,
		       const char *prefix, const json_t *object)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		char *name = xasprintf("%s%s", prefix, key);
		char *longer = xasprintf("%s_", name), *inner;

		if (json_is_object(value)) {
			add_values(t, table, row, longer, value);
		} else if (json_is_array(value) && has_objects(value)) {
			inner = xasprintf("%s_%s", t->table[table].name, name);
			add_rows(t, inner, value, t->table[table].name,
				 t->table[table].rows - 1);
			free(inner);
		} else if (json_is_array(value)) {
			set_value(&t->table[table], row, name, joined(value));
		} else {
			set_value(&t->table[table], row, name,
				  json_incref(value));
		}
		free(longer);
		free(name);
	}
}

static void add_rows(struct tables *t, const char *name, const json_t *array,
		     const char *outer, size_t outer_row)
{
	char *column = outer ? xasprintf("%s_row", outer) : NULL;
	size_t i, table = table_at(t, name);
	json_t *value;

	json_array_foreach(array, i, value)
	{
		json_t *row = add_row(&t->table[table]);

		if (column)
			set_value(&t->table[table], row, column,
				  integer(outer_row));
		if (json_is_object(value))
			add_values(t, table, row, "", value);
		else
			set_value(&t->table[table], row, "value",
				  json_incref(value));
	}
	free(column);
}

/* An object that no array holds: one row, and a table for each array. */
static void add_object(struct tables *t, const char *name, const json_t *object)
{
	size_t table = table_at(t, name);
	json_t *row = add_row(&t->table[table]), *value;
	const char *key;

	json_object_foreach((json_t *)object, key, value)
	{
		char *path = xasprintf("%s_%s", name, key);

		if (json_is_array(value) && has_objects(value)) {
			add_rows(t, path, value, NULL, 0);
		} else {
			json_t *one = json_object();

			put(one, key, json_incref(value));
			add_values(t, table, row, "", one);
			json_decref(one);
		}
		free(path);
	}
}

static void copy(struct table *t, json_t *row, const char *name,
		 const json_t *object, const char *key, size_t i)
{
	json_t *value = object ? json_object_get(object, key) : NULL;

	if (json_is_array(value))
		value = json_array_get(value, i);
	if (value)
		set_value(t, row, name, json_incref(value));
}

/* A row for each slice of time in which @cell, or all pairs (NULL), shared. */
static void add_slices(struct table *t, const json_t *slices,
		       const json_t *cell)
{
	json_int_t begin =
		json_integer_value(json_object_get(slices, "begin_ns"));
	json_int_t length =
		json_integer_value(json_object_get(slices, "slice_ns"));
	const json_t *from = cell ? cell : slices;
	const json_t *yes = json_object_get(from, "true");
	const json_t *no = json_object_get(from, "false");

	for (size_t i = 0; i < json_array_size(yes); i++) {
		json_t *row;

		if (cell && !json_integer_value(json_array_get(yes, i)) &&
		    !json_integer_value(json_array_get(no, i)))
			continue;
		row = add_row(t);
		set_value(t, row, "begin_ns",
			  json_integer(begin + (json_int_t)i * length));
		copy(t, row, "a", cell, "a", 0);
		copy(t, row, "b", cell, "b", 0);
		copy(t, row, "true", from, "true", i);
		copy(t, row, "false", from, "false", i);
		if (!cell)
			copy(t, row, "samples", slices, "samples", i);
	}
}

/* Sharing over time: the strips of the JSON, a row for each number. */
static void add_time(struct tables *t, const json_t *slices)
{
	const json_t *cell;
	size_t i, all, pairs;

	if (!slices)
		return;
	all = table_at(t, "time");
	add_slices(&t->table[all], slices, NULL);
	pairs = table_at(t, "time_pairs");
	json_array_foreach(json_object_get(slices, "cells"), i, cell)
		add_slices(&t->table[pairs], slices, cell);
}

void tables_init(struct tables *t, const json_t *report)
{
	const char *key;
	json_t *value;

	*t = (struct tables){ 0 };
	json_object_foreach((json_t *)report, key, value)
	{
		if (json_is_array(value))
			add_rows(t, key, value, NULL, 0);
		else if (json_is_object(value))
			add_object(t, key, value);
	}
	add_time(t, json_object_get(json_object_get(report, "communication"),
				    "slices"));
}

void tables_release(struct tables *t)
{
	for (size_t i = 0; i < t->tables; i++) {
		struct table *x = &t->table[i];

		for (size_t k = 0; k < x->columns; k++)
			free(x->column[k]);
		for (size_t k = 0; k < x->rows; k++)
			json_decref(x->row[k]);
		free(x->column);
		free(x->row);
		free(x->name);
	}
	free(t->table);
	*t = (struct tables){ 0 };
}

const json_t *table_value(const struct table *t, size_t row, size_t column)
{
	return json_object_get(t->row[row], t->column[column]);
}
