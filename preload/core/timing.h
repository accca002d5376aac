/* SPDX-License-Identifier: MIT */
/*
 * timing - the clocks that the library reads
 */
#ifndef COMDET_PRELOAD_CORE_TIMING_H
#define COMDET_PRELOAD_CORE_TIMING_H

#include <stdint.h>

/* CLOCK_MONOTONIC, ns. Any context. */
uint64_t now_ns(void);

/* CPU time of the calling thread, ns. Any context. */
uint64_t thread_cpu_ns(void);

#endif
