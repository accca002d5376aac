/* SPDX-License-Identifier: MIT */
/*
 * gain - how much less time the program takes if threads no longer share a line
 *
 * The threads that share the line run side by side for some time; of that they
 * spend a share at the line (line_time.h), and there an access takes as much
 * longer than on a line of its own as the probe says (sharing_cost.h). What the
 * slowest of these threads saves, the program saves, if it waits for it.
 */
#ifndef COMDET_ANALYSIS_REPORT_GAIN_H
#define COMDET_ANALYSIS_REPORT_GAIN_H

#include <jansson.h>

#include "report.h"

enum gain_known {
	GAIN_NOT_SOUGHT, /* not by the clock, or without a probe */
	GAIN_TOO_FEW,    /* detections: wrong by more than a factor of two */
	GAIN_KNOWN
};

struct gain {
	enum gain_known known;
	double seconds, low, high; /* the interval is a factor of two wide */
	double error;              /* the logarithm of a factor */
};

/* What padding saves at line @l of @r, alone. */
struct gain gain_of_line(const struct report *r, const struct line_tally *l);

/* Add what another line of the same fix saves. */
void gain_add(struct gain *g, const struct gain *more);

/* Set the interval; no gain is more than @run_seconds. */
void gain_finish(struct gain *g, double run_seconds);

/* A sentence below the fix, and the member "gain" of the fix @o. */
void gain_print(const struct report *r, const struct gain *g);
void put_gain(json_t *o, const struct report *r, const struct gain *g);

#endif
