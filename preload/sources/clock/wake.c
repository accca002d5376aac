/* SPDX-License-Identifier: MIT */
/*
 * wake - the first interrupt of a followed child, before it has a profile
 */
#include <time.h>

#include "clock.h"
#include "wake.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/core/timing.h"
#include "src/base/rng.h"
#include "src/base/signal_safe.h"

enum {
	NONE = -1,
};

static int timer = NONE;
static bool came;
static uint64_t set_at;      /* CPU time when it was set, ns, about */
static uint64_t first;       /* it comes so much later, ns */
static struct timespec left; /* until it comes, while it is paused */

int wake_begin(void)
{
	struct rng rng;

	rng_seed(&rng, runtime.seed, (uint64_t)runtime.pid);
	set_at = 0; /* the child has just begun */
	timer = clock_timer_new(runtime.pid, &rng, &first);
	return timer < 0 ? timer : 0;
}

void wake_came(void)
{
	came = true;
}

bool wake_end(int *t)
{
	bool goes_on = came && runtime.delivery == DELIVERY_RTSIG;

	*t = goes_on ? timer : NONE;
	if (timer != NONE && !goes_on)
		sys_call1(SYS_timer_delete, timer);
	timer = NONE;
	return came;
}

static uint64_t ns(const struct timespec *t)
{
	return (uint64_t)t->tv_sec * 1000000000 + (uint64_t)t->tv_nsec;
}

/* @wait: CPU time until it comes, 0: never. */
static void set(struct timespec wait, struct itimerspec *old)
{
	const struct itimerspec spec = {
		{ (time_t)(runtime.period_ns / 1000000000),
		  (long)(runtime.period_ns % 1000000000) },
		wait,
	};

	if (timer != NONE)
		sys_call4(SYS_timer_settime, timer, 0, &spec, old);
}

void wake_pause(void)
{
	const struct timespec never = { 0, 0 };
	struct itimerspec old = { { 0, 0 }, { 0, 0 } };

	set(never, &old);
	if (!ns(&old.it_value)) /* it is paused already */
		return;
	left = old.it_value;
	/* It is due on the next tick, and the kernel tells of the one after. */
	if (ns(&left) + thread_cpu_ns() - set_at >
	    first + runtime.period_ns / 2)
		left = (struct timespec){ 0, 1 };
}

void wake_resume(void)
{
	if (!ns(&left))
		return;
	set_at = thread_cpu_ns();
	first = ns(&left);
	set(left, NULL);
	left = (struct timespec){ 0, 0 };
}

void wake_after_fork(void)
{
	if (timer != NONE || came) { /* else the page would be copied */
		timer = NONE;
		came = false;
		left = (struct timespec){ 0, 0 };
	}
}
