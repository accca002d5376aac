/* SPDX-License-Identifier: MIT */
/*
 * reuse_text - how far apart a program's reuses are, for people
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_TEXT_H
#define COMDET_ANALYSIS_REPORT_REUSE_TEXT_H

#include "reuse.h"

/* Print it; nothing if no reuse was measured. */
void report_reuse_text(struct report *out, const struct report_reuse *r);

#endif
