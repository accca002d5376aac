/* SPDX-License-Identifier: MIT */
/*
 * sandbox - a program takes system calls, or the clock, from itself
 *
 * Our handler makes system calls. Under a seccomp filter, which may kill for
 * one, they would be the program's; a handler of user-mode page faults may wait
 * for a lock of the very thread whose memory we read. So profiling stops for
 * good before such a thing is asked for. A program that asks the kernel by an
 * instruction of its own is not seen.
 */
#include <errno.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "preload/signal/real.h"
#include "preload/start/process.h"

enum {
	SYSCALL_USER_DISPATCH = 59, /* newer than our libc's headers */
	DISPATCH_ON = 1,
};

static const char *forbidden_prctl(long option, long a, long b)
{
	switch (option) {
	case PR_SET_SECCOMP: /* without a filter it asks what is known */
		return a == SECCOMP_MODE_STRICT || b ? "seccomp" : NULL;
	case SYSCALL_USER_DISPATCH:
		return a == DISPATCH_ON ? "syscall user dispatch" : NULL;
	case PR_SET_TSC: /* the time is read from it */
		return a == PR_TSC_SIGSEGV ? "PR_SET_TSC" : NULL;
	default:
		return NULL;
	}
}

static const char *forbidden(long n, long a, long b, long c)
{
	switch (n) {
	case SYS_seccomp:
		return a == SECCOMP_SET_MODE_STRICT ||
				       (a == SECCOMP_SET_MODE_FILTER && c)
			       ? "seccomp"
			       : NULL;
	case SYS_prctl:
		return forbidden_prctl(a, b, c);
	case SYS_userfaultfd:
		return "userfaultfd";
	default:
		return NULL;
	}
}

static void stop_for(const char *what)
{
	int saved_errno = errno;

	runtime_before_sandbox(what);
	errno = saved_errno;
}

EXPORT int prctl(int option, ...)
{
	unsigned long a, b, c, d;
	const char *what;
	va_list list;

	/* As the C library: what was not given is not looked at. */
	va_start(list, option);
	a = va_arg(list, unsigned long);
	b = va_arg(list, unsigned long);
	c = va_arg(list, unsigned long);
	d = va_arg(list, unsigned long);
	va_end(list);
	what = forbidden_prctl(option, a, b);
	if (what)
		stop_for(what);
	return REAL(prctl)(option, a, b, c, d);
}

/*
 * Under another name in C, since it is declared with an ellipsis. The last call
 * is a jump: nothing of ours is on the stack, whatever the call does to it.
 */
syscall_fn hook_syscall __asm__("syscall");
EXPORT long hook_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	const char *what = forbidden(n, a, b, c);

	if (what)
		stop_for(what);
	return REAL(syscall)(n, a, b, c, d, e, f);
}
