/* SPDX-License-Identifier: MIT */
/*
 * clock - interrupts after so much CPU time of each thread
 *
 * One inherited perf task-clock event covers every thread of the process, new
 * ones included, and raises SIGTRAP in user mode only, so no system call of
 * the application is ever interrupted by it. Where perf_events is denied or
 * too old, each thread has a POSIX timer on its own CPU clock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "runtime.h"
#include "state.h"
#include "sys.h"
#include "watch.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int perf_clock_open(void)
{
	struct perf_event_attr a;
	long fd, high;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_SOFTWARE;
	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = runtime.period_ns;
	a.sample_type = PERF_SAMPLE_IP;
	a.exclude_kernel = 1; /* allowed at perf_event_paranoid 2 */
	a.exclude_hv = 1;
	a.inherit = 1;
	a.inherit_thread = 1; /* new threads, not forked children */
	a.sigtrap = 1;
	a.remove_on_exec = 1; /* demanded by sigtrap */
	a.sig_data = watch_cookie(WATCH_CLOCK);
	a.disabled = 1;
	fd = sys_call6(SYS_perf_event_open, (long)&a, 0, -1, -1,
		       PERF_FLAG_FD_CLOEXEC, 0);
	if (fd < 0)
		return fd;
	/* Low numbers are the application's, to the last one. */
	high = sys_call3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, watch_fd_base());
	sys_call1(SYS_close, fd);
	if (high < 0)
		return high == -EINVAL ? -EMFILE : high;
	fd = high;
	sys_call3(SYS_ioctl, fd, PERF_EVENT_IOC_ID, &runtime.clock_id);
	return fd;
}

static const char *why_no_perf(int error)
{
	switch (-error) {
	case EACCES:
		return "perf_event_open is not permitted: "
		       "/proc/sys/kernel/perf_event_paranoid is above 2 "
		       "(sysctl kernel.perf_event_paranoid=2)";
	case EPERM:
		return "perf_event_open is not permitted: a seccomp filter "
		       "(containers: allow perf_event_open) or "
		       "perf_event_paranoid above 2";
	case ENOSYS:
		return "this kernel, or a seccomp filter, has no "
		       "perf_event_open";
	case EINVAL:
	case E2BIG:
		return "this kernel has no synchronous perf signals (5.13 and "
		       "later have)";
	case EMFILE:
	case ENFILE:
		return "no file descriptor was left (ulimit -n)";
	default:
		return strerror(-error);
	}
}

static bool fd_is_clock(void)
{
	uint64_t id = 0;

	return runtime.clock_fd >= 0 &&
	       !sys_call3(SYS_ioctl, runtime.clock_fd, PERF_EVENT_IOC_ID,
			  &id) &&
	       id == runtime.clock_id;
}

bool clock_was_closed(void)
{
	return runtime.delivery == DELIVERY_SIGTRAP && !fd_is_clock();
}

int clock_open(char *reason, size_t size)
{
	runtime.clock_fd = -1;
	if (runtime.delivery == DELIVERY_RTSIG) {
		struct thread *t = thread_self();

		clock_thread_begin(t);
		if (t->timer < 0) {
			snprintf(reason, size,
				 "no POSIX timer could be created");
			return -EAGAIN;
		}
		return 0;
	}
	runtime.clock_fd = perf_clock_open();
	if (runtime.clock_fd < 0) {
		snprintf(reason, size, "%s", why_no_perf(runtime.clock_fd));
		return runtime.clock_fd;
	}
	sys_call3(SYS_ioctl, runtime.clock_fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

void clock_pause(void)
{
	if (fd_is_clock())
		sys_call3(SYS_ioctl, runtime.clock_fd, PERF_EVENT_IOC_DISABLE,
			  0);
}

void clock_resume(void)
{
	if (fd_is_clock())
		sys_call3(SYS_ioctl, runtime.clock_fd, PERF_EVENT_IOC_ENABLE,
			  0);
}

void clock_close(void)
{
	if (fd_is_clock())
		sys_call1(SYS_close, runtime.clock_fd);
	runtime.clock_fd = -1;
}

void clock_thread_begin(struct thread *t)
{
	struct sigevent event;
	struct itimerspec spec;
	int id = -1;

	t->timer = -1;
	if (runtime.delivery != DELIVERY_RTSIG)
		return;
	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_THREAD_ID;
	event._sigev_un._tid = t->tid;
	event.sigev_signo = runtime.signal;
	event.sigev_value.sival_ptr = &runtime;
	if (sys_call3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &id))
		return;
	spec.it_interval.tv_sec = runtime.period_ns / 1000000000;
	spec.it_interval.tv_nsec = runtime.period_ns % 1000000000;
	spec.it_value = spec.it_interval;
	if (sys_call4(SYS_timer_settime, id, 0, &spec, NULL)) {
		sys_call1(SYS_timer_delete, id);
		return;
	}
	t->timer = id;
}

void clock_thread_end(struct thread *t)
{
	if (t->timer >= 0)
		sys_call1(SYS_timer_delete, t->timer);
	t->timer = -1;
}
