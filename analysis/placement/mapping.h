/* SPDX-License-Identifier: MIT */
/*
 * mapping - propose a core for each thread, from the matrix
 */
#ifndef COMDET_ANALYSIS_PLACEMENT_MAPPING_H
#define COMDET_ANALYSIS_PLACEMENT_MAPPING_H

#include <stdio.h>

#include "analysis/attribution/tally.h"

/*
 * Print the cores of this machine, or of @topology (places.h), that keep the
 * threads near which share lines, and the commands that put them there.
 */
void mapping_print(FILE *f, const struct tally *t, const char *topology);

#endif
