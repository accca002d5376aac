/* SPDX-License-Identifier: MIT */
/*
 * output - where this process writes: the directory of its run, its own file
 */
#ifndef COMDET_PRELOAD_START_OUTPUT_H
#define COMDET_PRELOAD_START_OUTPUT_H

#include <stdbool.h>

/*
 * Make the directory that the configuration names, or open that of the run
 * that this process is part of, and make our file in it: runtime.store. False
 * if that fails; the reason is said.
 *
 * Context: set-up.
 */
bool output_open(void);

#endif
