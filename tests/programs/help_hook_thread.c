/* SPDX-License-Identifier: MIT */
/*
 * help_hook_thread - every way in which a thread begins and ends
 *
 * The argument names the case. Its output must not depend on the preload.
 * e2e/check_hooks.sh also compares how many threads the hooks saw begin and
 * end.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <threads.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"

static _Atomic int count;

static void *give_back(void *arg)
{
	burn(2);
	return arg;
}

static void *exit_with(void *arg)
{
	burn(2);
	pthread_exit(arg);
}

static void cleaned(void *arg)
{
	count++;
}

static void *until_cancelled(void *arg)
{
	pthread_cleanup_push(cleaned, NULL);
	sem_post(arg);
	for (;;)
		pause();
	pthread_cleanup_pop(1);
	return NULL;
}

static void *burn_until_cancelled(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	pthread_cleanup_push(cleaned, NULL);
	sem_post(arg);
	for (;;)
		burn(1);
	pthread_cleanup_pop(1);
	return NULL;
}

static void join(const char *how, pthread_t t)
{
	void *value = NULL;
	int r = pthread_join(t, &value);

	printf("%s: join %d value %ld\n", how, r, (long)(intptr_t)value);
}

static void values(void)
{
	pthread_t t;
	sem_t ready;

	sem_init(&ready, 0, 0);
	errno = 77;
	printf("create %d ", pthread_create(&t, NULL, give_back, (void *)4711));
	printf("errno %d\n", errno);
	join("return", t);
	pthread_create(&t, NULL, exit_with, (void *)4712);
	join("pthread_exit", t);
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, NULL,
			       i % 2 ? until_cancelled : burn_until_cancelled,
			       &ready);
		sem_wait(&ready);
		printf("cancel %d\n", pthread_cancel(t));
		join("cancelled", t);
	}
	printf("cleaned %d\n", count);
}

static void *add_one(void *arg)
{
	count++;
	return NULL;
}

static void short_threads(void)
{
	pthread_t t[50];

	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 50; i++)
			if (pthread_create(&t[i], NULL, add_one, NULL))
				printf("failed\n");
		for (int i = 0; i < 50; i++)
			pthread_join(t[i], NULL);
	}
	printf("threads %d\n", count);
}

static void detached_threads(void)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
	for (int i = 0; i < 500; i++)
		if (pthread_create(&t, &a, add_one, NULL))
			printf("failed\n");
	while (count < 500)
		usleep(1000);
	printf("threads %d\n", count);
}

static sem_t go;

static void *wait_to_go(void *arg)
{
	sem_wait(&go);
	count++;
	return NULL;
}

static void many_live_threads(void)
{
	static pthread_t t[700];
	pthread_attr_t a;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, 64 * 1024);
	sem_init(&go, 0, 0);
	for (int i = 0; i < 700; i++)
		if (pthread_create(&t[i], &a, wait_to_go, NULL))
			printf("failed %d\n", i);
	for (int i = 0; i < 700; i++)
		sem_post(&go);
	for (int i = 0; i < 700; i++)
		pthread_join(t[i], NULL);
	printf("threads %d\n", count);
}

/* 12 KiB of its stack are the application's, in every thread. */
static void *use_stack(void *arg)
{
	volatile char big[8 * 1024];
	stack_t s;

	if (sigaltstack(NULL, &s) || s.ss_flags != SS_DISABLE || s.ss_sp)
		printf("an alternate stack\n");
	for (size_t i = 0; i < sizeof(big); i++)
		big[i] = (char)i;
	burn(10);
	for (size_t i = 0; i < sizeof(big); i++)
		if (big[i] != (char)i)
			printf("overwritten\n");
	return arg;
}

/*
 * The first call of a function of a library takes 3 KiB more, to find it. With a
 * signal's frame on top, which is as large where vectors are wide, that is more
 * than is left: so main makes the first calls.
 */
static void smallest_stacks(void)
{
	long least = sysconf(_SC_THREAD_STACK_MIN);
	pthread_attr_t a;
	pthread_t t[4];

	use_stack(NULL);
	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, least);
	for (int i = 0; i < 4; i++)
		printf("create %d\n",
		       pthread_create(&t[i], &a, use_stack, (void *)1));
	for (int i = 0; i < 4; i++)
		join("small", t[i]);
}

enum {
	MARKED = 64 * 1024,
	MARK = 0x5a,
	NEAR = 1024, /* below this function's frame: burn's, memset's */
	OURS = 256,  /* what a handler may take, with the red zone */
};

/* How many bytes below its frame signals have written to in 300 ms. */
static void *how_deep(void *stack)
{
	char *top = __builtin_frame_address(0), *at = stack;

	memset(at, MARK, (size_t)(top - NEAR - at));
	burn(300);
	while (at < top && *at == MARK)
		at++;
	return (void *)(uintptr_t)(top - at);
}

