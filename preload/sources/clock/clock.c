/* SPDX-License-Identifier: MIT */
/*
 * clock - interrupts after so much CPU time of each thread
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <time.h>

#include "clock.h"
#include "phase.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"

enum {
	EVENTS = 2, /* at the full rate, and at the slow one */
	RUNNING = 1,
	SLOW = 2,
};

static struct own_event events[EVENTS] = { { .fd = -1 }, { .fd = -1 } };
static uint32_t slow_weight = 1; /* 1: there is only the full rate */
static _Atomic uint32_t wish;    /* RUNNING, SLOW */
static uint64_t tick_ns;         /* of the kernel; 0: unknown */

static struct clock_state *state_of(struct thread *t)
{
	return t->source;
}

static int perf_clock_open(struct own_event *event, uint64_t period,
			   enum clock_event which)
{
	struct perf_event_attr a = own_event_attr(
		PERF_TYPE_SOFTWARE, watch_cookie(WATCH_CLOCK) | which);

	a.config = PERF_COUNT_SW_TASK_CLOCK;
	a.sample_period = period;
	a.inherit = 1;
	a.inherit_thread = 1; /* new threads, not forked children */
	return own_event_open(event, &a, -1, watch_fd_base());
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
	       (!own_event_is_open(&events[0]) ||
		(slow_weight > 1 && !own_event_is_open(&events[1])));
}

/*
 * Switch the events as the wish says. If it changes meanwhile, another thread
 * may have switched them first: then again.
 */
static void obey(void)
{
	uint32_t now;

	do {
		now = atomic_load(&wish);
		for (uint32_t i = 0; i < EVENTS; i++) {
			bool on = now & RUNNING && !(now & SLOW) == !i;

			if (own_event_is_open(&events[i]))
				sys_call3(SYS_ioctl, events[i].fd,
					  on ? PERF_EVENT_IOC_ENABLE
					     : PERF_EVENT_IOC_DISABLE,
					  0);
		}
	} while (atomic_load(&wish) != now);
}

void clock_set_period(uint64_t ns)
{
	struct timespec t = { 0, 0 };

	runtime.period_ns = ns;
	slow_weight = 1;
	/* Timers on a thread's CPU clock are looked at on the kernel's tick. */
	if (!clock_getres(CLOCK_MONOTONIC_COARSE, &t))
		tick_ns = t.tv_nsec;
	if (tick_ns && runtime.delivery == DELIVERY_RTSIG)
		runtime.period_ns = phase_ticks(ns, tick_ns) * tick_ns;
}

void clock_allow_slow(uint32_t weight)
{
	if (runtime.delivery == DELIVERY_SIGTRAP)
		slow_weight = weight;
}

uint32_t clock_slow_weight(void)
{
	return slow_weight;
}

void clock_use_slow(bool slow)
{
	if (slow)
		atomic_fetch_or(&wish, SLOW);
	else
		atomic_fetch_and(&wish, ~(uint32_t)SLOW);
	obey();
}

int clock_open(char *why, size_t size)
{
	int r;

	events[0].fd = events[1].fd = -1;
	if (runtime.delivery == DELIVERY_RTSIG) {
		struct thread *t = thread_self();

		clock_thread_begin(t);
		if (!state_of(t)->has_timer) {
			snprintf(why, size, "no POSIX timer could be created");
			return -EAGAIN;
		}
		return 0;
	}
	r = perf_clock_open(&events[0], runtime.period_ns, CLOCK_FULL);
	if (r) {
		snprintf(why, size, "%s", why_no_perf(r));
		return r;
	}
	if (slow_weight > 1 &&
	    perf_clock_open(&events[1], runtime.period_ns * slow_weight,
			    CLOCK_SLOW))
		slow_weight = 1;
	atomic_store(&wish, RUNNING);
	obey();
	return 0;
}

void clock_open_timer(int id)
{
	struct clock_state *own = state_of(thread_self());

	events[0].fd = events[1].fd = -1;
	own->timer = id;
	own->has_timer = true;
}

void clock_pause(void)
{
	atomic_fetch_and(&wish, ~(uint32_t)RUNNING);
	obey();
}

void clock_resume(void)
{
	atomic_fetch_or(&wish, RUNNING);
	obey();
}

void clock_close(void)
{
	for (int i = 0; i < EVENTS; i++)
		own_event_close(&events[i]);
}

int clock_timer_new(pid_t tid, struct rng *rng, uint64_t *first)
{
	struct sigevent notify;
	struct itimerspec spec;
	int id = -1;
	long r;

	memset(&notify, 0, sizeof(notify));
	notify.sigev_notify = SIGEV_THREAD_ID;
	notify._sigev_un._tid = tid;
	notify.sigev_signo = runtime.signal;
	notify.sigev_value.sival_ptr = &runtime;
	r = sys_call3(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &notify, &id);
	if (r)
		return r;
	spec.it_interval.tv_sec = runtime.period_ns / 1000000000;
	spec.it_interval.tv_nsec = runtime.period_ns % 1000000000;
	*first = phase_of_timer(runtime.period_ns, tick_ns, rng);
	spec.it_value.tv_sec = *first / 1000000000;
	spec.it_value.tv_nsec = *first % 1000000000;
	r = sys_call4(SYS_timer_settime, id, 0, &spec, NULL);
	if (!r)
		return id;
	sys_call1(SYS_timer_delete, id);
	return r;
}

void clock_thread_begin(struct thread *t)
{
	struct clock_state *own = state_of(t);
	uint64_t first;
	int id;

	own->has_timer = false;
	if (runtime.delivery != DELIVERY_RTSIG)
		return;
	id = clock_timer_new(t->tid, &t->rng, &first);
	own->timer = id;
	own->has_timer = id >= 0;
}

void clock_thread_end(struct thread *t)
{
	struct clock_state *own = state_of(t);

	if (own->has_timer)
		sys_call1(SYS_timer_delete, own->timer);
	own->has_timer = false;
}
