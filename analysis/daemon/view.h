/* SPDX-License-Identifier: MIT */
/*
 * view - one screen: processes by their detections a second
 */
#ifndef COMDET_ANALYSIS_DAEMON_VIEW_H
#define COMDET_ANALYSIS_DAEMON_VIEW_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "analysis/attribution/tally.h"
#include "analysis/profile/profile.h"
#include "analysis/symbols/symbols.h"

struct view_row {
	uint32_t pid;
	uint64_t start; /* of the process */
	const char *name;
	uint64_t watched_ns, samples, detections[SHARING_KINDS];
	const struct line_tally *worst; /* NULL: none */
	const struct place *where;      /* an access to it, NULL: not known */
};

struct view {
	struct profile profile;
	struct symbols *symbols;
	struct tally tally;
	struct view_row *row; /* most detections a second first */
	size_t rows;
};

/*
 * Read the profile @path, of it the files that were made from @real_ms on.
 * Returns 0 or -errno; then the view is empty. view_release() in either case.
 */
int view_load(struct view *v, const char *path, uint64_t real_ms);
void view_release(struct view *v);

/*
 * Print the first @rows rows; no line has more than @columns columns, unless
 * that is 0.
 */
void view_print(const struct view *v, FILE *f, size_t rows, size_t columns);

#endif
