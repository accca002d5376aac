/* SPDX-License-Identifier: MIT */
/*
 * mask - the functions that set a thread's mask
 */
#ifndef COMDET_PRELOAD_HOOKS_MASK_H
#define COMDET_PRELOAD_HOOKS_MASK_H

#include <stddef.h>
#include <stdint.h>

/* Returns the application's mask if the kernel's is @mask. Any context. */
uint64_t signal_mask_view(uint64_t mask);

/* pthread_sigmask for the application; returns its old mask. Any context. */
uint64_t signal_mask_change(int how, uint64_t mask);

/*
 * rt_sigprocmask by libc's syscall(), with its arguments. Returns what the
 * system call would: 0 or -errno.
 */
long signal_mask_syscall(int how, const void *set, void *old, size_t bytes);

#endif
