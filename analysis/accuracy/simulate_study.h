/* SPDX-License-Identifier: MIT */
/*
 * simulate_study - the simulator against a reference simulator
 *
 * A folder holds the sources of small programs and what another simulator made
 * of them. Each is built, traced, and simulated on the same machines. Nothing
 * is fitted.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_SIMULATE_STUDY_H
#define COMDET_ANALYSIS_ACCURACY_SIMULATE_STUDY_H

#include "accuracy.h"

/*
 * Add the rows. @folder has the reference; NULL: where the project keeps it.
 * Exits with KERNELS_SKIPPED and one line if it is not there, or if the
 * programs cannot be built here.
 */
void simulate_study_run(struct accuracy *all, const char *folder);

#endif
