/* SPDX-License-Identifier: MIT */
/*
 * signal_mask - block every signal of the calling thread for a while
 *
 * This calls the kernel directly, because libc and our hooks remove signals
 * from the set. A thread does so before it takes a lock that its handlers may
 * want. Context: any, handler included.
 */
#ifndef COMDET_BASE_SIGNAL_MASK_H
#define COMDET_BASE_SIGNAL_MASK_H

#include <signal.h>
#include <stdint.h>

#include "rawcall.h"

/* Block the signals of @set too; returns those that were blocked before. */
static inline uint64_t signals_block(uint64_t set)
{
	uint64_t before = 0;

	rawcall4(SYS_rt_sigprocmask, SIG_BLOCK, &set, &before, sizeof(set));
	return before;
}

static inline uint64_t signals_block_all(void)
{
	return signals_block(~UINT64_C(0));
}

static inline void signals_restore(uint64_t before)
{
	rawcall4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, sizeof(before));
}

#endif
