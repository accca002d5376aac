/* SPDX-License-Identifier: MIT */
/*
 * calls - detections by the calls that led to both accesses (record -g)
 */
#ifndef COMDET_ANALYSIS_REPORT_CALLS_H
#define COMDET_ANALYSIS_REPORT_CALLS_H

#include <jansson.h>

#include "report.h"

/* A call on a path, or the access itself. */
struct call_frame {
	struct place place;
	bool recurs; /* the function called here has called itself there */
};

enum {
	CALL_FRAMES_MAX = 512, /* longer paths are cut */
};

/*
 * The frames of path @node, the access first. Those by which the C library
 * starts a thread or the program are left out. Returns how many.
 */
size_t call_frames(const struct report *r, const struct process *process,
		   uint32_t node, struct call_frame *frame);

/* One call, as JSON has it in lists of calls. */
json_t *call_json(const struct place *p, bool recurs);

/* The section of the text; nothing if the profile has no paths. */
void report_calls(struct report *r);

/* The same as a member of @o, if the profile has paths. */
void report_calls_json(const struct report *r, json_t *o);

#endif
