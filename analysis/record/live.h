/* SPDX-License-Identifier: MIT */
/*
 * live - how the recording goes, on one line of the terminal
 *
 * The program has the terminal too, so the line is shown only if the user asks
 * for it (record --progress), and only if standard error is a terminal.
 */
#ifndef COMDET_ANALYSIS_RECORD_LIVE_H
#define COMDET_ANALYSIS_RECORD_LIVE_H

#include <stdint.h>

#include "run.h"

struct live {
	int dirfd;      /* of the output */
	uint64_t begin; /* ns, CLOCK_MONOTONIC */
};

/*
 * The line after @ns, from what the processes have written so far: "12 s: 5,624
 * samples, 1,613 detections". To be freed.
 */
char *live_text(int dirfd, uint64_t ns);

/* Show the line each second while @r runs, if it is asked for. */
void live_begin(struct live *p, struct run *r, int dirfd);
/* Remove the line. */
void live_end(const struct run *r);

#endif
