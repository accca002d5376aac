/* SPDX-License-Identifier: MIT */
/*
 * handler - the one signal handler
 */
#ifndef COMDET_PRELOAD_HANDLER_HANDLER_H
#define COMDET_PRELOAD_HANDLER_HANDLER_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct thread;

/* Before the first signal. Context: set-up. */
void handler_init(void);

/*
 * Our handler for the claimed signal; signal_claim installs it. It passes the
 * application's signals to signal_forward().
 */
void handler_on_signal(int sig, siginfo_t *info, void *context);

/*
 * What the handler calls if a sample is due while the process waits
 * (runtime_is_waiting): @begin returns true if the sample is now to be taken,
 * as in an active process. Context: set-up; @begin: handler, all signals
 * blocked.
 */
void handler_when_waiting(bool (*begin)(void));

/*
 * CPU time of @t, the calling thread, when the handler began, ns: not before,
 * but when this handler first asked. Context: handler.
 */
uint64_t handler_cpu_at(struct thread *t);

/*
 * Call @fn(@arg) on the handler stack of @t, the calling thread. Context: all
 * signals blocked, t->in_handler set.
 */
void handler_call(struct thread *t, void (*fn)(void *), void *arg);

#endif
