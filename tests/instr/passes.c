/* SPDX-License-Identifier: MIT */
/*
 * passes - two threads take turns at a thousand bytes
 *
 *	passes ROUNDS [LOADS]
 *
 * In each round the first thread stores to all of them, then the second loads
 * all of them. So each access is followed by the other thread's a thousand
 * accesses of both later; what the first stores it stores to again after a
 * thousand of its own, and what the second has loaded is invalidated. What the
 * threads do to wait for each other has no hooks.
 *
 * With LOADS the second thread loads all of them so often in each round.
 */
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	BYTES = 1000
};

static volatile char data[BYTES] __attribute__((aligned(64)));
static uint32_t turn __attribute__((aligned(64))); /* a futex */
static long rounds, loads = 1;

#define WITHOUT_HOOKS __attribute__((noinline, no_sanitize("thread")))

WITHOUT_HOOKS static void wait_for(uint32_t mine)
{
	uint32_t now;

	while ((now = *(volatile uint32_t *)&turn) != mine)
		syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, now, NULL);
}

WITHOUT_HOOKS static void pass(uint32_t mine)
{
	*(volatile uint32_t *)&turn = mine + 1;
	syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 2);
}

static void *first(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i);
		for (int k = 0; k < BYTES; k++)
			data[k] = 1;
		pass(2 * i);
	}
	return NULL;
}

static void *second(void *arg)
{
	for (long i = 0; i < rounds; i++) {
		wait_for(2 * i + 1);
		for (long k = 0; k < loads * BYTES; k++)
			(void)data[k % BYTES];
		pass(2 * i + 1);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	rounds = argc > 1 ? atol(argv[1]) : 1000;
	loads = argc > 2 ? atol(argv[2]) : 1;
	if (pthread_create(&thread[0], NULL, first, NULL) ||
	    pthread_create(&thread[1], NULL, second, NULL))
		return 1;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}
