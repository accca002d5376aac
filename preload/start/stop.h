/* SPDX-License-Identifier: MIT */
/*
 * stop - end profiling while the program goes on
 */
#ifndef COMDET_PRELOAD_START_STOP_H
#define COMDET_PRELOAD_START_STOP_H

/* Stop for good and say @why once. Any context. */
void runtime_stop(const char *why);

#endif
