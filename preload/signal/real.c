/* SPDX-License-Identifier: MIT */
/*
 * real - look up the functions behind the hooks
 *
 * We look up all of them before main, because dlsym takes the loader's lock,
 * which neither a handler nor a vfork child may do. Two threads that look up
 * the same name write the same value.
 */
#include <dlfcn.h>

#include "real.h"
#include "src/base/loaded.h"

struct real_functions real_functions;

void *hook_resolve(void **where, const char *name)
{
	/* dlsym allocates where it finds nothing. */
	void *fn = loaded_symbol_after_us(name) ? dlsym(RTLD_NEXT, name) : NULL;

	__atomic_store_n(where, fn, __ATOMIC_RELAXED);
	return fn;
}

__attribute__((constructor(101))) static void resolve_all(void)
{
	REAL(sigaction);
	REAL(signal);
	REAL(sysv_signal);
	REAL(sigset);
	REAL(siginterrupt);
	REAL(sigignore);
	REAL(sigprocmask);
	REAL(pthread_sigmask);
	REAL(sigblock);
	REAL(sigsetmask);
	REAL(sighold);
	REAL(sigrelse);
	REAL(sigpending);
	REAL(sigsuspend);
	REAL(sigpause);
	REAL(__xpg_sigpause);
	REAL(__sigpause);
	REAL(ppoll);
	REAL(__ppoll_chk);
	REAL(pselect);
	REAL(epoll_pwait);
	REAL(epoll_pwait2);
	REAL(sigwait);
	REAL(sigtimedwait);
	REAL(signalfd);
	REAL(__sigsetjmp);
	REAL(siglongjmp);
	REAL(longjmp);
	REAL(_longjmp);
	REAL(__longjmp_chk);
	REAL(getcontext);
	REAL(setcontext);
	REAL(swapcontext);
	REAL(_Fork);
	REAL(posix_spawn);
	REAL(posix_spawnp);
	REAL(system);
	REAL(popen);
	REAL(execve);
	REAL(execvpe);
	REAL(execveat);
	REAL(fexecve);
	REAL(_exit);
	REAL(_Exit);
	REAL(quick_exit);
	REAL(sigaltstack);
	REAL(prctl);
	REAL(syscall);
	REAL(pthread_create);
	REAL(thrd_create);
	REAL(raise);
	REAL(pthread_kill);
	REAL(pthread_sigqueue);
	REAL(tgkill);
	REAL(fstat);
	REAL(fstat64);
	REAL(setuid);
	REAL(seteuid);
	REAL(setreuid);
	REAL(setresuid);
	REAL(chroot);
	REAL(setrlimit);
	REAL(prlimit);
	REAL(pthread_setcanceltype);
}
