/* SPDX-License-Identifier: MIT */
/*
 * real - the functions of the C library behind the hooks
 *
 * A hook (preload/hooks) has the name of a function of the C library and
 * EXPORT. It reaches the function behind it through REAL(name), never by the
 * plain name, which is the hook. All of them are looked up before main; a hook
 * that another library's constructor calls earlier looks up its own.
 *
 * A hook keeps the function's promises: result, errno, the contexts in which it
 * may be called, and whether it is a cancellation point.
 */
#ifndef COMDET_PRELOAD_SIGNAL_REAL_H
#define COMDET_PRELOAD_SIGNAL_REAL_H

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
#include <sys/stat.h>
#include <threads.h>
#include <ucontext.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

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
	/* send.c */
	with_int_fn *raise;
	__typeof__(&pthread_kill) pthread_kill;
	__typeof__(&pthread_sigqueue) pthread_sigqueue;
	__typeof__(&tgkill) tgkill;
	/* descriptor.c */
	__typeof__(&fstat) fstat;
	__typeof__(&fstat64) fstat64;
	/* limit.c */
	__typeof__(&setuid) setuid, seteuid;
	__typeof__(&setreuid) setreuid;
	__typeof__(&setresuid) setresuid;
	__typeof__(&chroot) chroot;
	int (*setrlimit)(int resource, const void *limit);
	int (*prlimit)(pid_t pid, int resource, const void *limit, void *old);
	/* cancel.c */
	__typeof__(&pthread_setcanceltype) pthread_setcanceltype;
};

extern struct real_functions real_functions;

/*
 * The function behind the hook @name, NULL if the C library has none. Any
 * context once the constructor has run.
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

#endif
