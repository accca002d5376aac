/* SPDX-License-Identifier: MIT */
/*
 * runtime - what all parts of libcomdet.so know of the profiled process
 */
#include <sys/mman.h>

#include "runtime.h"
#include "sys.h"
#include "src/base/signal_safe.h"

struct runtime runtime;

enum {
	IS_OFF,
	IS_ACTIVE,
	IS_WAITING,
};

/* Alone on a page that the kernel wipes in every forked child. */
static _Atomic int *state;

void runtime_init(void *page)
{
	state = page;
}

bool runtime_active(void)
{
	return state &&
	       atomic_load_explicit(state, memory_order_relaxed) == IS_ACTIVE;
}

void runtime_set_active(bool value)
{
	atomic_store(state, value ? IS_ACTIVE : IS_OFF);
}

bool runtime_is_ours(void)
{
	return runtime_active() && sys_call0(SYS_getpid) == runtime.pid;
}

bool runtime_is_waiting(void)
{
	return state &&
	       atomic_load_explicit(state, memory_order_relaxed) ==
		       IS_WAITING &&
	       sys_call0(SYS_getpid) == runtime.pid;
}

void runtime_set_waiting(void)
{
	atomic_store(state, IS_WAITING);
}

bool runtime_end_waiting(void)
{
	int waiting = IS_WAITING;

	return runtime_is_waiting() &&
	       atomic_compare_exchange_strong(state, &waiting, IS_OFF);
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
