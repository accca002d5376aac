/* SPDX-License-Identifier: MIT */
/*
 * pprof - stacks in the format of pprof, which go tool pprof and others read
 *
 * Two values: detections of false and of true sharing. Labels name the threads,
 * the process, the object and the cache line.
 */
#ifndef COMDET_ANALYSIS_EXPORT_PPROF_H
#define COMDET_ANALYSIS_EXPORT_PPROF_H

#include <stdio.h>

#include "stacks.h"

/* Not compressed. Dies for want of memory. */
void pprof_write(FILE *f, const struct stacks *s, const struct report *r);

#endif
