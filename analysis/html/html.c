/* SPDX-License-Identifier: MIT */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "html.h"
#include "page.h"
#include "analysis/base/json_build.h"
#include "analysis/report/json.h"
#include "analysis/report/text.h"

/* Put what @print writes into @r->out into *@text; the caller frees it. */
static void print_into(char **text, struct report *r,
		       int (*print)(struct report *r))
{
	FILE *out = r->out;
	bool colour = r->colour;
	size_t size;

	r->out = open_memstream(text, &size);
	r->colour = false;
	if (!r->out || print(r) || fclose(r->out))
		die("out of memory");
	r->out = out;
	r->colour = colour;
}

static int print_text(struct report *r)
{
	report_text(r);
	return 0;
}

/* The text of the report, and its first paragraph, as a JSON object. */
static char *text_object(struct report *r)
{
	char *text, *json;
	const char *end;
	json_t *o = json_object();

	print_into(&text, r, print_text);
	end = strstr(text, "\n\n");
	put(o, "answer",
	    json_stringn(text, end ? (size_t)(end - text) : strlen(text)));
	put(o, "text", json_string(text));
	free(text);
	json = json_dumps(o, JSON_COMPACT);
	if (!json)
		die("out of memory");
	json_decref(o);
	return json;
}

/*
 * A script ends at the first "</script", and "<!--" changes how it is read,
 * whatever they stand in. In JSON '<' stands in strings only.
 */
static void put_json(FILE *f, const char *json)
{
	size_t n;

	for (; *json; json += n) {
		n = strcspn(json, "<");
		fwrite(json, 1, n, f);
		if (json[n] == '<') {
			fputs("\\u003c", f);
			n++;
		}
	}
}

/* Write the page up to @mark, and return what comes after it. */
static const char *put_until(FILE *f, const char *page, const char *mark)
{
	const char *at = strstr(page, mark);

	fwrite(page, 1, (size_t)(at - page), f);
	return at + strlen(mark);
}

void report_html(FILE *f, struct report *r)
{
	char *data, *text = text_object(r);
	const char *page = html_page;

	print_into(&data, r, report_json);
	page = put_until(f, page, "@DATA@");
	put_json(f, data);
	page = put_until(f, page, "@TEXT@");
	put_json(f, text);
	fputs(page, f);
	free(data);
	free(text);
}
