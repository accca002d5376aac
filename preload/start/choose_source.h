/* SPDX-License-Identifier: MIT */
/*
 * choose_source - choose the source and the way its signals come, and start it
 */
#ifndef COMDET_PRELOAD_START_CHOOSE_SOURCE_H
#define COMDET_PRELOAD_START_CHOOSE_SOURCE_H

#include <stddef.h>

/*
 * Choose runtime.delivery and runtime.source. Returns 0, or -ENODEV if the
 * process cannot be profiled, with one line for people in @why. Context:
 * set-up, after the configuration was read.
 */
int source_choose(char *why, size_t size);

/*
 * Start the source: its own start function, or claim the signal, try the debug
 * registers and open it. Returns 0 or -errno. @why says why no better way was
 * taken, or why it failed. Context: set-up.
 */
int source_start(char *why, size_t size);

/*
 * A thread is about to be created. In a Go program sampling starts here, since
 * by now Go has installed its own handlers. Context: the creating thread.
 */
void source_first_thread(void);

#endif
