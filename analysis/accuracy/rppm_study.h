/* SPDX-License-Identifier: MIT */
/*
 * rppm_study - predictions from profiles against a reference simulator
 *
 * The programs of kernels.h are traced, profiled and predicted on the same
 * machines. The components of the predicted stacks are compared with those of
 * our own simulator. Nothing is fitted.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_RPPM_STUDY_H
#define COMDET_ANALYSIS_ACCURACY_RPPM_STUDY_H

#include "accuracy.h"

/*
 * Add the rows. @folder has the reference; NULL: where the project keeps it.
 * Exits with KERNELS_SKIPPED and one line if it is not there, or if the
 * programs cannot be built here.
 */
void rppm_study_run(struct accuracy *all, const char *folder);

#endif
