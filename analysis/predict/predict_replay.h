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

/*
 * @p has the cycles of the windows. Set its times, sync components and the
 * bottlegraph. Returns 0, or -EINVAL with a line in @error.
 */
int predict_replay(struct predicted *p, const struct workload *w,
		   const struct machine *m, bool literal,
		   char error[WORKLOAD_ERROR_BYTES]);

#endif
