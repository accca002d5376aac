/* SPDX-License-Identifier: MIT */
/*
 * flame - stacks for tools that draw flame graphs
 */
#ifndef COMDET_ANALYSIS_EXPORT_FLAME_H
#define COMDET_ANALYSIS_EXPORT_FLAME_H

#include <stdio.h>

#include "stacks.h"

/* A line for each stack: "frame;frame;... detections", as flamegraph.pl reads.
 */
void flame_collapsed(FILE *f, const struct stacks *s);

/*
 * The format of speedscope (https://www.speedscope.app), one profile.
 * Returns 0, or -1 if it could not be printed.
 */
int flame_speedscope(FILE *f, const struct stacks *s);

#endif
