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
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>

#include "preload/core/runtime.h"
#include "preload/core/state.h"
#include "preload/core/sys.h"
#include "preload/watch/watch.h"

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int perf_clock_open(void)
{
	struct perf_event_attr a =
		own_event_attr(PERF_TYPE_SOFTWARE, watch_cookie(WATCH_CLOCK));

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = runtime.period_ns;
	a.inherit = 1;
	a.inherit_thread = 1; /* new threads, not forked children */
	return own_event_open(&runtime.clock, &a, -1, watch_fd_base());
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

bool clock_was_closed(void)
{
	return runtime.delivery == DELIVERY_SIGTRAP &&
	       !own_event_is_open(&runtime.clock);
}

static void switch_clock(unsigned long request)
{
	if (own_event_is_open(&runtime.clock))
		sys_call3(SYS_ioctl, runtime.clock.fd, request, 0);
}

int clock_open(char *reason, size_t size)
{
	int r;

	runtime.clock.fd = -1;
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
	r = perf_clock_open();
	if (r) {
		snprintf(reason, size, "%s", why_no_perf(r));
		return r;
	}
	sys_call3(SYS_ioctl, runtime.clock.fd, PERF_EVENT_IOC_ENABLE, 0);
	return 0;
}

void clock_pause(void)
{
	switch_clock(PERF_EVENT_IOC_DISABLE);
}

void clock_resume(void)
{
	switch_clock(PERF_EVENT_IOC_ENABLE);
}

void clock_close(void)
{
	own_event_close(&runtime.clock);
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
