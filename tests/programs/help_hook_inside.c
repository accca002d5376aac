/* SPDX-License-Identifier: MIT */
/*
 * help_hook_inside - a handler of SIGTRAP waits, starts processes, or dies
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <sys/wait.h>
#include <time.h>

#include "tests/programs/hooks/inside.h"

static void int3_inside(int sig, siginfo_t *info, void *context)
{
	burn(2);
	printf("inside\n");
	fflush(stdout);
	__asm__ volatile("int3");
	printf("not reached\n");
}

static void dies_of_int3(void)
{
	set(SIGTRAP, int3_inside, 0);
	raise(SIGTRAP);
}

static void raise_twice(int sig, siginfo_t *info, void *context)
{
	burn(SAMPLED_MS);
	raise(SIGTRAP);
	printf("alive\n");
	fflush(stdout);
}

static void dies_of_the_second(void)
{
	set(SIGTRAP, raise_twice, (int)SA_RESETHAND);
	raise(SIGTRAP);
	printf("not reached\n");
}

static void wait_inside(int sig, siginfo_t *info, void *context)
{
	sigset_t none = only(0), trap = only(SIGTRAP);
	struct timespec now = { 0, 0 };
	int got = 0;

	enter();
	if (handled % 2) {
		burn(SAMPLED_MS);
		show("inside");
		raise(SIGTRAP);
		printf("sigwait %d", sigwait(&trap, &got));
		printf(" %d\n", got);
		burn(2);
		printf("none %d\n", sigtimedwait(&trap, NULL, &now));
		raise(SIGTRAP);
		show("raised");
		printf("sigsuspend %d", sigsuspend(&none));
		printf(" %d\n", errno);
		show("waited");
	}
	depth--;
}

static void waits_inside(void)
{
	set(SIGTRAP, wait_inside, 0);
	for (int i = 0; i < 4; i++) {
		raise(SIGTRAP);
		show("after");
	}
}

/* An alternate stack with @bytes beside a signal frame. */
static void alternate_stack(size_t bytes)
{
	stack_t s = { .ss_size = sysconf(_SC_MINSIGSTKSZ) + bytes };

	s.ss_sp = malloc(s.ss_size);
	sigaltstack(&s, NULL);
}

/* The call ends with the first signal. The one it raised stays pending. */
static void raises_in_a_wait(void)
{
	sigset_t none = only(0);

	for (int nested = 0; nested < 2; nested++) {
		handled = deepest = 0;
		set(SIGTRAP, raise_once, nested ? SA_NODEFER : 0);
		mask(SIG_BLOCK, SIGTRAP);
		burn(2);
		raise(SIGTRAP);
		printf("sigsuspend %d", sigsuspend(&none));
		printf(" %d\n", errno);
		show("waited");
		mask(SIG_UNBLOCK, SIGTRAP);
		show("unblocked");
	}
}

static void raise_at_once(int sig, siginfo_t *info, void *context)
{
	enter();
	if (handled % 2)
		raise(SIGTRAP);
	depth--;
}

/* The kernel blocks the signal here, and a sample may take the raised one. */
static void waits_on_a_stack(void)
{
	sigset_t none = only(0);

	alternate_stack(12 * 1024 + 2 * sysconf(_SC_MINSIGSTKSZ));
	for (int nested = 0; nested < 2; nested++) {
		handled = deepest = 0;
		set(SIGTRAP, raise_at_once,
		    SA_ONSTACK | (nested ? SA_NODEFER : 0));
		mask(SIG_BLOCK, SIGTRAP);
		raise(SIGTRAP);
		printf("sigsuspend %d", sigsuspend(&none));
		printf(" %d: handled %d deepest %d blocked %d\n", errno,
		       handled, deepest, blocked());
		mask(SIG_UNBLOCK, SIGTRAP);
		printf("unblocked: deepest %d blocked %d\n", deepest,
		       blocked());
	}
}

static void fill_stack(int sig, siginfo_t *info, void *context)
{
	volatile char room[26 * 1024];

	room[0] = sig;
	burn(2 * SAMPLED_MS);
	handled += room[0] == sig;
}

/* The handler needs nearly all of its alternate stack. */
static void fills_its_stack(void)
{
	burn(2);
	alternate_stack(28 * 1024);
	set(SIGTRAP, fill_stack, SA_ONSTACK);
	raise(SIGTRAP);
	show("after");
}

static void fork_inside(int sig, siginfo_t *info, void *context)
{
	pid_t pid;
	int status;

	enter();
	if (handled == 1) {
		burn(SAMPLED_MS);
		raise(SIGTRAP);
		fflush(stdout);
		pid = fork();
		if (pid) {
			waitpid(pid, &status, 0);
			printf("child %x\n", status);
		}
		show("after fork");
	}
	depth--;
}

/* The child also returns from the handler, without the pending signal. */
static void forks_inside(void)
{
	pid_t pid = getpid();

	set(SIGTRAP, fork_inside, 0);
	raise(SIGTRAP);
	show("after");
	raise(SIGTRAP);
	show("raised");
	if (getpid() != pid) {
		fflush(stdout);
		_exit(3);
	}
}

static void exec_inside(int sig, siginfo_t *info, void *context)
{
	burn(2);
	raise(SIGTRAP);
	fflush(stdout);
	execl("/proc/self/exe", "help_hook_inside", "inherits", NULL);
}

static void execs_inside(void)
{
	set(SIGTRAP, exec_inside, 0);
	raise(SIGTRAP);
}

static void inherits(void)
{
	set(SIGTRAP, count, 0);
	show("program");
	mask(SIG_UNBLOCK, SIGTRAP);
	show("unblocked");
}

static const struct hook_case cases[] = {
	{ "dies_of_int3", dies_of_int3 },
	{ "dies_of_the_second", dies_of_the_second },
	{ "waits_inside", waits_inside },
	{ "raises_in_a_wait", raises_in_a_wait },
	{ "waits_on_a_stack", waits_on_a_stack },
	{ "fills_its_stack", fills_its_stack },
	{ "forks_inside", forks_inside },
	{ "execs_inside", execs_inside },
	{ "inherits", inherits },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
