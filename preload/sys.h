/* SPDX-License-Identifier: MIT */
/*
 * sys - raw system calls: usable in any context, never hooked, no errno
 *
 * Each returns the kernel's value, -errno on failure.
 */
#ifndef COMDET_SYS_H
#define COMDET_SYS_H

#include <stdint.h>
#include <sys/syscall.h>

static inline long sys_call6(long n, long a, long b, long c, long d, long e,
			     long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8),
			   "r"(r9)
			 : "rcx", "r11", "memory");
	return ret;
}

#define sys_call0(n)       sys_call6(n, 0, 0, 0, 0, 0, 0)
#define sys_call1(n, a)    sys_call6(n, (long)(a), 0, 0, 0, 0, 0)
#define sys_call2(n, a, b) sys_call6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define sys_call3(n, a, b, c)                                                  \
	sys_call6(n, (long)(a), (long)(b), (long)(c), 0, 0, 0)
#define sys_call4(n, a, b, c, d)                                               \
	sys_call6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)

#endif
