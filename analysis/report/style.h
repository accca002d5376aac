/* SPDX-License-Identifier: MIT */
/*
 * style - colours, headings and the wording that tables have in common
 */
#ifndef COMDET_ANALYSIS_REPORT_STYLE_H
#define COMDET_ANALYSIS_REPORT_STYLE_H

#include "report.h"

enum paint {
	PAINT_HEAD,
	PAINT_HOT,
	PAINT_WARM,
	PAINT_DIM,
	PAINT_OFF
};

/* The escape sequence of @p, or "" if the report has no colour. */
const char *paint(const struct report *r, enum paint p);

/* Print a blank line and a heading. */
void report_heading(struct report *r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Print "... and 12 more" if a table of @rows rows was cut at @r->top. */
void report_more(struct report *r, size_t rows);

/* @n in at most 5 columns, in @buf of @size: 12345, 123k, 12M. */
const char *short_count(uint64_t n, char *buf, size_t size);

/* Print "foo.c:41 (function)" and end the line. */
void report_place(struct report *r, const struct place *p);

#endif
