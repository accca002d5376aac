/* SPDX-License-Identifier: MIT */
/*
 * tasks - a queue of tasks of different lengths, behind a lock
 *
 * A task counts the primes among 100 numbers by division.
 */
#include "work.h"

enum {
	NUMBERS = 100, /* of a task */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long next_task, tasks;
static long primes;

static void prepare(void)
{
	long n = 0, cost = 0;

	/* a division takes 14 instructions, with what is around it */
	for (; cost < size * 1000000 / 14; n += NUMBERS)
		for (long root = 2; root * root <= n; root++)
			cost += NUMBERS / 8;
	tasks = n / NUMBERS;
}

static bool is_prime(uint32_t n)
{
	if (n < 2)
		return false;
	for (uint32_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return true;
}

static long take(void)
{
	long task;

	pthread_mutex_lock(&lock);
	task = next_task++;
	pthread_mutex_unlock(&lock);
	return task;
}

static void work(int id)
{
	long task, own = 0;

	while ((task = take()) < tasks)
		for (int i = 0; i < NUMBERS; i++)
			own += is_prime((uint32_t)(task * NUMBERS + i));
	pthread_mutex_lock(&lock);
	primes += own;
	pthread_mutex_unlock(&lock);
}

/* Eratosthenes' sieve. */
static bool check(void)
{
	long n = tasks * NUMBERS, found = 0;
	bool *composite = work_alloc((size_t)n + 1, sizeof(bool));

	for (long i = 2; i < n; i++) {
		if (composite[i])
			continue;
		found++;
		for (long k = i * i; k < n; k += i)
			composite[k] = true;
	}
	free(composite);
	return found == primes;
}
