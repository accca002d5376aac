/* SPDX-License-Identifier: MIT */
/*
 * maps - which files are mapped where in the profiled process
 */
#ifndef COMDET_PRELOAD_CORE_MAPS_H
#define COMDET_PRELOAD_CORE_MAPS_H

#include <stdint.h>

/* Read them for the first time. Returns 0 or -errno. Context: set-up. */
int maps_init(void);
/*
 * Make sure that the file describes the code at @ip. Returns the generation of
 * the maps by which @ip is to be looked up. Any context.
 */
uint64_t maps_note(uint64_t ip);
/* Read them for the last time. Context: the end of the process. */
void maps_finish(void);

#endif
