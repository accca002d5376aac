/* SPDX-License-Identifier: MIT */
/*
 * hooks - what the interposed libc functions share
 *
 * Each hook has the name of a libc function and EXPORT; it reaches the
 * function behind it through REAL(name), never by the plain name. All of them
 * are looked up before main; a hook that is called earlier still, by another
 * library's constructor, looks up its own.
 *
 * A hook keeps what the function promises: its result, errno, the contexts in
 * which it may be called, and its being a cancellation point.
 */
#ifndef COMDET_PRELOAD_HOOKS_HOOKS_H
#define COMDET_PRELOAD_HOOKS_HOOKS_H

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#include "preload/core/runtime.h"

/* libc functions that its headers hide, rename or deprecate. */
typedef __sighandler_t set_handler_fn(int sig, __sighandler_t handler);
typedef int sigaction_fn(int sig, const struct sigaction *act,
			 struct sigaction *old);
typedef int with_int_fn(int value);
typedef int siginterrupt_fn(int sig, int on);
typedef int ppoll_chk_fn(struct pollfd *fds, nfds_t n,
			 const struct timespec *timeout, const sigset_t *mask,
			 size_t fds_bytes);
typedef void jump_fn(struct __jmp_buf_tag *env, int value);
typedef long syscall_fn(long n, long a, long b, long c, long d, long e, long f);
typedef int sigsuspend_fn(const sigset_t *mask);

struct real_functions {
	/* sigaction.c */
	sigaction_fn *sigaction;
	set_handler_fn *signal, *sysv_signal, *sigset;
	siginterrupt_fn *siginterrupt;
	with_int_fn *sigignore;
	/* mask.c */
	__typeof__(&pthread_sigmask) sigprocmask, pthread_sigmask;
	with_int_fn *sigblock, *sigsetmask, *sighold, *sigrelse;
	__typeof__(&sigpending) sigpending;
	/* wait.c */
	sigsuspend_fn *sigsuspend;
	with_int_fn *sigpause, *__xpg_sigpause;
	int (*__sigpause)(int mask_or_sig, int is_sig);
	__typeof__(&ppoll) ppoll;
	ppoll_chk_fn *__ppoll_chk;
	__typeof__(&pselect) pselect;
	__typeof__(&epoll_pwait) epoll_pwait;
	__typeof__(&epoll_pwait2) epoll_pwait2;
	__typeof__(&sigwait) sigwait;
	__typeof__(&sigtimedwait) sigtimedwait;
	/* signalfd.c */
	__typeof__(&signalfd) signalfd;
	/* jump.c */
	int (*__sigsetjmp)(struct __jmp_buf_tag *env, int save_mask);
	jump_fn *siglongjmp, *longjmp, *_longjmp, *__longjmp_chk;
	__typeof__(&getcontext) getcontext;
	__typeof__(&setcontext) setcontext;
	__typeof__(&swapcontext) swapcontext;
	/* process.c, spawn.c, exec.c, exit.c */
	pid_t (*_Fork)(void);
	__typeof__(&posix_spawn) posix_spawn, posix_spawnp;
	__typeof__(&system) system;
	__typeof__(&popen) popen;
	__typeof__(&execve) execve, execvpe;
	__typeof__(&execveat) execveat;
	__typeof__(&fexecve) fexecve;
	void (*_exit)(int status), (*_Exit)(int status);
	void (*quick_exit)(int status);
	/* altstack.c */
	__typeof__(&sigaltstack) sigaltstack;
	/* sandbox.c */
	int (*prctl)(int option, ...);
	syscall_fn *syscall;
	/* thread.c */
	__typeof__(&pthread_create) pthread_create;
	__typeof__(&thrd_create) thrd_create;
	/* cancel.c */
	__typeof__(&pthread_setcanceltype) pthread_setcanceltype;
};

extern struct real_functions real_functions;

/*
 * The function behind the hook @name. Any context once the constructor has
 * run. NULL if the C library has none.
 */
