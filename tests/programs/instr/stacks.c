/* SPDX-License-Identifier: MIT */
/*
 * stacks - uses and reuses on several stacks, in threads that end anywhere
 *
 *	stacks KIND ROUNDS
 *
 * coroutine  own and other load each byte in turns, other on a stack of its own
 * neighbours the same, and another, whose stacks lie one beside the other
 * handler    on_signal, on an alternate stack, loads what own has loaded
 * exits      threads that end in the middle of deeper
 * forks      a child does the same as its parent
 * switched   a child that a coroutine of a thread forked goes on on the
 *            thread's own stack, in functions with and without hooks
 * choices    loads after choices that lead to 65,536 different paths
 */
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

enum {
	BYTES = 1000,
	STACK_BYTES = 1 << 16,
};

/* Keep the function as it is written. */
#ifdef __clang__
#define APART __attribute__((noinline, disable_tail_calls))
#else
#define APART __attribute__((noipa))
#endif

static volatile char data[BYTES];
static char room[2 * STACK_BYTES] __attribute__((aligned(64)));
static ucontext_t home, contexts[2];
static volatile int at, sum;
static pid_t child;
static uint32_t state = 1;

APART static int touch(volatile char *p, int k)
{
	return p[k];
}

/* Each coroutine switches to the next one, the last one back home. */
APART static void another(void)
{
	for (;;) {
		sum += touch(data, at);
		swapcontext(&contexts[1], &home);
	}
}

APART static void other(void)
{
	for (;;) {
		sum += touch(data, at);
		swapcontext(&contexts[0],
			    contexts[1].uc_link ? &contexts[1] : &home);
	}
}

APART static void start_other(void)
{
	other();
	sum++;
}

APART static void start_another(void)
{
	another();
	sum++;
}

APART static void own(void)
{
	for (at = 0; at < BYTES; at++) {
		sum += touch(data, at);
		swapcontext(&home, &contexts[0]);
	}
}

static void make(ucontext_t *c, char *stack, void (*start)(void))
{
	getcontext(c);
	c->uc_stack.ss_sp = stack;
	c->uc_stack.ss_size = STACK_BYTES;
	c->uc_link = &home;
	makecontext(c, start, 0);
}

APART static void coroutine(long rounds)
{
	make(&contexts[0], room, start_other);
	while (rounds--)
		own();
}

/* The first one's stack is above the others. */
APART static void neighbours(long rounds)
{
	make(&contexts[0], room + STACK_BYTES, start_other);
	make(&contexts[1], room, start_another);
	while (rounds--)
		own();
}

APART static void on_signal(int sig)
{
	sum += touch(data, at);
}

APART static void own_with_signals(void)
{
	for (at = 0; at < BYTES; at++) {
		sum += touch(data, at);
		raise(SIGUSR1);
	}
}

APART static void handler(long rounds)
{
	stack_t alternate = { .ss_sp = room, .ss_size = sizeof(room) };
	struct sigaction action = { .sa_handler = on_signal,
				    .sa_flags = SA_ONSTACK };

	if (sigaltstack(&alternate, NULL) || sigaction(SIGUSR1, &action, NULL))
		exit(1);
	while (rounds--)
		own_with_signals();
}

APART static void deeper(volatile char *p)
{
	for (int k = 0; k < 5 * BYTES; k++)
		sum += touch(p, k % BYTES);
	pthread_exit(NULL);
}

APART static int deep(volatile char *p)
{
	deeper(p);
	return 1;
}

static void *work(void *arg)
{
	sum += touch(data, 0);
	sum += deep(data);
	return NULL;
}

APART static void exits(long rounds)
{
	pthread_t thread;

	while (rounds--) {
		if (pthread_create(&thread, NULL, work, NULL))
			exit(1);
		pthread_join(thread, NULL);
	}
}

APART static void each(void)
{
	for (int k = 0; k < BYTES; k++)
		sum += touch(data, k);
}

APART static void all(long rounds)
{
	while (rounds--)
		each();
	sum++;
}

APART static void forks(long rounds)
{
	int status;

	all(rounds);
	child = fork();
	all(rounds);
	if (!child)
		exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
}

/* Its frame is wider than arguments can be. */
__attribute__((no_sanitize("thread"))) APART static void gap(void (*f)(void))
{
	volatile char wide[BYTES];

	wide[0] = 1;
	f();
	wide[1] = wide[0];
}

APART static void across(long rounds)
{
	while (rounds--)
		gap(each);
	sum++;
}

APART static void fork_here(void)
{
	for (;;) {
		child = fork();
		swapcontext(&contexts[0], &home);
	}
}

static void *work_across(void *arg)
{
	int status;

	make(&contexts[0], room, fork_here);
	swapcontext(&home, &contexts[0]);
	across(*(long *)arg);
	if (!child)
		exit(0);
	if (child < 0 || waitpid(child, &status, 0) != child || status)
		exit(1);
	return NULL;
}

APART static void switched(long rounds)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, work_across, &rounds))
		exit(1);
	pthread_join(thread, NULL);
}

/* Two functions on each level; each calls one on the level below. */
#define LEVEL(name, below)                                                     \
	APART static void name##_zero(uint32_t way)                            \
	{                                                                      \
		(way & 1 ? below##_one : below##_zero)(way >> 1);              \
		sum++;                                                         \
	}                                                                      \
	APART static void name##_one(uint32_t way)                             \
	{                                                                      \
		(way & 1 ? below##_one : below##_zero)(way >> 1);              \
		sum++;                                                         \
	}

APART static void leaf_zero(uint32_t way)
{
	sum += touch(data, (int)(way % BYTES));
}

APART static void leaf_one(uint32_t way)
{
	sum += touch(data, (int)(way % BYTES));
}

LEVEL(p, leaf)
LEVEL(o, p)
LEVEL(n, o)
LEVEL(m, n)
LEVEL(l, m)
LEVEL(k, l)
LEVEL(j, k)
LEVEL(i, j)
LEVEL(h, i)
LEVEL(g, h)
LEVEL(f, g)
LEVEL(e, f)
LEVEL(d, e)
LEVEL(c, d)
LEVEL(b, c)

APART static void choices(long rounds)
{
	while (rounds--)
		for (int i = 0; i < BYTES; i++) {
			state = state * 1664525 + 1013904223;
			(state >> 31 ? b_one : b_zero)(state >> 8);
		}
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(long rounds);
	} kinds[] = {
		{ "coroutine", coroutine }, { "neighbours", neighbours },
		{ "handler", handler },     { "exits", exits },
		{ "forks", forks },         { "choices", choices },
		{ "switched", switched },
	};
	long rounds = argc == 3 ? atol(argv[2]) : 0;

	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		if (rounds <= 0 || strcmp(argv[1], kinds[k].name))
			continue;
		kinds[k].run(rounds);
		printf("%d\n", sum);
		return 0;
	}
	fprintf(stderr, "usage: stacks KIND ROUNDS\n");
	return 2;
}
