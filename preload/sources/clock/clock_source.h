/* SPDX-License-Identifier: MIT */
/*
 * clock_source - the source clock: one access chosen at each clock interrupt
 */
#ifndef COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_SOURCE_H
#define COMDET_PRELOAD_SOURCES_CLOCK_CLOCK_SOURCE_H

#include "preload/core/source.h"

extern const struct source_ops clock_source;

#endif
