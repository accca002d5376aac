/* SPDX-License-Identifier: MIT */
/*
 * diff_text - print what changed, for people
 */
#ifndef COMDET_ANALYSIS_DIFF_DIFF_TEXT_H
#define COMDET_ANALYSIS_DIFF_DIFF_TEXT_H

#include <stdio.h>

#include "diff.h"

/* Print the answer and the tables, of places at most @top rows each. */
void diff_text(const struct diff *d, FILE *f, size_t top);

/* "better", "worse", "noise" or "unknown": fewer is better. */
const char *verdict_text(enum verdict v);

#endif
