/* SPDX-License-Identifier: MIT */
/*
 * help_hook_action - set and read SIGTRAP's action, jump out of its handler
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

/* Deprecated functions are hooked too. */
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static void count(int sig)
{
	handled++;
}

static const char *name_of(void *handler)
{
	return handler == (void *)(uintptr_t)SIG_DFL    ? "default"
	       : handler == (void *)(uintptr_t)SIG_IGN  ? "ignore"
	       : handler == (void *)(uintptr_t)SIG_ERR  ? "error"
	       : handler == (void *)(uintptr_t)count    ? "count"
	       : handler == (void *)(uintptr_t)on_trap  ? "on_trap"
	       : handler == (void *)(uintptr_t)SIG_HOLD ? "hold"
							: "foreign";
}

static void show_action(const char *when, const struct sigaction *a)
{
	printf("%s: %s flags %x mask %llx restorer %s\n", when,
	       name_of((void *)(uintptr_t)a->sa_handler), a->sa_flags,
	       (unsigned long long)bits(&a->sa_mask),
	       a->sa_restorer ? "set" : "not set");
}

static void show_current(const char *when)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	printf("%d ", sigaction(SIGTRAP, NULL, &a));
	show_action(when, &a);
}

static void query(void)
{
	struct sigaction a, old;

	show_current("at start");
	memset(&a, 0, sizeof(a));
	memset(&old, 0, sizeof(old));
	a.sa_sigaction = on_trap;
	a.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
	sigfillset(&a.sa_mask);
	printf("%d ", sigaction(SIGTRAP, &a, &old));
	show_action("before", &old);
	show_current("after sigaction");
	printf("signal %s\n",
	       name_of((void *)(uintptr_t)signal(SIGTRAP, count)));
	show_current("after signal");
	siginterrupt(SIGTRAP, 1);
	show_current("after siginterrupt 1");
	signal(SIGTRAP, count);
	show_current("after signal again");
	siginterrupt(SIGTRAP, 0);
	show_current("after siginterrupt 0");
	printf("sysv_signal %s\n",
	       name_of((void *)(uintptr_t)sysv_signal(SIGTRAP, SIG_IGN)));
	show_current("after sysv_signal");
	printf("signal SIG_ERR %s\n",
	       name_of((void *)(uintptr_t)signal(SIGTRAP, SIG_ERR)));
	printf("%d %d\n", sigaction(0, NULL, &a), errno);
	printf("%d %d\n", sigaction(SIGKILL, &a, NULL), errno);
	printf("%d %d\n", sigaction(65, NULL, &a), errno);
	printf("%d\n", sigaction(SIGTRAP, &old, NULL));
	show_current("at end");
	a.sa_handler = SIG_DFL;
	a.sa_flags = 0x40000 | SA_RESTART;
	sigaction(SIGTRAP, &a, NULL);
	show_current("an unknown flag");
}

static void xsi(void)
{
	printf("sigset %s\n",
	       name_of((void *)(uintptr_t)sigset(SIGTRAP, count)));
	show_current("after sigset");
	printf("hold %s\n",
	       name_of((void *)(uintptr_t)sigset(SIGTRAP, SIG_HOLD)));
	printf("blocked %d\n", blocked());
	printf("hold again %s\n",
	       name_of((void *)(uintptr_t)sigset(SIGTRAP, SIG_HOLD)));
	raise(SIGTRAP);
	printf("handled %d\n", handled);
	printf("sigset %s\n",
	       name_of((void *)(uintptr_t)sigset(SIGTRAP, count)));
	printf("handled %d blocked %d\n", handled, blocked());
	sighold(SIGTRAP);
	raise(SIGTRAP);
	printf("held %d\n", handled);
	sigrelse(SIGTRAP);
	printf("released %d\n", handled);
	sighold(SIGTRAP);
	raise(SIGTRAP);
	printf("pause %d errno %d handled %d blocked %d\n", sigpause(SIGTRAP),
	       errno, handled, blocked());
	printf("sigblock %x\n", sigblock(1 << (SIGUSR1 - 1)));
	printf("sigsetmask %x\n", sigsetmask(1 << (SIGTRAP - 1)));
	printf("sigsetmask %x\n", sigsetmask(0));
	sigignore(SIGTRAP);
	show_current("ignored");
	raise(SIGTRAP);
	printf("handled %d\n", handled);
}

static void resethand(void)
{
	set(SIGTRAP, on_trap, (int)SA_RESETHAND);
	raise(SIGTRAP);
	printf("handled %d\n", handled);
	show_current("after");
	fflush(stdout);
	raise(SIGTRAP);
	printf("not reached\n");
}

static _Atomic int mixed, done;

static void handler_a(int sig)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	if (!sigismember(&now, SIGUSR1) || sigismember(&now, SIGUSR2))
		mixed++;
	handled++;
}

