/* SPDX-License-Identifier: MIT */
/*
 * sandbox - stop before the program forbids itself system calls or the clock
 *
 * Our handler makes system calls. A seccomp filter would take them for the
 * program's and may kill it. A handler of user-mode page faults may wait for a
 * lock of the very thread whose memory we read. So we stop profiling for good
 * before the program asks for such a thing. We do not see a program that asks
 * the kernel by a system call instruction of its own.
 *
 * Libc's syscall() may also do what other functions do that we hook.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include "mask.h"
#include "preload/core/runtime.h"
#include "preload/signal/claimed.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"
#include "preload/watch/watch.h"

enum {
	SYSCALL_USER_DISPATCH = 59, /* newer than our libc's headers */
	DISPATCH_ON = 1,
};

static const char *forbidden_prctl(long option, long a, long b)
{
	switch (option) {
	case PR_SET_SECCOMP: /* without a filter it only asks what the kernel
				knows */
		return a == SECCOMP_MODE_STRICT || b ? "seccomp" : NULL;
	case SYSCALL_USER_DISPATCH:
		return a == DISPATCH_ON ? "syscall user dispatch" : NULL;
	case PR_SET_TSC: /* our handler reads the time from the TSC */
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

	/* Like the C library, pass on arguments that may not have been given.
	 */
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

/* If our breakpoints hold all registers, the program's gets one of them. */
static long open_event(long attributes, long pid, long cpu, long group,
		       long flags)
{
	const struct perf_event_attr *a =
		(const struct perf_event_attr *)attributes;
	long r;

	do
		r = REAL(syscall)(SYS_perf_event_open, attributes, pid, cpu,
				  group, flags, 0);
	while (r == -1 && errno == ENOSPC && a->type == PERF_TYPE_BREAKPOINT &&
	       runtime_is_ours() && watch_give_one());
	if (r >= 0 && a->type == PERF_TYPE_BREAKPOINT)
		watch_of_program();
	return r;
}

/*
 * It has another name in C, because syscall is declared with an ellipsis. The
 * last call is a jump, so nothing of ours is on the stack, whatever the system
 * call does to it.
 */
syscall_fn hook_syscall __asm__("syscall");
EXPORT long hook_syscall(long n, long a, long b, long c, long d, long e, long f)
{
	const char *what = forbidden(n, a, b, c);
	long r;

	if (what)
		stop_for(what);
	if (n == SYS_rt_sigprocmask && signal_claimed()) {
		r = signal_mask_syscall((int)a, (const void *)b, (void *)c,
					(size_t)d);
		if (!r)
			return 0;
		errno = (int)-r;
		return -1;
	}
	if (n == SYS_tgkill && c == signal_claimed())
		return tgkill((pid_t)a, (pid_t)b, (int)c);
	if (n == SYS_perf_event_open)
		return open_event(a, b, c, d, e);
	return REAL(syscall)(n, a, b, c, d, e, f);
}
