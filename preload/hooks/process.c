/* SPDX-License-Identifier: MIT */
/*
 * process - fork
 *
 * fork, and the functions of the C library that call it (daemon, forkpty), run
 * the handlers that we register here. We register before main, so ours run last
 * before the fork and first after it. _Fork runs no handlers and is hooked.
 * vfork cannot be hooked: a function of ours that called it could not return in
 * the child. A child of vfork or of a raw system call is recognised by its
 * process id (runtime_is_ours).
 *
 * Parent and child copy each page that they write, and errno lies on one. What
 * does not call libc leaves it alone.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "process.h"
#include "preload/core/local.h"
#include "preload/core/runtime.h"
#include "preload/signal/claim.h"
#include "preload/signal/claimed.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"

/* True if the calling thread began to fork while it was profiled. */
static bool *profiled(void)
{
	return local_get(LOCAL_FORK);
}

void process_before_fork(void)
{
	bool is = runtime_is_ours() || runtime_is_waiting();

	if (*profiled() != is) /* a store would copy the page */
		*profiled() = is;
	if (is)
		runtime_before_fork();
}

void process_after_fork_parent(bool forked)
{
	if (!*profiled())
		return;
	runtime_after_fork_parent();
	if (forked && !runtime_follow_children())
		runtime_count_not_followed();
}

static bool waits(void)
{
	if (!*profiled() || !runtime_child_may_wait())
		return false;
	signal_keep_in_child();
	return runtime_child_waits();
}

/* The child is not followed, or begins its profile now. */
static void begin_anew(void)
{
	int sig = signal_claimed();
	bool blocked;

	blocked = signal_release_in_child();
	if (*profiled())
		runtime_after_fork_child();
	if (blocked && signal_claimed())
		signal_set_app_blocks(true, 0);
	else if (blocked)
		kernel_mask_change(SIG_BLOCK, signal_bit(sig));
}

void process_after_fork_child(void)
{
	if (!waits())
		begin_anew();
}

static void after_fork_parent(void)
{
	/* We do not learn whether it failed, so a failed fork is counted too.
	 */
	process_after_fork_parent(true);
}

__attribute__((constructor(102))) static void register_handlers(void)
{
	pthread_atfork(process_before_fork, after_fork_parent,
		       process_after_fork_child);
}

EXPORT pid_t _Fork(void)
{
	pid_t pid;

	if (!REAL(_Fork)) {
		errno = ENOSYS;
		return -1;
	}
	process_before_fork();
	pid = REAL(_Fork)();
	if (pid == 0)
		process_after_fork_child();
	else
		process_after_fork_parent(pid > 0);
	return pid;
}
