/* SPDX-License-Identifier: MIT */
/*
 * pending - signals of the application's that wait while it has them blocked
 *
 * They wait in the kernel's queues, so that sigpending, sigwait, signalfd and
 * exec find them there.
 */
#ifndef COMDET_PRELOAD_SIGNAL_PENDING_H
#define COMDET_PRELOAD_SIGNAL_PENDING_H

#include <signal.h>
#include <stdbool.h>

/* Is @info a sample or a trap of ours? */
bool signal_is_our_own(const siginfo_t *info);

/*
 * Give back to the kernel a signal of the application's that this thread has
 * taken while the application had it blocked. The claimed signal must be
 * blocked in the kernel. Any context.
 */
void signal_requeue(const siginfo_t *info);

/* Undo what signal_requeue did to si_code. */
void signal_restore_code(siginfo_t *info);

/*
 * The claimed signal was taken from the kernel with @info. Is it one of the
 * application's? If one of ours had taken its place @info is put right.
 */
bool signal_is_theirs(siginfo_t *info);

/*
 * Take the claimed signal, pending in the kernel for this thread and blocked
 * there; throws ours away. False if the application has none pending.
 */
bool signal_take_pending(siginfo_t *info);

/* This thread ends: leave to the others what it kept for itself. Any. */
void signal_thread_end(void);

/*
 * One of our signals has come, @late if it had to wait. Returns true if it took
 * the place of a signal of the application's, which @info then describes and
 * which must be forwarded. Context: handler.
 */
bool signal_took_a_place(bool late, siginfo_t *info);

#endif
