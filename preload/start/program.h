/* SPDX-License-Identifier: MIT */
/*
 * program - ask the loader about the program, once at the start
 */
#ifndef COMDET_PRELOAD_START_PROGRAM_H
#define COMDET_PRELOAD_START_PROGRAM_H

/* Fill in runtime.code, runtime.tables and runtime.waits_for_thread. Context:
 * set-up. */
void program_look(void);

#endif
