/* SPDX-License-Identifier: MIT */
/*
 * stop - end profiling while the program goes on
 */
#ifndef COMDET_PRELOAD_START_STOP_H
#define COMDET_PRELOAD_START_STOP_H

#include <stdbool.h>

/* Stop for good and say @why once. Any context. */
void runtime_stop(const char *why);

/*
 * No sample and no trap for the calling thread, and no sample for others, until
 * it is called with false. Any context.
 */
void runtime_quiet(bool quiet);

#endif
