/* SPDX-License-Identifier: MIT */
/*
 * help_hook_owns - the program has functions named as those that we hook
 *
 * The linker exports them, because the C library has the names, too. The
 * argument names the case. The output must not depend on the preload, as in
 * help_hook_signal: what we hook must not call the program's functions.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"

static int handled, actions, raised, stats, killed;

static void on_signal(int sig)
{
	handled++;
}

/* Erlang's emulator has such a one. */
int sigaction(int sig, const struct sigaction *act, struct sigaction *old)
{
	static __typeof__(&sigaction) next;

	if (!next)
		next = (__typeof__(&sigaction))dlsym(RTLD_NEXT, "__sigaction");
	actions++;
	return next(sig, act, old);
}

int raise(int sig)
{
	return ++raised;
}

int fstat(int fd, struct stat *st)
{
	return ++stats;
}

int tgkill(pid_t process, pid_t thread, int sig)
{
	return ++killed;
}

static void set_actions(void)
{
	static const int sigs[] = { SIGTRAP, SIGUSR1, SIGALRM };
	struct sigaction a, old;

	memset(&a, 0, sizeof(a));
	a.sa_handler = on_signal;
	for (int i = 0; i < 3; i++) {
		printf("%d", sigaction(sigs[i], &a, NULL));
		printf(" %d", sigaction(sigs[i], NULL, &old));
		printf(" %d\n", old.sa_handler == on_signal);
		burn(5);
		kill(getpid(), sigs[i]);
	}
	printf("handled %d actions %d\n", handled, actions);
}

static void send_signals(void)
{
	static const int sigs[] = { SIGTRAP, SIGUSR1 };

	for (int i = 0; i < 2; i++) {
		signal(sigs[i], on_signal);
		burn(5);
		gsignal(sigs[i]);
		pthread_kill(pthread_self(), sigs[i]);
		syscall(SYS_tgkill, getpid(), gettid(), sigs[i]);
		printf("handled %d\n", handled);
	}
	printf("own %d %d %d\n", raise(SIGUSR1), tgkill(0, 0, 0),
	       fstat(0, &(struct stat){ 0 }));
	printf("raised %d killed %d stats %d\n", raised, killed, stats);
}

static const struct hook_case cases[] = {
	{ "set_actions", set_actions },
	{ "send_signals", send_signals },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
