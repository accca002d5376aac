/* SPDX-License-Identifier: MIT */
/*
 * interrupted_stack - handlers that did not ask for the alternate stack
 *
 * The kernel calls our handler on the thread's alternate stack. A handler of
 * the application's without SA_ONSTACK runs on the stack that the signal
 * interrupted. So its frame is made a second time, there, as the kernel would
 * have made it; then our handler returns into a function on that stack.
 */
#ifndef COMDET_PRELOAD_SIGNAL_INTERRUPTED_STACK_H
#define COMDET_PRELOAD_SIGNAL_INTERRUPTED_STACK_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <ucontext.h>

#include "claimed.h"

/* Some of struct signal_thread. */
struct handler_flags {
	bool blocks, handles, held, quiet;
	bool in_wait;
	uint64_t beside;
};

/* A call of the application's handler. */
struct handler_call {
	void (*handler)(int, siginfo_t *, void *);
	struct handler_flags before; /* what it finds when it is called */
	bool ours;                   /* not in a vfork child */
};

/* True if @uc lies on the alternate stack, and what was interrupted did not. */
bool interrupted_another_stack(const ucontext_t *uc);

/*
 * Make a frame for @sig on the interrupted stack, and change @uc so that the
 * return from our handler calls @run there, with @mask in the kernel and a copy
 * of @call. When @run returns the thread goes on where it was interrupted.
 * Context: handler.
 */
void interrupted_stack_call(int sig, const siginfo_t *info, ucontext_t *uc,
			    uint64_t mask, const struct handler_call *call,
			    void (*run)(int, siginfo_t *, void *,
					const struct handler_call *));

#endif
