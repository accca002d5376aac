/* SPDX-License-Identifier: MIT */
/*
 * rawcall - system calls of x86-64 Linux that bypass libc
 *
 * Context: any, handler included. They leave errno alone and enter no hook of
 * ours or of the application. Each returns the kernel's value, -errno on
 * failure.
 */
#ifndef COMDET_BASE_RAWCALL_H
#define COMDET_BASE_RAWCALL_H

#include <sys/syscall.h>

static inline long rawcall6(long n, long a, long b, long c, long d, long e,
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

#define rawcall1(n, a)       rawcall6(n, (long)(a), 0, 0, 0, 0, 0)
#define rawcall2(n, a, b)    rawcall6(n, (long)(a), (long)(b), 0, 0, 0, 0)
#define rawcall3(n, a, b, c) rawcall4(n, a, b, c, 0)
#define rawcall4(n, a, b, c, d)                                                \
	rawcall6(n, (long)(a), (long)(b), (long)(c), (long)(d), 0, 0)
#define rawcall5(n, a, b, c, d, e)                                             \
	rawcall6(n, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), 0)

#endif
