/* SPDX-License-Identifier: MIT */
/*
 * setup - the output of one process: opened, let go of, closed
 */
#ifndef COMDET_PRELOAD_EMU_SETUP_H
#define COMDET_PRELOAD_EMU_SETUP_H

#include "src/store/cdp.h"

/*
 * Open the output; processor @index is the calling thread. At the first
 * translation, or in a forked child. Returns 0 or -errno, after telling the
 * user why it failed.
 */
int emu_setup_open(unsigned int index);

/* In a forked child: let go of what belongs to the parent. */
void emu_setup_after_fork(void);

/*
 * Write the results. With CDP_EXECED the other threads may still run, and the
 * exec may fail.
 */
void emu_setup_finish(enum cdp_state state);

#endif
