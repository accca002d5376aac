/* SPDX-License-Identifier: MIT */
/*
 * process - the profile at fork, exec and exit; the hooks call it
 */
#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "child.h"
#include "comdet.h"
#include "describe.h"
#include "process.h"
#include "stop.h"
#include "preload/core/maps.h"
#include "preload/core/runtime.h"
#include "preload/core/sys.h"
#include "preload/watch/own_event.h"
#include "preload/watch/watch.h"
#include "src/store/sample_log.h"

void runtime_before_exit(void)
{
	child_end(NULL);
	if (runtime_is_ours()) {
		runtime_set_active(false);
		runtime_finish(CDP_ENDED);
	}
}

void runtime_before_exec(void)
{
	if (runtime_is_waiting())
		runtime.source->pause();
	if (!runtime_is_ours())
		return;
	runtime.source->pause();
	if (runtime.source->finish)
		runtime.source->finish(false);
	maps_finish();
	describe_end(runtime.store.header, CDP_EXECED);
}

void runtime_exec_failed(void)
{
	if (runtime_is_waiting())
		runtime.source->resume();
	if (!runtime_is_ours())
		return;
	__atomic_store_n(&runtime.store.header->state, CDP_RUNNING,
			 __ATOMIC_RELEASE);
	runtime.source->resume();
}

void runtime_before_sandbox(const char *what)
{
	char why[160];

	if (sys_call0(SYS_getpid) == runtime.pid)
		runtime.sandboxed = true; /* for what it execs, too */
	if (!runtime_is_ours() && !runtime_is_waiting())
		return;
	snprintf(why, sizeof(why),
		 "profiling stopped: the program uses %s, with which our "
		 "signals may harm it",
		 what);
	child_end(why);
	runtime_stop(why);
}

bool runtime_is_descriptor(int fd)
{
	const struct store *s = &runtime.store;
	struct stat now;

	if (own_event_has(fd) ||
	    (runtime.source && runtime.source->has_anywhere &&
	     runtime.source->has_anywhere(fd)))
		return true;
	return s->ino && fd == s->fd && !sys_call2(SYS_fstat, fd, &now) &&
	       now.st_dev == s->dev && now.st_ino == s->ino;
}

void runtime_count_not_followed(void)
{
	if (runtime.store.header)
		__atomic_fetch_add(&runtime.store.header->not_followed, 1,
				   __ATOMIC_RELAXED);
}

/*
 * perf raises its signals in user mode only. A timer's signal may come in the
 * kernel and restart clone: a fork that takes longer than the timer's period
 * would never end.
 */
static void block_timer(int how)
{
	uint64_t set = 1ull << (runtime.signal - 1);

	if ((runtime.sampling || runtime.waits) &&
	    runtime.delivery == DELIVERY_RTSIG)
		sys_call4(SYS_rt_sigprocmask, how, &set, NULL, sizeof(set));
}

void runtime_before_fork(void)
{
	block_timer(SIG_BLOCK);
}

void runtime_after_fork_parent(void)
{
	block_timer(SIG_UNBLOCK);
}

/* What the child inherited, but for the lock on the parent's file. */
static void release(void)
{
	block_timer(SIG_UNBLOCK);
	runtime.source->after_fork();
	watch_after_fork();
	store_after_fork(&runtime.store);
	sample_log_close();
	runtime.sampling = runtime.waits = false;
}

bool runtime_child_may_wait(void)
{
	return child_may_wait();
}

bool runtime_child_waits(void)
{
	release();
	return child_wait();
}

void runtime_after_fork_child(void)
{
	int saved_errno;

	release();
	store_release(&runtime.store); /* closes it */
	if (!runtime.config.children)
		return;
	saved_errno = errno;
	runtime_start();
	errno = saved_errno;
}
