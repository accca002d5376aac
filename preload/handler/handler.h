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
 * Our handler for the claimed signal (signal_claim installs it). What is not
 * ours it hands to signal_forward().
 */
void handler_on_signal(int sig, siginfo_t *info, void *context);

/*
 * Call @fn(@arg) on the handler stack of @t, the calling thread's. Context: all
 * signals blocked, t->in_handler set.
 */
void handler_call(struct thread *t, void (*fn)(void *), void *arg);

/*
 * After runtime_active() has become false: wait a while, at most, until no
 * thread is in our handler. Any context but our handler.
 */
void handler_drain(void);

#endif
