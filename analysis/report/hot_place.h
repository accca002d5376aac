/* SPDX-License-Identifier: MIT */
/*
 * hot_place - the line or variable with most of the sharing, and who writes it
 */
#ifndef COMDET_ANALYSIS_REPORT_HOT_PLACE_H
#define COMDET_ANALYSIS_REPORT_HOT_PLACE_H

#include "report.h"

enum {
	SHARE_DETECTIONS = 10, /* fewer give counts, no share */
	HOT_PLACE_BYTES = 2600
};

/* "true" or "false". */
const char *sharing_text(enum sharing kind);

/*
 * Write a sentence to @out, after a blank, that says where most of the sharing
 * of @kind is: on one line, or on the lines of one variable. "" if there is
 * none.
 */
void hot_place(const struct report *r, enum sharing kind, char *out,
	       size_t size);

#endif
