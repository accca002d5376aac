/* SPDX-License-Identifier: MIT */
/*
 * line_groups - the cache lines of one variable as one group
 *
 * An array may lie on many lines, each with a small part of the sharing. Their
 * sum says how much the array matters.
 */
#ifndef COMDET_ANALYSIS_REPORT_LINE_GROUPS_H
#define COMDET_ANALYSIS_REPORT_LINE_GROUPS_H

#include "analysis/attribution/tally.h"

/* Lines of one variable, or a single line of other memory. */
struct line_group {
	size_t first, lines; /* its part of line_groups.line */
	uint64_t kind[SHARING_KINDS];
};

struct line_groups {
	struct line_group *group; /* most detections first */
	size_t groups;
	size_t *line; /* indices of tally.line; in a group most first */
};

void line_groups_init(struct line_groups *g, const struct tally *t);
void line_groups_release(struct line_groups *g);

#endif
