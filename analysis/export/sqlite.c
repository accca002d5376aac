/* SPDX-License-Identifier: MIT */
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "sqlite.h"
#include "analysis/base/util.h"

static char problem[256];

static const char *failed(sqlite3 *db)
{
	snprintf(problem, sizeof(problem), "%s", sqlite3_errmsg(db));
	return problem;
}

/* The text in @s, to be freed with sqlite3_free(). */
static char *finish(sqlite3_str *s)
{
	char *text = sqlite3_str_finish(s);

	if (!text)
		die("out of memory");
	return text;
}

/* CREATE TABLE "t" ("a","b") */
static char *create_text(const struct table *t)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendf(s, "CREATE TABLE \"%w\" (", t->name);
	for (size_t c = 0; c < t->columns; c++)
		sqlite3_str_appendf(s, "%s\"%w\"", c ? "," : "", t->column[c]);
	sqlite3_str_appendchar(s, 1, ')');
	return finish(s);
}

/* INSERT INTO "t" VALUES (?,?) */
static char *insert_text(const struct table *t)
{
	sqlite3_str *s = sqlite3_str_new(NULL);

	sqlite3_str_appendf(s, "INSERT INTO \"%w\" VALUES (", t->name);
	for (size_t c = 0; c < t->columns; c++)
		sqlite3_str_appendall(s, c ? ",?" : "?");
	sqlite3_str_appendchar(s, 1, ')');
	return finish(s);
}

static int bind(sqlite3_stmt *s, int at, const json_t *v)
{
	switch (v ? json_typeof(v) : JSON_NULL) {
	case JSON_STRING:
		return sqlite3_bind_text(s, at, json_string_value(v),
					 (int)json_string_length(v),
					 SQLITE_STATIC);
	case JSON_INTEGER:
		return sqlite3_bind_int64(s, at, json_integer_value(v));
	case JSON_REAL:
		return sqlite3_bind_double(s, at, json_real_value(v));
	case JSON_TRUE:
	case JSON_FALSE:
		return sqlite3_bind_int(s, at, json_is_true(v));
	default:
		return sqlite3_bind_null(s, at);
	}
}

static int insert_rows(sqlite3_stmt *s, const struct table *t)
{
	int err = SQLITE_OK;

	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns && !err; c++)
			err = bind(s, (int)c + 1, table_value(t, r, c));
		if (err || sqlite3_step(s) != SQLITE_DONE)
			return -1;
		sqlite3_reset(s);
	}
	return 0;
}

static int add_table(sqlite3 *db, const struct table *t)
{
	char *create = create_text(t), *insert = insert_text(t);
	sqlite3_stmt *s = NULL;
	int err = sqlite3_exec(db, create, NULL, NULL, NULL) ||
		  sqlite3_prepare_v2(db, insert, -1, &s, NULL) ||
		  insert_rows(s, t);

	sqlite3_finalize(s);
	sqlite3_free(create);
	sqlite3_free(insert);
	return err;
}

const char *sqlite_write(const char *path, const struct tables *t)
{
	const char *why = NULL;
	sqlite3 *db = NULL;

	if (sqlite3_open_v2(path, &db,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ||
	    sqlite3_exec(db, "BEGIN", NULL, NULL, NULL))
		why = failed(db);
	for (size_t i = 0; i < t->tables && !why; i++)
		if (add_table(db, &t->table[i]))
			why = failed(db);
	if (!why && sqlite3_exec(db, "COMMIT", NULL, NULL, NULL))
		why = failed(db);
	sqlite3_close(db);
	return why;
}
