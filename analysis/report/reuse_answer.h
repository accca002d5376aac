/* SPDX-License-Identifier: MIT */
/*
 * reuse_answer - what the report says first about reuse
 */
#ifndef COMDET_ANALYSIS_REPORT_REUSE_ANSWER_H
#define COMDET_ANALYSIS_REPORT_REUSE_ANSWER_H

#include "reuse.h"

/* Print it; false if no reuse was measured. */
bool report_reuse_answer(struct report *out, const struct report_reuse *r);

#endif
