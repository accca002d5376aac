/* SPDX-License-Identifier: MIT */
/*
 * handler - the one signal handler
 */
#ifndef COMDET_PRELOAD_HANDLER_HANDLER_H
#define COMDET_PRELOAD_HANDLER_HANDLER_H

#include <signal.h>

struct thread;

/* Before the first signal. Context: set-up. */
void handler_init(void);

/*
 * Our handler for the claimed signal; signal_claim installs it. It passes the
 * application's signals to signal_forward().
 */
void handler_on_signal(int sig, siginfo_t *info, void *context);

/*
 * Call @fn(@arg) on the handler stack of @t, the calling thread. Context: all
 * signals blocked, t->in_handler set.
 */
void handler_call(struct thread *t, void (*fn)(void *), void *arg);

/*
 * After runtime_active() has become false: wait until no thread is in our
 * handler, for 20 ms at most. Any context but our handler.
 */
void handler_drain(void);

#endif
