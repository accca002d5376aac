/* SPDX-License-Identifier: MIT */
/*
 * entropy - how hard the branches of a window are to predict
 *
 * Linear branch entropy (De Pestel, Eyerman, Eeckhout, ISPASS 2015): of the
 * executions of a branch behind the same last outcomes, n_t were taken and n_n
 * were not; then
 *
 *	E = sum of 2 min(n_t, n_n) / sum of n_t + n_n
 *
 * over all branches and histories, from 0 (each outcome follows from the
 * history) to 1. A predictor that knows the more frequent outcome of each
 * history errs in E / 2 of the branches. The history is that of the branch
 * (local), or that of all branches (global); tournament takes for each branch
 * the better one.
 */
#ifndef COMDET_ANALYSIS_PREDICT_ENTROPY_H
#define COMDET_ANALYSIS_PREDICT_ENTROPY_H

#include "workload.h"

struct entropy;

struct entropy *entropy_new(void);
void entropy_free(struct entropy *e);
void entropy_branch(struct entropy *e, uint64_t ip, bool taken);

/* Put the entropies since the last call into @to, and begin again. */
void entropy_take(struct entropy *e, double to[ENTROPIES]);

#endif
