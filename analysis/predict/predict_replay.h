/* SPDX-License-Identifier: MIT */
/*
 * predict_replay - threads whose speed is known wait for each other
 *
 * Symbolic execution of RPPM: the instructions between two events of a thread
 * are an epoch, which takes the cycles that its windows say.
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREDICT_REPLAY_H
#define COMDET_ANALYSIS_PREDICT_PREDICT_REPLAY_H

#include "predict.h"
#include "replay_plan.h"

/* What is replayed. */
struct replayed {
	const struct workload *workload;
	const struct replay_plan *plan; /* of @workload */
	const struct machine *machine;
	const struct predict_options *options;
};

/*
 * @p has the cycles of the windows. Set its times, sync components and, unless
 * only times are wanted, the bottlegraph. Returns 0, or -EINVAL with a line in
 * @error.
 */
int predict_replay(struct predicted *p, const struct replayed *of,
		   char error[WORKLOAD_ERROR_BYTES]);

/*
 * The same behind it, for the order in which threads get a contended lock. If
 * all calls take the same time, threads fall in step, and a cycle more or less
 * can put them into another step. So if the times change when each call takes
 * a random time with the same mean, they are the means of several such replays.
 */
int predict_replay_noisy(struct predicted *p, const struct replayed *of,
			 char error[WORKLOAD_ERROR_BYTES]);

#endif
