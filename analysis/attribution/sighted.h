/* SPDX-License-Identifier: MIT */
/*
 * sighted - lines that were seen to go from thread to thread, and no sample met
 *
 * The meetings of a profile (src/engine/looks.h), by line, threads and places.
 * Lines with detections are left out: the map has them.
 */
#ifndef COMDET_ANALYSIS_ATTRIBUTION_SIGHTED_H
#define COMDET_ANALYSIS_ATTRIBUTION_SIGHTED_H

#include <stddef.h>
#include <stdint.h>

#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"

struct sighted_line {
	uint32_t process;
	uint64_t line;
	struct object object; /* at the address with most meetings */
	uint64_t meetings;
	uint64_t kind[SHARING_KINDS]; /* the same by kind */
	size_t first, pairs; /* its part of sighted.pair, most meetings first */
};

struct sighted {
	struct sighted_line *line; /* most meetings first */
	size_t lines;
	const struct pair_row **pair;
	uint64_t looks, accesses; /* of all threads */
};

/* With @thread >= 0, of the lines that this row takes part in. */
void sighted_init(struct sighted *s, const struct profile *p,
		  struct symbols *symbols, int64_t thread);
void sighted_release(struct sighted *s);

#endif
