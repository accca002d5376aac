/* SPDX-License-Identifier: MIT */
/*
 * source - whatever delivers samples: the clock, or hardware events and a
 * clock that ticks slowly beside them
 */
#ifndef COMDET_PRELOAD_SOURCES_SOURCE_H
#define COMDET_PRELOAD_SOURCES_SOURCE_H

#include "preload/sources/clock/clock_reuse.h"
#include "preload/sources/pmu/pmu.h"
#include "preload/core/state.h"
#include "thread_reuse.h"

static inline void source_pause(void)
{
	clock_pause();
	if (runtime.hardware)
		pmu_source_pause();
}

static inline void source_resume(void)
{
	clock_resume();
	if (runtime.hardware)
		pmu_source_resume();
}

static inline void source_thread_begin(struct thread *t)
{
	clock_thread_begin(t);
	if (runtime.hardware)
		pmu_source_thread_begin(t);
	else
		thread_reuse_begin(t);
}

static inline void source_thread_end(struct thread *t)
{
	clock_thread_end(t);
	if (runtime.hardware)
		pmu_source_thread_end(t);
	else
		clock_reuse_end(t);
}

/* For all threads that there are: this one. Returns as clock_open. */
static inline int source_open(char *reason, size_t size)
{
	int r = clock_open(reason, size);

	if (!r && runtime.hardware)
		pmu_source_thread_begin(thread_self());
	else if (!r)
		thread_reuse_begin(thread_self());
	return r;
}

#endif
