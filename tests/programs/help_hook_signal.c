/* SPDX-License-Identifier: MIT */
/*
 * help_hook_signal - everything that a program can see of SIGTRAP
 *
 * The argument names the case, which prints nothing that differs between runs.
 * e2e/check_hooks.sh compares output and exit status with and without the
 * preload.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

static void int3(void)
{
	__asm__ volatile("int3");
}

static void int3_default(void)
{
	burn(5);
	printf("before\n");
	fflush(stdout);
	int3();
	printf("not reached\n");
}

static void int3_ignored(void)
{
	signal(SIGTRAP, SIG_IGN);
	raise(SIGTRAP);
	int3_default();
}

static void int3_blocked(void)
{
	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	int3_default();
}

static void int3_handled(void)
{
	set(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 1000; i++)
		int3();
	printf("handled %d code %d\n", handled, last.si_code);
	burn(5);
	printf("handled %d\n", handled);
}

static void single_step_handled(void)
{
	set(SIGTRAP, on_trap, 0);
	__asm__ volatile("pushfq; orl $0x100, (%%rsp); popfq; nop; nop;"
			 "pushfq; andl $~0x100, (%%rsp); popfq" ::
				 : "memory", "cc");
	printf("steps %d code %d\n", handled, last.si_code);
}

static void raise_default(void)
{
	burn(5);
	raise(SIGTRAP);
	printf("not reached\n");
}

static void raise_handled(void)
{
	set(SIGTRAP, on_trap, 0);
	burn(3);
	for (int i = 0; i < 1000; i++)
		raise(SIGTRAP);
	printf("handled %d code %d own %d\n", handled, last.si_code,
	       last.si_pid == getpid());
}

static int depth, deepest;

static void nest(int sig, siginfo_t *info, void *context)
{
	handled++;
	if (++depth > deepest)
		deepest = depth;
	if (handled < 4)
		raise(SIGTRAP);
	burn(2);
	depth--;
}

static void nested(void)
{
	set(SIGTRAP, nest, SA_NODEFER);
	raise(SIGTRAP);
	printf("nodefer: handled %d deepest %d\n", handled, deepest);
	handled = deepest = 0;
	set(SIGTRAP, nest, 0);
	raise(SIGTRAP);
	printf("deferred: handled %d deepest %d\n", handled, deepest);
}

static int order[8], order_n;

static void first(int sig, siginfo_t *info, void *context)
{
	sigset_t now;

	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("mask in handler %llx\n", (unsigned long long)bits(&now));
	raise(SIGUSR1);
	order[order_n++] = sig;
}

static void second(int sig)
{
	order[order_n++] = sig + 100 * depth;
}

static void handler_mask(void)
{
	struct sigaction a;
	sigset_t now;

	signal(SIGUSR1, second);
	memset(&a, 0, sizeof(a));
	a.sa_sigaction = first;
	a.sa_flags = SA_SIGINFO;
	a.sa_mask = only(SIGUSR1);
	sigaction(SIGTRAP, &a, NULL);
	raise(SIGTRAP);
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("order %d %d mask %llx\n", order[0], order[1],
	       (unsigned long long)bits(&now));
	/* The other way round, SIGTRAP waits until SIGUSR1's handler returns.
	 */
	order_n = 0;
	a.sa_mask = only(SIGTRAP);
	signal(SIGTRAP, second);
	memset(&a, 0, sizeof(a));
	a.sa_sigaction = nest;
	a.sa_flags = SA_SIGINFO;
	a.sa_mask = only(SIGTRAP);
	sigaction(SIGUSR1, &a, NULL);
	sigaction(SIGUSR1, NULL, &a);
	printf("mask kept %llx\n", (unsigned long long)bits(&a.sa_mask));
	handled = 2;
	raise(SIGUSR1);
	printf("handled %d after %d\n", handled, order[0]);
}

static void masks_inside(int sig)
{
	sigset_t all, old, now;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	sigprocmask(SIG_SETMASK, &all, NULL);
	raise(SIGTRAP);
	sigprocmask(SIG_SETMASK, &old, &now);
	printf("inside %d %d\n", sigismember(&old, SIGTRAP),
	       sigismember(&now, SIGTRAP));
}

/* A handler changes its mask, and restores it itself or by returning. */
static void handler_saves_mask(void)
{
	struct sigaction a;
	sigset_t now;

	set(SIGTRAP, on_trap, 0);
	memset(&a, 0, sizeof(a));
	a.sa_handler = masks_inside;
	for (int i = 0; i < 6; i++) {
		if (i % 2)
			sigfillset(&a.sa_mask);
		else
			sigemptyset(&a.sa_mask);
		sigaction(SIGUSR1, &a, NULL);
		raise(SIGUSR1);
		sigprocmask(SIG_BLOCK, NULL, &now);
		printf("after %d handled %d\n", sigismember(&now, SIGTRAP),
		       handled);
		raise(SIGTRAP);
		printf("handled %d\n", handled);
	}
}

static void *alternate;

static void where(int sig, siginfo_t *info, void *context)
{
	char here;

	printf("signal %d on the alternate stack %d\n", sig,
	       &here > (char *)alternate && &here < (char *)alternate + 65536);
}

static void altstack(void)
{
	stack_t s = { .ss_size = 65536 }, old;
	struct sigaction a;

	alternate = s.ss_sp = malloc(s.ss_size);
	printf("%d\n", sigaltstack(NULL, &old));
	printf("flags %d size %zu\n", old.ss_flags, old.ss_size);
	printf("%d\n", sigaltstack(&s, NULL));
	sigaltstack(NULL, &old);
	printf("ours %d size %zu\n", old.ss_sp == alternate, old.ss_size);
	set(SIGTRAP, where, SA_ONSTACK);
	raise(SIGTRAP);
	burn(5);
	memset(&a, 0, sizeof(a));
	a.sa_sigaction = where;
	a.sa_flags = SA_SIGINFO;
	sigaction(SIGUSR1, &a, NULL);
	raise(SIGUSR1);
}

static void errno_after(int sig, siginfo_t *info, void *context)
{
	errno = 77;
}

static void keeps_errno(void)
{
	errno = 5;
	burn(10);
	printf("errno %d\n", errno);
	set(SIGTRAP, errno_after, 0);
	raise(SIGTRAP);
	printf("errno %d\n", errno);
}

static void change_context(int sig, siginfo_t *info, void *context)
{
	ucontext_t *uc = context;

	sigaddset(&uc->uc_sigmask, SIGUSR2);
	uc->uc_mcontext.gregs[REG_RAX] = 4711;
}

static void context_is_the_real_one(void)
{
	long value = 0;
	sigset_t now;

	set(SIGTRAP, change_context, 0);
	__asm__ volatile("int3" : "+a"(value));
	sigprocmask(SIG_BLOCK, NULL, &now);
	printf("rax %ld mask %llx\n", value, (unsigned long long)bits(&now));
}

static const struct hook_case cases[] = {
	{ "int3_default", int3_default },
	{ "int3_ignored", int3_ignored },
	{ "int3_blocked", int3_blocked },
	{ "int3_handled", int3_handled },
	{ "single_step_handled", single_step_handled },
	{ "raise_default", raise_default },
	{ "raise_handled", raise_handled },
	{ "nested", nested },
	{ "handler_mask", handler_mask },
	{ "handler_saves_mask", handler_saves_mask },
	{ "altstack", altstack },
	{ "keeps_errno", keeps_errno },
	{ "context_is_the_real_one", context_is_the_real_one },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