#define REAL(name)                                                             \
	((__typeof__(real_functions.name))hook_real(                           \
		(void **)&real_functions.name, #name))

void *hook_resolve(void **where, const char *name);

static inline void *hook_real(void **where, const char *name)
{
	void *fn = __atomic_load_n(where, __ATOMIC_RELAXED);

	return fn ? fn : hook_resolve(where, name);
}

/* The claimed signal: signal/claim.c, mask.c */

/* The kernel's signal mask; what it fills in of a siginfo_t. */
#define KERNEL_MASK_BYTES 8
#define SIGINFO_BYTES     48

static inline uint64_t signal_bit(int sig)
{
	return 1ull << (sig - 1);
}

/*
 * Blocked from the first instruction of our handler on. A fault may be pending
 * together with our signal, which the kernel delivers first; it would then find
 * the program counter in our handler, and runtimes look at that. Blocked, it
 * waits until the program is back at the instruction that faulted.
 */
#define FAULT_SIGNALS                                                          \
	(signal_bit(SIGSEGV) | signal_bit(SIGBUS) | signal_bit(SIGILL) |       \
	 signal_bit(SIGFPE) | signal_bit(SIGSYS))

static inline uint64_t kernel_mask(const sigset_t *set)
{
	uint64_t mask;

	memcpy(&mask, set, KERNEL_MASK_BYTES);
	return mask;
}

static inline void set_kernel_mask(sigset_t *set, uint64_t mask)
{
	memcpy(set, &mask, KERNEL_MASK_BYTES);
}

/* rt_sigprocmask on the calling thread; returns the mask before. */
uint64_t kernel_mask_change(int how, uint64_t mask);

/*
 * What a thread keeps. The application has the claimed signal blocked here if
 * the kernel's bit is set or @blocks is. See docs/signal-safety.md.
 */
struct signal_thread {
	bool blocks;  /* blocked for the application, not in the kernel */
	bool handles; /* only since the application's handler was called */
	bool held;    /* a signal of the application's waits: now in both */
	bool waits;   /* in a call whose mask lets the signal through */
	bool keeps;   /* @kept was given back to the kernel for this thread */
	char kept[SIGINFO_BYTES];
	/* The same for a vfork child that lives in this thread's memory. */
	pid_t child;
	bool child_blocks;
};

extern __thread struct signal_thread signal_thread
	__attribute__((tls_model("initial-exec")));

/*
 * The program may run code of its own in the middle of ours, and may leave it
 * for good: it has looked at a signal's action, so it may have set one, or a
 * thread can be cancelled anywhere. Any context.
 */
extern _Atomic bool signal_handlers;

/* The claimed signal, 0 if there is none. Any context. */
int signal_claimed(void);

/*
 * The claim was made by this process: false in a vfork child and in one made
 * by a raw system call, where hooks act on the kernel's state and leave the
 * shared memory alone. Any context, one system call.
 */
bool signal_claim_is_ours(void);

/*
 * A thread has an alternate stack that our handler does not fit on: from here
 * on it runs on the stack that it interrupts. Any context.
 */
void signal_small_stack(void);

/* Is the claimed signal in @set? False if nothing is claimed or no set. */
bool signal_is_in(const sigset_t *set);

/*
 * Exchange the application's action. @act NULL only reads, @old may be NULL.
 * For vfork children too. Returns 0 or -1 with errno, as sigaction.
 */
int signal_wish(const struct sigaction *act, struct sigaction *old);

/* The application ignores the claimed signal. */
bool signal_wish_ignores(void);

/* What the application has, for this process or the vfork child it is. */
bool signal_blocks_get(void);
void signal_blocks_set(bool blocks);

/*
 * Give up the claim in a forked child: the kernel gets the application's
 * action and mask. Returns whether the application has the signal blocked.
 * Any context.
 */
bool signal_release_in_child(void);

/* The mask that the application sees when the kernel's is @mask. Any context */
uint64_t signal_mask_view(uint64_t mask);

/* pthread_sigmask for the application; returns its mask before. Any context. */
uint64_t signal_mask_change(int how, uint64_t mask);

/* The application's action: signal/app_sigaction.c. All of it in any context.
 */

/* An action of the application's: handler, flags, mask of 64 signals. */
struct wish {
	void *handler;
	void *restorer;
	uint64_t mask;
	int flags;
};

/* The application's action now; a ticket by which wish_reset knows it. */
uint64_t wish_read(struct wish *wish);
/* Publish @w; @before gets the wish it replaces. False if there is no slot. */
bool wish_publish(const struct wish *w, struct wish *before);
/* SA_RESETHAND: to the default, unless the action has changed since. */
void wish_reset(uint64_t ticket);

/* Handing on: signal/forward.c */

/* The kernel's default action: a vfork child's, or we are about to die. */
void signal_default_for_good(void);

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

/* A held signal may be for a signalfd: signalfd.c. Any context. */
void signalfd_let_through(void);

/* What signal_before_exec changed in the kernel. */
struct signal_exec {
	bool blocked, ignored;
};

/*
 * Give the kernel the application's mask and ignored action, which a program
 * inherits, and take that back if exec failed. Any context.
 */
void signal_before_exec(struct signal_exec *undo);
void signal_exec_failed(const struct signal_exec *undo);

/*
 * The same around a call that starts a program while this one goes on, and
 * the mask alone around one that starts a thread.
 */
void signal_before_spawn(struct signal_exec *undo);
void signal_after_spawn(const struct signal_exec *undo);
void signal_before_thread(struct signal_exec *undo);
void signal_after_thread(const struct signal_exec *undo);

/*
 * A new thread starts, for which the application has the signal blocked if
 * @blocks says so or the kernel does, from which the bit is then taken.
 */
void signal_thread_begin(bool blocks);

/* A thread ends: what it kept for itself is for others. */
void signal_thread_end(void);

/*
 * What LD_PRELOAD is to be without the library at @path: writes at most
 * strlen(@value) + 1 bytes to @out. Returns false if the library is not in it.
 * An entry is the library's if it is @path or has the same file name.
 */
bool preload_without(const char *value, const char *path, char *out);

enum {
	ENV_ROOM_BYTES = 4096
};

/*
 * The environment for a program that is started: @env if its profile is
 * wanted (@follow) or it does not preload us, else a copy without our entry.
 * The copy lies in @room, of ENV_ROOM_BYTES, or, if that is too small, in
 * memory that the thread keeps for the next time. Any context.
 */
char **env_for_program(char *const *env, bool follow, char *room);

/* process.c: around fork and its like. */
void process_before_fork(void);
void process_after_fork_parent(bool forked);
void process_after_fork_child(void);

#endif
