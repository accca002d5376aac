/* SPDX-License-Identifier: MIT */
/*
 * turns - two threads take turns on a thousand bytes
 *
 * The code that waits for turns has no hooks.
 */
#ifndef COMDET_TESTS_PROGRAMS_INSTR_TURNS_H
#define COMDET_TESTS_PROGRAMS_INSTR_TURNS_H

#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	BYTES = 1000
};

static volatile char data[BYTES] __attribute__((aligned(64)));
static uint32_t turn __attribute__((aligned(64))); /* a futex */

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

/* Returns the exit status of main. */
static int take_turns(void *(*first)(void *), void *(*second)(void *))
{
	pthread_t thread[2];

	if (pthread_create(&thread[0], NULL, first, NULL) ||
	    pthread_create(&thread[1], NULL, second, NULL))
		return 1;
	pthread_join(thread[0], NULL);
	pthread_join(thread[1], NULL);
	return 0;
}

#endif
