/* SPDX-License-Identifier: MIT */
/*
 * timing - the clocks that the library reads
 */
#include <time.h>

#include "timing.h"
#include "sys.h"
#include "vdso.h"
#include "src/base/signal_safe.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	vdso_clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

uint64_t thread_cpu_ns(void)
{
	struct timespec ts = { 0, 0 };

	sys_call2(SYS_clock_gettime, CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}
