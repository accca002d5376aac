/* SPDX-License-Identifier: MIT */
/*
 * pending - the application's signals that wait while it has them blocked
 *
 * They wait in the kernel's queues, so that sigpending, sigwait, signalfd and
 * exec find them there.
 */
#ifndef COMDET_PRELOAD_SIGNAL_PENDING_H
#define COMDET_PRELOAD_SIGNAL_PENDING_H

#include <signal.h>
#include <stdbool.h>

/* True if @info is a sample or a trap of ours. Any context. */
bool signal_is_our_own(const siginfo_t *info);

/*
 * Give back to the kernel a signal that this thread has received while the
 * application had it blocked. The kernel must have the signal blocked. Any
 * context.
 */
void signal_requeue(const siginfo_t *info);

/*
 * This thread took the claimed signal with @info from the kernel. Returns true
 * if it is the application's; if one of ours took its place, corrects @info.
 */
bool signal_is_theirs(siginfo_t *info);

/*
 * Take the application's pending claimed signal, which the kernel has blocked,
 * and drop ours. Returns false if none of the application's is pending.
 */
bool signal_take_pending(siginfo_t *info);

/* This thread ends: give a signal that it kept to the others. Any context. */
void signal_thread_end(void);

/*
 * One of our signals came, @late if it had to wait. Returns true if it took the
 * place of a signal of the application's: forward that one, which @info then
 * describes. Context: handler.
 */
bool signal_took_a_place(bool late, siginfo_t *info);

#endif
