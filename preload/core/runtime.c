/* SPDX-License-Identifier: MIT */
/*
 * runtime - what all parts of libcomdet.so know of the profiled process
 */
#include <sys/mman.h>

#include "runtime.h"
#include "sys.h"
#include "src/base/signal_safe.h"

struct runtime runtime;

/* Alone on a page that the kernel wipes in every forked child. */
static _Atomic bool *active;

void runtime_init(void *page)
{
	active = page;
}

bool runtime_active(void)
{
	return active && atomic_load_explicit(active, memory_order_relaxed);
}

void runtime_set_active(bool value)
{
	atomic_store(active, value);
}

bool runtime_is_ours(void)
{
	return runtime_active() && sys_call0(SYS_getpid) == runtime.pid;
}

/* A child of the one that waits inherits its process id, and has another. */
bool runtime_is_waiting(void)
{
	pid_t who = atomic_load_explicit(&runtime.waiting,
					 memory_order_relaxed);

	return who && sys_call0(SYS_getpid) == who;
}

void runtime_set_waiting(void)
{
	atomic_store(&runtime.waiting, runtime.pid);
}

bool runtime_end_waiting(void)
{
	pid_t who = atomic_load_explicit(&runtime.waiting,
					 memory_order_relaxed);

	return runtime_is_waiting() &&
	       atomic_compare_exchange_strong(&runtime.waiting, &who, 0);
}

/* Of the other sources, code may look at it in a child before it is active. */
bool runtime_keep(void *at, size_t bytes)
{
	return runtime.source->wait &&
	       !sys_call3(SYS_madvise, at, bytes, MADV_DONTFORK);
}

bool runtime_follow_children(void)
{
	return runtime.config.children && !runtime.sandboxed;
}

const char *runtime_library_path(void)
{
	return runtime.library;
}

char *const *runtime_hidden(void)
{
	return runtime.hidden;
}

/* By the program, or by those who control record. */
static bool is_paused(void)
{
	return atomic_load_explicit(&runtime.paused, memory_order_relaxed) ||
	       (runtime.control &&
		atomic_load_explicit(&runtime.control->paused,
				     memory_order_relaxed));
}

enum runtime_phase runtime_phase(uint64_t now)
{
	const struct config *c = &runtime.config;
	uint64_t begin = runtime.start_mono + c->delay_ns;

	if (c->duration_ns && now >= begin + c->duration_ns)
		return RUNTIME_OVER;
	return now < begin || is_paused() ? RUNTIME_EARLY : RUNTIME_WANTED;
}
