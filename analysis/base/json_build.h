/* SPDX-License-Identifier: MIT */
/*
 * json_build - build JSON and print it
 *
 * Every function dies when memory runs out. A value that is put into an object
 * or array belongs to it from then on.
 */
#ifndef COMDET_ANALYSIS_BASE_JSON_BUILD_H
#define COMDET_ANALYSIS_BASE_JSON_BUILD_H

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "util.h"
#include "src/base/interval.h"

static inline void put(json_t *object, const char *name, json_t *value)
{
	if (!value || json_object_set_new(object, name, value))
		die("out of memory");
}

static inline void append(json_t *array, json_t *value)
{
	if (!value || json_array_append_new(array, value))
		die("out of memory");
}

/* Larger integers are not portable in JSON, so they are cut to INT64_MAX. */
static inline json_t *integer(uint64_t n)
{
	return json_integer(n > INT64_MAX ? INT64_MAX : (json_int_t)n);
}

static inline void put_count(json_t *object, const char *name, uint64_t n)
{
	put(object, name, integer(n));
}

/* @s may hold any bytes; utf8_text() replaces those that are not UTF-8. */
static inline json_t *text(const char *s)
{
	char *copy = utf8_text(s);
	json_t *j = json_string(copy);

	free(copy);
	return j;
}

/* Leave the name out if @s is NULL or empty. */
static inline void put_text(json_t *object, const char *name, const char *s)
{
	if (s && *s)
		put(object, name, text(s));
}

/* Addresses and offsets are written as strings. */
static inline json_t *hex(uint64_t n)
{
	return json_sprintf("0x%llx", (unsigned long long)n);
}

/* Write the limits of an interval. */
static inline void put_interval(json_t *object, struct interval v)
{
	put(object, "low", json_real(v.low));
	put(object, "high", json_real(v.high));
}

/* Write where code is in the source; NULL means unknown. */
static inline void put_location(json_t *object, const char *function,
				const char *file, int line)
{
	char *location;

	put_text(object, "function", function);
	if (!file)
		return;
	/* A compiler may know the file alone. */
	location = line ? xasprintf("%s:%d", file, line) : xstrdup(file);
	put(object, "location", text(location));
	free(location);
}

/*
 * Print @o to @f with jansson's @flags, and characters that are not safe for a
 * terminal as \uNNNN. Returns 0, or -1 if it could not be written.
 */
int json_write(const json_t *o, FILE *f, size_t flags);

/*
 * Print @o on stdout and release it; dies if @o is NULL, for want of memory.
 * Returns 0, or -1 if it could not be written.
 */
int json_print(json_t *o);

#endif
