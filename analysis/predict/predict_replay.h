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

/*
 * @p has the cycles of the windows, and @plan is that of @w. Set its times,
 * sync components and, unless only times are wanted, the bottlegraph. Returns
 * 0, or -EINVAL with a line in @error.
 */
int predict_replay(struct predicted *p, const struct workload *w,
		   const struct replay_plan *plan, const struct machine *m,
		   const struct predict_options *options,
		   char error[WORKLOAD_ERROR_BYTES]);

#endif
