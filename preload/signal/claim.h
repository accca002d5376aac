/* SPDX-License-Identifier: MIT */
/*
 * claim - one signal for two: our handler, and the application's action
 */
#ifndef COMDET_PRELOAD_SIGNAL_CLAIM_H
#define COMDET_PRELOAD_SIGNAL_CLAIM_H

#include <signal.h>
#include <stdbool.h>

/*
 * Install @handler for @sig and virtualise @sig from then on: we keep the
 * action that the application has set, and those that it sets later
 * (app_sigaction.h), and the kernel keeps ours. Also unblocks @sig in the
 * calling thread and remembers that the application had it blocked. Returns 0
 * or -errno. Context: set-up.
 */
int signal_claim(int sig, void (*handler)(int, siginfo_t *, void *));

/*
 * If the kernel's action for the claimed signal is no longer ours (a runtime
 * that makes raw system calls, such as Go's, has set another), take that as the
 * application's and install ours again. Returns 1 if so, 0 if all was well.
 */
int signal_reclaim(void);

/*
 * A thread has an alternate stack that is too small for our handler: from now
 * on the handler runs on the stack that it interrupts. Any context.
 */
void signal_small_stack(void);

/*
 * Exchange the application's action. @act NULL only reads, @old may be NULL.
 * Works in vfork children too. Returns 0 or -1 with errno, as sigaction does.
 */
int signal_app_action(const struct sigaction *act, struct sigaction *old);

/* True if the application ignores the claimed signal. */
bool signal_app_ignores(void);

/*
 * Give up the claim in a forked child: the kernel gets the application's action
 * and mask. Returns true if the application has the signal blocked. Any
 * context.
 */
bool signal_release_in_child(void);

/*
 * Keep the claim in a forked child, for its only thread. The kernel's action
 * and mask are those of the parent. Context: set-up.
 */
void signal_keep_in_child(void);

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
/* A spawn that needs SIG_IGN begins or ends; returns how many others run. */
unsigned signal_ignore_begin(void);
unsigned signal_ignore_end(void);

/*
 * A new thread starts. The application has the signal blocked in it if @blocks
 * is set or if the kernel blocks it. Afterwards the kernel does not block it.
 * @profiled: if not, the program may be in a sandbox, in which we make no other
 * system call than the C library does.
 */
void signal_thread_begin(bool blocks, bool profiled);

#endif
