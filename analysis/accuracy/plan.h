/* SPDX-License-Identifier: MIT */
/*
 * plan - trials with their defaults, and figures that the suites share
 */
#ifndef COMDET_ANALYSIS_ACCURACY_PLAN_H
#define COMDET_ANALYSIS_ACCURACY_PLAN_H

#include "accuracy.h"

/* Memory accesses of one iteration of a thread, rounded down. */
#define ACCURACY_WRITE_VOLUME   1.95
#define ACCURACY_EXCHANGE       2.9 /* with exchanges or additions */
#define ACCURACY_FALSE_SHARING  2.95
#define ACCURACY_READ_WRITE     0.98
#define ACCURACY_POINT_TO_POINT 1.9

/*
 * Accesses and period of a run in the short form. A row fails by chance less
 * than once in 10,000 times if its bound is at least four standard errors. Over
 * a dozen seeds, the standard error of a total was 0.033 for Write-Volume and
 * counters at 4e6 accesses, and 0.037 for bursts and rings of four threads at
 * 1e7, half as many samples as here: at 1.6e7 the bound of 0.15 is four
 * standard errors of the former and six of the latter. For Read-Write it is
 * 0.016 with a bound of 0.07; for the share of false transfers at 1.6e7 it is
 * 0.005 with a bound of 0.02.
 */
#define ACCURACY_SHORT        4e6
#define ACCURACY_SHORT_PERIOD 500

#define ACCURACY_WORST        0.15 /* bound of a total, watching whole lines */

enum {
	ACCURACY_PATTERNS = 9,
};

struct accuracy_pattern {
	const char *label, *options;
	double accesses; /* in an iteration, as above */
	double worst;    /* bound of the total's error; 0: judge by the interval
			  */
	double in_long;  /* accesses of a run, watching whole lines */
	double in_short; /* accesses of a run in the short form; 0: none */
};

extern const struct accuracy_pattern accuracy_patterns[ACCURACY_PATTERNS];

/* A topology of two sockets (src/base/topology.h) for record's --topology. */
extern const char accuracy_sockets[];

/*
 * Add a trial of at least @accesses accesses in all, with everything else at
 * its default and its number in the suite as the seed; the caller sets the
 * label and what differs. The result is valid until the next call.
 */
struct accuracy_trial *accuracy_plan(struct accuracy *all, const char *suite,
				     const char *program, uint32_t threads,
				     double accesses, double an_iteration,
				     const char *options);

#endif
