/* SPDX-License-Identifier: MIT */
/*
 * reuse_svg - miss ratio curves as a picture
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_SVG_H
#define COMDET_ANALYSIS_REPORT_REUSE_SVG_H

#include "reuse.h"

/* True if a stream has a curve. */
bool report_reuse_curves(const struct report_reuse *r);

/* Draw the curves of all streams that have one. */
void report_reuse_svg(FILE *f, const struct report_reuse *r);

#endif
