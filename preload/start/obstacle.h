/* SPDX-License-Identifier: MIT */
/*
 * obstacle - what forbids profiling this process at all
 */
#ifndef COMDET_PRELOAD_START_OBSTACLE_H
#define COMDET_PRELOAD_START_OBSTACLE_H

/* Returns why this process cannot be profiled, or NULL. Context: set-up. */
const char *obstacle(void);

#endif
