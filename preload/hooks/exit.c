/* SPDX-License-Identifier: MIT */
/*
 * exit - ends of the process that run no destructors
 *
 * exit() and a return from main run ours. A process that ends by a raw system
 * call or a signal loses nothing that was tallied; its file says so.
 */
#include <errno.h>

#include "preload/core/runtime.h"
#include "preload/signal/real.h"
#include "preload/start/process.h"

static void leave(void)
{
	if (runtime_is_ours())
		runtime_before_exit();
}

EXPORT void _exit(int status)
{
	leave();
	REAL(_exit)(status);
	__builtin_unreachable();
}

EXPORT void _Exit(int status)
{
	leave();
	REAL(_Exit)(status);
	__builtin_unreachable();
}

/* Its at_quick_exit functions run afterwards, unprofiled. */
EXPORT void quick_exit(int status)
{
	leave();
	REAL(quick_exit)(status);
	__builtin_unreachable();
}
