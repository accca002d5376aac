/* SPDX-License-Identifier: MIT */
/*
 * runtime - what all parts of libcomdet.so know of the profiled process
 */
#include "runtime.h"
#include "sys.h"
#include "src/base/signal_safe.h"

struct runtime runtime;

/* Alone on a page that the kernel wipes in every forked child. */
static _Atomic int *active;

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

enum runtime_phase runtime_phase(uint64_t now)
{
	const struct config *c = &runtime.config;
	uint64_t begin = runtime.start_mono + c->delay_ns;

	if (now < begin)
		return RUNTIME_EARLY;
	return c->duration_ns && now >= begin + c->duration_ns ? RUNTIME_OVER
							       : RUNTIME_WANTED;
}
