/* SPDX-License-Identifier: MIT */
/*
 * pmu_study - the study of precise event sampling, with the sources at hand
 *
 * Chapter 4 of M. A. Sasongko's PhD thesis (2022): loops whose accesses are
 * known by construction (microbench/precise.h) run under each source that opens
 * here, and every sample is compared with the instruction that it must come
 * from. Each run is a `reusetrack record` of its own with a log of its samples
 * (src/store/sample_log.h). Columns stand for sources, and for two ways to run
 * without a source, with which their cost is compared.
 */
#ifndef COMDET_ANALYSIS_ACCURACY_PMU_STUDY_H
#define COMDET_ANALYSIS_ACCURACY_PMU_STUDY_H

#include "accuracy.h"

/*
 * Run the whole study under the sources that @list names, or all that open if
 * it is NULL. Dies if none of them opens.
 */
void pmu_study_run_all(struct accuracy *all, const char *list);

#endif