/* Linux 5.14 and later say how large a signal's frame is, at most. */
static void depth_of_signals(void)
{
	char *stack = mmap(NULL, MARKED, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t frame = getauxval(AT_MINSIGSTKSZ), deep;
	pthread_attr_t a;
	pthread_t t;
	void *value;

	pthread_attr_init(&a);
	pthread_attr_setstack(&a, stack, MARKED);
	pthread_create(&t, &a, how_deep, stack);
	pthread_join(t, &value);
	deep = (size_t)value;
	if (!frame || deep <= frame + OURS)
		printf("at most a signal's frame and %d bytes\n", OURS);
	else
		printf("%zu bytes, the frame is %zu\n", deep, frame);
	munmap(stack, MARKED);
}

static void own_stack(void)
{
	size_t size = 256 * 1024;
	char *stack = mmap(NULL, size, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstack(&a, stack, size);
	pthread_create(&t, &a, use_stack, (void *)2);
	join("own stack", t);
	munmap(stack, size);
}

static int c11_value(void *arg)
{
	burn(2);
	return (int)(intptr_t)arg;
}

static int c11_exit(void *arg)
{
	thrd_exit(-5);
}

static void c11(void)
{
	thrd_t t;
	int value;

	printf("%d ", thrd_create(&t, c11_value, (void *)42) == thrd_success);
	thrd_join(t, &value);
	printf("value %d\n", value);
	printf("%d ", thrd_create(&t, c11_value, (void *)-1) == thrd_success);
	thrd_join(t, &value);
	printf("value %d\n", value);
	printf("%d ", thrd_create(&t, c11_exit, NULL) == thrd_success);
	thrd_join(t, &value);
	printf("value %d\n", value);
}

/* There is no room for a stack: the error is the same, and nothing leaks. */
static void failing(void)
{
	pthread_attr_t a;
	pthread_t t;

	pthread_attr_init(&a);
	pthread_attr_setstacksize(&a, (size_t)1 << 46);
	for (int i = 0; i < 600; i++) {
		int r = pthread_create(&t, &a, add_one, NULL);

		if (r != EAGAIN)
			printf("create %d\n", r);
	}
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, NULL, add_one, NULL);
		pthread_join(t, NULL);
	}
	printf("threads %d\n", count);
}

static pthread_key_t keys[3];
static int rounds;

static void again(void *value)
{
	intptr_t left = (intptr_t)value;

	rounds++;
	burn(1);
	if (left > 1)
		pthread_setspecific(keys[0], (void *)(left - 1));
}

static void *with_keys(void *arg)
{
	pthread_setspecific(keys[0], arg);
	return NULL;
}

static void key_destructors(void)
{
	pthread_t t;

	for (int i = 0; i < 3; i++)
		printf("key %d\n", pthread_key_create(&keys[i], again));
	for (intptr_t i = 1; i < 7; i++) {
		rounds = 0;
		pthread_create(&t, NULL, with_keys, (void *)i);
		pthread_join(t, NULL);
		printf("rounds %d\n", rounds);
	}
}

static pthread_t main_thread;

static void *after_main(void *arg)
{
	pthread_join(main_thread, NULL);
	burn(5);
	printf("main has ended\n");
	exit(21);
}

static void main_exits_first(void)
{
	pthread_t t;

	main_thread = pthread_self();
	pthread_create(&t, NULL, after_main, NULL);
	burn(5);
	pthread_exit(NULL);
}

static void *exit_all(void *arg)
{
	burn(5);
	exit(22);
}

static void thread_exits_process(void)
{
	pthread_t t;

	pthread_create(&t, NULL, exit_all, NULL);
	for (;;)
		burn(1);
}

static void *fork_often(void *arg)
{
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			burn(1);
			_exit(0);
		}
		if (pid < 0)
			printf("fork failed\n");
		burn(1);
	}
	return NULL;
}

static void *create_often(void *arg)
{
	pthread_t t;

	for (int i = 0; i < 100; i++) {
		pthread_create(&t, NULL, add_one, NULL);
		pthread_join(t, NULL);
	}
	return NULL;
}

/* Forks and thread creations at the same time. */
static void forks_among_threads(void)
{
	pthread_t t[4];

	signal(SIGCHLD, SIG_IGN);
	for (int i = 0; i < 4; i++)
		pthread_create(&t[i], NULL, i % 2 ? fork_often : create_often,
			       NULL);
	for (int i = 0; i < 4; i++)
		pthread_join(t[i], NULL);
	printf("threads %d\n", count);
}

static const struct hook_case cases[] = {
	{ "values", values },
	{ "short_threads", short_threads },
	{ "detached_threads", detached_threads },
	{ "many_live_threads", many_live_threads },
	{ "smallest_stacks", smallest_stacks },
	{ "depth_of_signals", depth_of_signals },
	{ "own_stack", own_stack },
	{ "c11", c11 },
	{ "failing", failing },
	{ "key_destructors", key_destructors },
	{ "main_exits_first", main_exits_first },
	{ "thread_exits_process", thread_exits_process },
	{ "forks_among_threads", forks_among_threads },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