static void handler_b(int sig)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	if (sigismember(&now, SIGUSR1) || !sigismember(&now, SIGUSR2))
		mixed++;
	handled++;
}

static bool is_a_or_b(const struct sigaction *a)
{
	bool one = sigismember(&a->sa_mask, SIGUSR1);
	bool two = sigismember(&a->sa_mask, SIGUSR2);

	if (a->sa_handler == handler_a)
		return one && !two && a->sa_flags & SA_RESTART;
	return a->sa_handler == handler_b && two && !one &&
	       !(a->sa_flags & SA_RESTART);
}

static void set_a_or_b(bool is_a)
{
	struct sigaction a, old;

	memset(&a, 0, sizeof(a));
	a.sa_handler = is_a ? handler_a : handler_b;
	a.sa_mask = only(is_a ? SIGUSR1 : SIGUSR2);
	a.sa_flags = is_a ? SA_RESTART : 0;
	sigaction(SIGTRAP, &a, &old);
	if (done && !is_a_or_b(&old))
		mixed++;
	sigaction(SIGTRAP, NULL, &old);
	if (!is_a_or_b(&old))
		mixed++;
}

static void *set_often(void *arg)
{
	for (int i = 0; i < 20000; i++)
		set_a_or_b(i & 1);
	return NULL;
}

static void *raise_often(void *arg)
{
	for (int i = 0; i < 5000; i++)
		raise(SIGTRAP);
	return NULL;
}

/* Many threads set, read and run actions at once: no action is torn. */
static void actions_never_mix(void)
{
	pthread_t t[4];

	set_a_or_b(true);
	done = 1;
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i % 2 ? set_often : raise_often,
			       NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("handled %d mixed %d\n", handled, mixed);
}

static void int3(void)
{
	__asm__ volatile("int3");
}

static sigjmp_buf env;

static void jump(int sig, siginfo_t *info, void *context)
{
	siglongjmp(env, 1);
}

static void jump_out(void)
{
	volatile int jumps = 0;

	set(SIGTRAP, jump, 0);
	if (sigsetjmp(env, 1))
		jumps++;
	printf("jumps %d blocked %d\n", jumps, blocked());
	burn(1);
	if (jumps < 3)
		raise(SIGTRAP);
	if (jumps < 6)
		int3();
	mask(SIG_BLOCK, SIGTRAP);
	printf("blocked %d\n", blocked());
}

/* A jump restores the saved mask, if there is one. */
static void jump_restores_mask(void)
{
	sigjmp_buf at;
	volatile int round = 0;

	set(SIGTRAP, on_trap, 0);
	for (volatile int was = 0; was < 2; was++)
		for (volatile int save = 0; save < 2; save++) {
			round = 0;
			mask(was ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP);
			if (sigsetjmp(at, save))
				round++;
			printf("was %d save %d round %d blocked %d\n", was,
			       save, round, blocked());
			if (round)
				continue;
			mask(was ? SIG_UNBLOCK : SIG_BLOCK, SIGTRAP);
			raise(SIGTRAP);
			if (was)
				longjmp(at, 1);
			else
				siglongjmp(at, 1);
		}
	mask(SIG_UNBLOCK, SIGTRAP);
	printf("handled %d\n", handled);
}

static ucontext_t contexts[2];
static char context_stack[65536];

static void coroutine(void)
{
	for (int i = 0; i < 3; i++) {
		printf("inside %d blocked %d\n", i, blocked());
		raise(SIGTRAP);
		mask(i % 2 ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP);
		burn(1);
		printf("handled %d\n", handled);
		swapcontext(&contexts[1], &contexts[0]);
	}
}

/* Each context has a mask of its own. */
static void contexts_have_masks(void)
{
	volatile int rounds = 0;

	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	getcontext(&contexts[1]);
	contexts[1].uc_stack.ss_sp = context_stack;
	contexts[1].uc_stack.ss_size = sizeof(context_stack);
	contexts[1].uc_link = &contexts[0];
	makecontext(&contexts[1], coroutine, 0);
	mask(SIG_UNBLOCK, SIGTRAP);
	for (int i = 0; i < 4; i++) {
		swapcontext(&contexts[0], &contexts[1]);
		printf("outside %d blocked %d handled %d\n", i, blocked(),
		       handled);
	}
	getcontext(&contexts[0]);
	printf("round %d blocked %d\n", rounds, blocked());
	mask(SIG_BLOCK, SIGTRAP);
	if (rounds++ < 2)
		setcontext(&contexts[0]);
}

static const struct hook_case cases[] = {
	{ "query", query },
	{ "xsi", xsi },
	{ "resethand", resethand },
	{ "actions_never_mix", actions_never_mix },
	{ "jump_out", jump_out },
	{ "jump_restores_mask", jump_restores_mask },
	{ "contexts_have_masks", contexts_have_masks },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
