/* SPDX-License-Identifier: MIT */
/*
 * output - where this process writes: the directory of its run, its own file
 */
#ifndef COMDET_PRELOAD_START_OUTPUT_H
#define COMDET_PRELOAD_START_OUTPUT_H

#include <stdbool.h>

/*
 * Make the directory that the configuration names, or open that of the run
 * that this process is part of, and create our file in it: runtime.store. If
 * that fails, returns false after telling the user why.
 *
 * Context: set-up; also our handler.
 */
bool output_open(void);

#endif
