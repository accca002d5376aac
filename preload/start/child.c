/* SPDX-License-Identifier: MIT */
/*
 * child - a followed child of fork begins its profile with its first sample
 *
 * The handler may have interrupted anything, so what begins a profile makes
 * system calls of its own, and takes neither locks nor memory of libc's. The
 * rest is inherited: configuration, source, what is known of the machine.
 */
#include <signal.h>
#include <stddef.h>
#include <time.h>
#include <sys/mman.h>

#include "child.h"
#include "describe.h"
#include "output.h"
#include "tables.h"
#include "preload/core/inside.h"
#include "preload/core/own_stack.h"
#include "preload/core/runtime.h"
#include "preload/core/stderr_line.h"
#include "preload/core/sys.h"
#include "preload/core/thread.h"
#include "preload/core/timing.h"
#include "preload/handler/handler.h"
#include "preload/watch/watch.h"
#include "src/base/text.h"
#include "src/base/signal_safe.h"

enum {
	STACK_BYTES = 128 * 1024, /* for the set-up */
};

bool child_may_wait(void)
{
	return runtime.config.children && runtime.source->wait &&
	       !(runtime.config.modes & CDP_MODE_REUSE) &&
	       !runtime.waits_for_thread;
}

/* The profile cannot begin; the file, if there is one, and a line say so. */
static void give_up(const char *why)
{
	char line[200];
	struct text t;

	text_begin(&t, line, sizeof(line));
	text_put(&t, "not profiled: ");
	text_put(&t, why);
	runtime_set_active(false);
	runtime.sampling = false;
	describe_note(runtime.store.header, line);
	describe_end(runtime.store.header, CDP_STOPPED);
	stderr_line(line);
}

static void begin(void *none)
{
	struct store inherited = runtime.store;
	char why[128] = "";
	bool opened = output_open();

	(void)none;
	runtime.waits = false;
	store_release(&inherited); /* its lock is no longer needed */
	if (!opened)
		return;
	watch_init();
	describe_child(runtime.store.header);
	if (tables_init()) {
		give_up("no room for its tables");
		return;
	}
	runtime_set_active(true);
	if (runtime.source->open(why, sizeof(why))) {
		give_up(why);
		return;
	}
	runtime.sampling = true;
}

/* Context: all signals blocked. */
static void begin_with_room(void)
{
	char *low = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (low == MAP_FAILED) {
		runtime.source->end_wait();
		return;
	}
	own_stack_call(low + STACK_BYTES, begin, NULL);
	munmap(low, STACK_BYTES);
	if (!runtime_active())
		runtime.source->end_wait();
}

/* In the handler. */
static bool begin_if_due(void)
{
	if (runtime_phase(now_ns()) != RUNTIME_WANTED || !runtime_end_waiting())
		return false;
	runtime.source->is_due();
	begin_with_room();
	return runtime_active();
}

void child_remember(void)
{
	describe_remember(runtime.store.header);
	handler_when_waiting(begin_if_due);
}

static uint64_t block(void)
{
	uint64_t all = ~0ull, old = 0;

	sys_call4(SYS_rt_sigprocmask, SIG_BLOCK, &all, &old, sizeof(all));
	return old;
}

void child_begin(void)
{
	uint64_t old;

	if (!runtime_is_waiting())
		return;
	old = block();
	if (runtime_end_waiting()) {
		runtime.source->end_wait();
		begin_with_room();
	}
	sys_call4(SYS_rt_sigprocmask, SIG_SETMASK, &old, NULL, sizeof(old));
}

void child_end(const char *why)
{
	if (!runtime_end_waiting())
		return;
	runtime.source->end_wait();
	runtime.waits = false;
	if (!why)
		return;
	runtime.stopped = true;
	stderr_line(why);
}

/* The vdso would be a page that the child does not have yet. */
static uint64_t now_by_call(void)
{
	struct timespec ts = { 0, 0 };

	sys_call2(SYS_clock_gettime, CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

bool child_wait(void)
{
	uint64_t seed;

	runtime.pid = (pid_t)sys_call0(SYS_getpid);
	seed = runtime.seed ^ (uint64_t)runtime.pid << 32;
	runtime.seed = rng_splitmix(&seed);
	runtime.start_mono = now_by_call();
	runtime.stopped = false;
	thread_set_self(NULL);
	inside_reset();
	if (runtime.source->wait())
		return false;
	runtime.waits = true;
	runtime_set_waiting();
	return true;
}
