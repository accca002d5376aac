/* SPDX-License-Identifier: MIT */
/*
 * exit - ends of the process that run no destructors
 *
 * exit() and a return from main run our destructor. A process that ends by a
 * raw system call or by a signal loses no committed count, and its file says
 * so.
 */
#include <errno.h>

#include "preload/core/runtime.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"

static void leave(void)
{
	if (runtime_is_waiting() || runtime_is_ours())
		runtime_before_exit();
}

/* A child that waits has nothing to write; the kernel deletes its timer. */
static void leave_at_once(void)
{
	if (!runtime_end_waiting())
		leave();
}

EXPORT void _exit(int status)
{
	leave_at_once();
	REAL(_exit)(status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	leave_at_once();
	REAL(_Exit)(status);
	__builtin_unreachable();
}

/* The at_quick_exit functions run after this, unprofiled. */
EXPORT void quick_exit(int status)
{
	leave();
	REAL(quick_exit)(status);
	__builtin_unreachable();
}
