/* SPDX-License-Identifier: MIT */
/*
 * sys - raw system calls: usable in any context, never hooked, no errno
 *
 * Each returns the kernel's value, -errno on failure.
 */
#ifndef COMDET_PRELOAD_CORE_SYS_H
#define COMDET_PRELOAD_CORE_SYS_H

#include <stdint.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "src/base/rawcall.h"

#define sys_call0(n)                   rawcall6(n, 0, 0, 0, 0, 0, 0)
#define sys_call1(n, a)                rawcall1(n, a)
#define sys_call2(n, a, b)             rawcall2(n, a, b)
#define sys_call3(n, a, b, c)          rawcall3(n, a, b, c)
#define sys_call4(n, a, b, c, d)       rawcall4(n, a, b, c, d)
#define sys_call6(n, a, b, c, d, e, f) rawcall6(n, a, b, c, d, e, f)

/* RLIM_INFINITY if there is none. */
static inline uint64_t sys_soft_limit(int resource)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };

	sys_call2(SYS_getrlimit, resource, &limit);
	return limit.rlim_cur;
}

#endif
