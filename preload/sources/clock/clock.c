/* SPDX-License-Identifier: MIT */
/*
 * clock - interrupts after so much CPU time of each thread
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <time.h>

#include "clock.h"
#include "phase.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"

static struct own_event event = { .fd = -1 };
static uint64_t tick_ns; /* of the kernel; 0: unknown */

static struct clock_state *state_of(struct thread *t)
{
	return t->source;
}

static int perf_clock_open(void)
{
	struct perf_event_attr a =
		own_event_attr(PERF_TYPE_SOFTWARE, watch_cookie(WATCH_CLOCK));

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = runtime.period_ns;
	a.inherit = 1;
	a.inherit_thread = 1; /* new threads, not forked children */
	return own_event_open(&event, &a, -1, watch_fd_base());
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
		return strerrordesc_np(-error);
	}
}

bool clock_was_closed(void)
{
	return runtime.delivery == DELIVERY_SIGTRAP &&
	       !own_event_is_open(&event);
}

static void switch_clock(unsigned long request)
{
	if (own_event_is_open(&event))
		sys_call3(SYS_ioctl, event.fd, request, 0);
}

void clock_set_period(uint64_t ns)
{
	struct timespec t = { 0, 0 };

	runtime.period_ns = ns;
	/* Timers on a thread's CPU clock are looked at on the kernel's tick. */
	if (runtime.delivery != DELIVERY_RTSIG)
		return;
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &t))
		tick_ns = t.tv_nsec;
	if (tick_ns)
		runtime.period_ns = phase_ticks(ns, tick_ns) * tick_ns;
}

int clock_open(char *why, size_t size)
{
	int r;

	event.fd = -1;
	if (runtime.delivery == DELIVERY_RTSIG) {
		struct thread *t = thread_self();

		clock_thread_begin(t);
		if (!state_of(t)->has_timer) {
			snprintf(why, size, "no POSIX timer could be created");
			return -EAGAIN;
		}
		return 0;
	}
	r = perf_clock_open();
	if (r) {
		snprintf(why, size, "%s", why_no_perf(r));
		return r;
	}
	sys_call3(SYS_ioctl, event.fd, PERF_EVENT_IOC_ENABLE, 0);
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
	own_event_close(&event);
}

void clock_thread_begin(struct thread *t)
{
	struct clock_state *own = state_of(t);
	struct sigevent notify;
	struct itimerspec spec;
	uint64_t first;
	int id = -1;

	own->has_timer = false;
	if (runtime.delivery != DELIVERY_RTSIG)
		return;
	memset(&notify, 0, sizeof(notify));
	notify.sigev_notify = SIGEV_THREAD_ID;
	notify._sigev_un._tid = t->tid;
	notify.sigev_signo = runtime.signal;
	notify.sigev_value.sival_ptr = &runtime;
	if (sys_call3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &notify, &id))
		return;
	spec.it_interval.tv_sec = runtime.period_ns / 1000000000;
	spec.it_interval.tv_nsec = runtime.period_ns % 1000000000;
	first = phase_of_timer(runtime.period_ns, tick_ns, &t->rng);
	spec.it_value.tv_sec = first / 1000000000;
	spec.it_value.tv_nsec = first % 1000000000;
	if (sys_call4(SYS_timer_settime, id, 0, &spec, NULL)) {
		sys_call1(SYS_timer_delete, id);
		return;
	}
	own->timer = id;
	own->has_timer = true;
}

void clock_thread_end(struct thread *t)
{
	struct clock_state *own = state_of(t);

	if (own->has_timer)
		sys_call1(SYS_timer_delete, own->timer);
	own->has_timer = false;
}
