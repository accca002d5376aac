/* SPDX-License-Identifier: MIT */
/*
 * table - many look-ups and few changes of a table behind a lock of readers and
 * writers
 *
 * A writer adds one to every entry, so a reader finds all of them equal.
 */
#include "work.h"

enum {
	ENTRIES = 64,
	READS = 50, /* to a write */
};

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t entry[ENTRIES];
static long turns, unequal[WORK_THREADS_MAX];

static void prepare(void)
{
	turns = size * 1000000 / (threads * ENTRIES * 8);
}

static void add(void)
{
	pthread_rwlock_wrlock(&lock);
	for (int i = 0; i < ENTRIES; i++)
		entry[i]++;
	pthread_rwlock_unlock(&lock);
}

static long read_all(void)
{
	long different = 0;

	pthread_rwlock_rdlock(&lock);
	for (int i = 1; i < ENTRIES; i++) {
		__asm__ volatile("" ::: "memory");
		different += entry[i] != entry[0];
	}
	pthread_rwlock_unlock(&lock);
	return different;
}

static void work(int id)
{
	for (long i = 0; i < turns; i++) {
		if (i % READS == READS - 1)
			add();
		else
			unequal[id] += read_all();
	}
}

static bool check(void)
{
	for (int id = 0; id < threads; id++)
		if (unequal[id])
			return false;
	return entry[0] == (uint64_t)(turns / READS * threads) &&
	       entry[ENTRIES - 1] == entry[0];
}
