/* SPDX-License-Identifier: MIT */
/*
 * pmu_source - the sources pebs and ibs: samples of hardware events
 */
#ifndef COMDET_PRELOAD_SOURCES_PMU_PMU_SOURCE_H
#define COMDET_PRELOAD_SOURCES_PMU_PMU_SOURCE_H

#include "preload/core/source.h"

extern const struct source_ops pmu_source;

#endif
