/* SPDX-License-Identifier: MIT */
/*
 * source - which source record asks for, and what goes with it
 *
 * All of this reads the environment, after record_options().
 */
#ifndef COMDET_ANALYSIS_RECORD_SOURCE_H
#define COMDET_ANALYSIS_RECORD_SOURCE_H

#include <stdbool.h>

/*
 * True if the source depends on whether the program has hooks. It does if the
 * user asked for no source: then the preload prefers hooks to all other
 * sources.
 */
bool record_looks_for_hooks(void);

/*
 * Die with one line if an option does not go with the source that will be
 * taken. @hooks: the program, or a library it starts with, has our hooks.
 */
void record_check_source(bool hooks);

/* True if the program is to run under QEMU. Call after record_choose_source().
 */
bool record_emulates(void);

/* True if the source is instr, which only a program with hooks has. */
bool record_needs_hooks(void);

/* True if the source instr is asked about caches that cores share. */
bool record_needs_topology(void);

#endif
