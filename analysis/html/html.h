/* SPDX-License-Identifier: MIT */
/*
 * html - the report as one page that needs nothing else
 *
 * The page holds the JSON and the text of the report, and draws them with
 * JavaScript of its own. It loads nothing and sends nothing, and its policy
 * forbids both. Names of the profiled program become text, never markup.
 */
#ifndef COMDET_ANALYSIS_HTML_HTML_H
#define COMDET_ANALYSIS_HTML_HTML_H

#include <stdio.h>

#include "analysis/report/report.h"

/* Write the page to @f. Leaves @r as it was. Dies for want of memory. */
void report_html(FILE *f, struct report *r);

#endif
