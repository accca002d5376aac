/* SPDX-License-Identifier: MIT */
/*
 * clock_reuse - the CPU time of a thread as the time of its reuses
 */
#include "clock_reuse.h"
#include "preload/core/state.h"
#include "preload/sources/thread_reuse.h"
#include "src/base/signal_safe.h"

void clock_reuse_enter(struct thread *t)
{
	thread_reuse_signal(t);
}

void clock_reuse_leave(struct thread *t)
{
	t->cpu_ours += thread_cpu_ns() - t->cpu_at;
}

uint64_t clock_reuse_ns(const struct thread *t)
{
	return t->cpu_at - t->cpu_ours;
}

void clock_reuse_end(struct thread *t)
{
	if (!t->reuse)
		return;
	t->cpu_at = thread_cpu_ns();
	thread_reuse_end(t);
}
