/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "analysis/base/util.h"

/* In quotes if it needs them; quotes within are doubled. */
static void put_field(FILE *f, const char *s)
{
	char *clean;
	size_t size;
	FILE *to;

	to = open_memstream(&clean, &size);
	if (!to)
		die("out of memory");
	print_safe(to, s);
	if (fclose(to))
		die("out of memory");
	if (!clean[strcspn(clean, ",\"\r\n")]) {
		fputs(clean, f);
	} else {
		fputc('"', f);
		for (const char *p = clean; *p; p++) {
			if (*p == '"')
				fputc('"', f);
			fputc(*p, f);
		}
		fputc('"', f);
	}
	free(clean);
}

static void put_value(FILE *f, const json_t *v)
{
	char *s;

	if (!v || json_is_null(v))
		return;
	if (json_is_string(v)) {
		put_field(f, json_string_value(v));
		return;
	}
	s = json_dumps(v, JSON_ENCODE_ANY);
	if (!s)
		die("out of memory");
	fputs(s, f);
	free(s);
}

void csv_write(FILE *f, const struct table *t)
{
	for (size_t c = 0; c < t->columns; c++) {
		if (c)
			fputc(',', f);
		put_field(f, t->column[c]);
	}
	fputc('\n', f);
	for (size_t r = 0; r < t->rows; r++) {
		for (size_t c = 0; c < t->columns; c++) {
			if (c)
				fputc(',', f);
			put_value(f, table_value(t, r, c));
		}
		fputc('\n', f);
	}
}
