/* SPDX-License-Identifier: MIT */
/*
 * print - the rows of accuracy as tables and as JSON
 */
#include <math.h>
#include <string.h>

#include "print.h"
#include "judge.h"
#include "analysis/base/json_build.h"

enum {
	NUMBER_BYTES = 24,
	NAME_COLUMNS = 34,
};
#define SOURCE "emu"

/* Five significant digits: 0.1234, 12.345, 123,456. */
static const char *figure(double x, char *to)
{
	if (isnan(x))
		return strcpy(to, "-");
	if (fabs(x) < 10)
		snprintf(to, NUMBER_BYTES, "%.3f", x);
	else if (fabs(x) < 1e15)
		snprintf(to, NUMBER_BYTES, "%s%s", x < 0 ? "-" : "",
			 count_text((uint64_t)(fabs(x) + 0.5)));
	else
		snprintf(to, NUMBER_BYTES, "%.4g", x);
	return to;
}

static const char *percent(double x, const char *format, char *to)
{
	if (isnan(x))
		return strcpy(to, "-");
	snprintf(to, NUMBER_BYTES, format, 100 * x);
	return to;
}

static const char *verdict_text(enum accuracy_verdict v)
{
	return v == ACCURACY_PASSED   ? "pass"
	       : v == ACCURACY_FAILED ? "FAIL"
				      : "-";
}

static void print_row(const struct accuracy_row *r)
{
	char measured[NUMBER_BYTES], truth[NUMBER_BYTES], low[NUMBER_BYTES];
	char high[NUMBER_BYTES], error[NUMBER_BYTES], bound[NUMBER_BYTES];
	char threads[NUMBER_BYTES] = "";

	if (r->threads)
		snprintf(threads, sizeof(threads), "%u", r->threads);
	printf("  %-34s %2s %13s %13s %8s %6s  %s", safe_text(r->name), threads,
	       figure(r->measured, measured), figure(r->truth, truth),
	       percent(r->error, "%+.1f %%", error),
	       percent(r->bound, "%.0f %%", bound), verdict_text(r->verdict));
	if (!isnan(r->low))
		printf("  %s to %s", figure(r->low, low),
		       figure(r->high, high));
	putchar('\n');
}

void accuracy_print_suite(const struct accuracy_suite *s)
{
	printf("%s\n", s->title);
}

void accuracy_print_rows(const struct accuracy *all, size_t first)
{
	const char *metric = "";

	for (size_t i = first; i < all->rows; i++) {
		const struct accuracy_row *r = &all->row[i];

		if (strcmp(metric, r->metric))
			printf("  %-34s %2s %13s %13s %8s %6s\n", r->metric,
			       "T", "measured", "exact", "error", "bound");
		metric = r->metric;
		print_row(r);
	}
	putchar('\n');
	fflush(stdout);
}

static json_t *real(double x)
{
	return isnan(x) || isinf(x) ? json_null() : json_real(x);
}

static json_t *row_json(const struct accuracy_row *r)
{
	json_t *o = json_object();

	put(o, "suite", json_string(r->suite));
	put(o, "case", json_string(r->name));
	put(o, "source", json_string(r->source ? r->source : SOURCE));
	put(o, "threads", r->threads ? json_integer(r->threads) : json_null());
	put(o, "metric", json_string(r->metric));
	put(o, "measured", real(r->measured));
	put(o, "truth", real(r->truth));
	put(o, "error", real(r->error));
	put(o, "low", real(r->low));
	put(o, "high", real(r->high));
	put(o, "bound", real(r->bound));
	put(o, "pass",
	    r->verdict == ACCURACY_SHOWN
		    ? json_null()
		    : json_boolean(r->verdict == ACCURACY_PASSED));
	return o;
}

void accuracy_print_json(const struct accuracy *all)
{
	json_t *o = json_object(), *rows = json_array();

	for (size_t i = 0; i < all->rows; i++)
		append(rows, row_json(&all->row[i]));
	put(o, "schema", json_integer(1));
	put(o, "rows", rows);
	json_write(o, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(o);
}
