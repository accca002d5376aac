/* SPDX-License-Identifier: MIT */
/*
 * claim - one signal for two: our handler, and the application's action
 */
#ifndef COMDET_PRELOAD_SIGNAL_CLAIM_H
#define COMDET_PRELOAD_SIGNAL_CLAIM_H

#include <signal.h>
#include <stdbool.h>

/*
 * Install @handler for @sig and from then on virtualise @sig: the action that
 * the application had set before, and those it sets from now on, are kept and
 * returned when asked (app_sigaction.h), and are not what the kernel has. Also
 * unblocks @sig in the calling thread, remembering that the application had it
 * blocked. Returns 0 or -errno. Context: set-up.
 */
int signal_claim(int sig, void (*handler)(int, siginfo_t *, void *));

/*
 * If the kernel's action for the claimed signal is no longer ours (a runtime
 * that makes raw system calls, such as Go's, has set another), take that as the
 * application's and install ours again. Returns 1 if so, 0 if all was well.
 */
int signal_reclaim(void);

/*
 * A thread has an alternate stack that our handler does not fit on: from here
 * on it runs on the stack that it interrupts. Any context.
 */
void signal_small_stack(void);

/*
 * Exchange the application's action. @act NULL only reads, @old may be NULL.
 * For vfork children too. Returns 0 or -1 with errno, as sigaction.
 */
int signal_app_action(const struct sigaction *act, struct sigaction *old);

/* The application ignores the claimed signal. */
bool signal_app_ignores(void);

/*
 * Give up the claim in a forked child: the kernel gets the application's
 * action and mask. Returns whether the application has the signal blocked.
 * Any context.
 */
bool signal_release_in_child(void);

/*
 * Put the kernel's default action in place, for good: in a vfork child, or when
 * the process is about to die of the signal. Any context.
 */
void signal_default_for_good(void);

/*
 * While programs are started (inherit.h) the kernel ignores the claimed signal,
 * as the application wishes; signal_install puts our handler back. Any context.
 */
void signal_install(void);
void signal_install_ignore(void);
bool signal_is_installed(void);
/* A spawn that needs SIG_IGN begins or has ended. Returns how many others. */
unsigned signal_ignore_begin(void);
unsigned signal_ignore_end(void);

/*
 * A new thread starts, for which the application has the signal blocked if
 * @blocks says so or the kernel does, from which the bit is then taken.
 */
void signal_thread_begin(bool blocks);

#endif
