/* SPDX-License-Identifier: MIT */
/*
 * comdet - the whole set-up, and the end
 */
#ifndef COMDET_PRELOAD_START_COMDET_H
#define COMDET_PRELOAD_START_COMDET_H

#include "src/store/cdp.h"

/* Context: set-up, or a followed child after fork. */
void runtime_start(void);
/* The process ends: write all results and mark the file as @state. */
void runtime_finish(enum cdp_state state);

#endif
