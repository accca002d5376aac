/* SPDX-License-Identifier: MIT */
/*
 * style - colours, headings and the wording that tables have in common
 */
#include <stdarg.h>

#include "style.h"
#include "analysis/base/util.h"

const char *paint(const struct report *r, enum paint p)
{
	if (!r->colour)
		return "";
	switch (p) {
	case PAINT_HEAD:
		return "\033[1m";
	case PAINT_HOT:
		return "\033[1;31m";
	case PAINT_WARM:
		return "\033[33m";
	case PAINT_DIM:
		return "\033[2m";
	default:
		return "\033[0m";
	}
}

void report_heading(struct report *r, const char *fmt, ...)
{
	va_list ap;

	fprintf(r->out, "\n%s", paint(r, PAINT_HEAD));
	va_start(ap, fmt);
	vfprintf(r->out, fmt, ap);
	va_end(ap);
	fprintf(r->out, "%s\n", paint(r, PAINT_OFF));
}

void report_more(struct report *r, size_t rows)
{
	if (rows > r->top)
		fprintf(r->out, "  ... and %s more\n",
			count_text(rows - r->top));
}

const char *short_count(uint64_t n, char *buf, size_t size)
{
	static const char units[] = "kMGTPE";
	double x = (double)n;
	int u = -1;

	if (n < 100000) {
		snprintf(buf, size, "%llu", (unsigned long long)n);
		return buf;
	}
	while (x >= 1000 && u < 5) {
		x /= 1000;
		u++;
	}
	snprintf(buf, size, "%.0f%c", x, units[u]);
	return buf;
}

void report_place(struct report *r, const struct place *p)
{
	fputs(place_text(p), r->out);
	if (p->function)
		fprintf(r->out, " (%s)", safe_text(p->function));
	fputc('\n', r->out);
}
