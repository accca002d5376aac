/* SPDX-License-Identifier: MIT */
/*
 * json_build - build JSON and print it
 */
#include <stdio.h>
#include <string.h>

#include "json_build.h"
#include "src/base/utf8.h"

/* Escape as JSON does, above U+FFFF in two halves. */
static void write_escaped(FILE *f, uint32_t p)
{
	if (p < 0x10000)
		fprintf(f, "\\u%04x", p);
	else
		fprintf(f, "\\u%04x\\u%04x", 0xd800 + ((p - 0x10000) >> 10),
			0xdc00 + (p & 0x3ff));
}

/*
 * JSON itself escapes control characters of ASCII but DEL. What it hands out
 * ends between characters, and need not end with 0.
 */
static int write_part(const char *part, size_t n, void *file)
{
	for (size_t i = 0, bytes = 1; i < n; i += bytes) {
		unsigned char next[5] = { 0 };
		uint32_t point;

		memcpy(next, part + i, n - i < 4 ? n - i : 4);
		bytes = utf8_next(next, &point);
		if (bytes && next[0] >= 0x7f && !utf8_is_safe(point)) {
			write_escaped(file, point);
			continue;
		}
		bytes = bytes ? bytes : 1;
		fwrite(next, 1, bytes, file);
	}
	return ferror(file) ? -1 : 0;
}

int json_write(const json_t *o, FILE *f, size_t flags)
{
	return json_dump_callback(o, write_part, f, flags);
}

int json_print(json_t *o)
{
	int err;

	if (!o)
		die("out of memory");
	err = json_write(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return err;
}
