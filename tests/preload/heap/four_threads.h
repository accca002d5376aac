/* SPDX-License-Identifier: MIT */
/*
 * four_threads - run a function in four threads at once
 */
#ifndef COMDET_TESTS_PRELOAD_HEAP_FOUR_THREADS_H
#define COMDET_TESTS_PRELOAD_HEAP_FOUR_THREADS_H

#include <check.h>
#include <pthread.h>
#include <stdint.h>

/* @function gets the thread's number, from 1 on. */
static void in_four_threads(void *(*function)(void *))
{
	pthread_t thread[4];

	for (uintptr_t i = 0; i < 4; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, function,
						(void *)(i + 1)),
				 0);
	for (int i = 0; i < 4; i++)
		pthread_join(thread[i], NULL);
}

#endif
