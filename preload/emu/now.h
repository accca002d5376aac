/* SPDX-License-Identifier: MIT */
/*
 * now - the clocks of the system
 */
#ifndef COMDET_PRELOAD_EMU_NOW_H
#define COMDET_PRELOAD_EMU_NOW_H

#include <stdint.h>
#include <time.h>

/* Time of @clock, ns. */
uint64_t emu_now_ns(clockid_t clock);

#endif
