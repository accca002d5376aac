/* SPDX-License-Identifier: MIT */
/*
 * choose_source - which source samples, how its signals come, and its start
 */
#ifndef COMDET_PRELOAD_START_CHOOSE_SOURCE_H
#define COMDET_PRELOAD_START_CHOOSE_SOURCE_H

#include <stddef.h>

/*
 * Choose runtime.delivery and runtime.source. Returns 0, or -ENODEV if the
 * process cannot be profiled, with one line for people in @why. Context:
 * set-up, the configuration being read.
 */
int source_choose(char *why, size_t size);

/*
 * Claim the signal, try the debug registers and open the source, or what the
 * source does instead. Returns 0 or -errno. The reason why nothing better was
 * taken, or why it failed, is in @why. Context: set-up.
 */
int source_start(char *why, size_t size);

/*
 * A thread is about to be created. A Go program waits for that: by then its
 * own handlers are in place. Context: the creating thread, profiled.
 */
void source_first_thread(void);

#endif
