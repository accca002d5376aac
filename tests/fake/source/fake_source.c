/* SPDX-License-Identifier: MIT */
/*
 * fake_source - a source whose samples the profiled program makes itself
 *
 * Time is the number of samples so far, of all threads.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>

#include "fake_source.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/handler/handler.h"
#include "preload/signal/real.h"
#include "preload/sources/sample.h"
#include "preload/threads/threads.h"

enum {
	PERIOD = 1, /* samples: a round of the test expires the one before */
};

/* What the source keeps of a thread. */
struct own {
	uint64_t samples;
};

static _Atomic uint64_t now;

static int choose(char *why, size_t size)
{
	return 1;
}

static int start(char *why, size_t size)
{
	comm_set_expiry(&runtime.comm, PERIOD);
	runtime.comm.watch = NULL;
	return 0;
}

static void describe(struct cdp_header *h, const char *why)
{
	snprintf(h->source, sizeof(h->source), "fake");
	snprintf(h->source_reason, sizeof(h->source_reason),
		 "the program makes the samples");
	snprintf(h->period_unit, sizeof(h->period_unit), "samples");
	h->period = 1;
}

static void nothing(void)
{
}

static void thread_nothing(struct thread *t)
{
}

static void count(struct thread *t)
{
	struct own *own = t->source;

	store_set(&t->record->counted_loads, own->samples);
}

static void on_signal(struct thread *t, const struct watch_signal *s,
		      const struct cpu_state *cpu)
{
}

static bool takes_no_late_traps(const struct thread *t)
{
	return false;
}

static uint64_t time_now(const struct thread *t)
{
	return atomic_load(&now);
}

const struct source_ops fake_source = {
	.thread_bytes = sizeof(struct own),
	.choose = choose,
	.start = start,
	.describe = describe,
	.pause = nothing,
	.resume = nothing,
	.after_fork = nothing,
	.thread_begin = thread_nothing,
	.thread_end = thread_nothing,
	.count = count,
	.on_signal = on_signal,
	.takes_late_traps = takes_no_late_traps,
	.time = time_now,
};

struct job {
	struct thread *thread;
	struct access access;
};

/* On the thread's handler stack, all signals blocked. */
static void work(void *arg)
{
	struct job *job = arg;
	struct thread *t = job->thread;
	struct own *own = t->source;

	t->clock_at = atomic_fetch_add(&now, 1) + 1;
	t->core = sched_getcpu();
	own->samples++;
	thread_refresh(t);
	sample_hardware(t, &job->access, t->clock_at, t->core);
}

EXPORT void fake_sample(void *addr, uint32_t bytes, bool store)
{
	struct thread *t = thread_self() ? thread_self() : thread_adopt();
	struct job job = {
		.thread = t,
		.access = {
			.addr = (uint64_t)(uintptr_t)addr,
			.ip = (uint64_t)(uintptr_t)__builtin_return_address(0),
			.len = bytes,
			.flags = store ? ACCESS_STORE : ACCESS_LOAD,
		},
	};
	uint64_t all = ~0ull, before = 0;

	if (!t || !runtime_active())
		return;
	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &before, sizeof(all));
	t->in_handler = true;
	handler_call(t, work, &job);
	t->in_handler = false;
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL,
		  sizeof(before));
}
