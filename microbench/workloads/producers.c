/* SPDX-License-Identifier: MIT */
/*
 * producers - one half of the threads makes what the other half uses;
 * semaphores and a lock
 */
#include <semaphore.h>

#include "work.h"

enum {
	ROOM = 16,
	WORK = 200,
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static sem_t filled, emptied;
static uint64_t ring[ROOM], got[WORK_THREADS_MAX];
static long put, taken, items; /* items: of each producer */

static void prepare(void)
{
	if (threads % 2)
		threads++;
	items = size * 1000000 / (threads / 2 * WORK * 44);
	sem_init(&filled, 0, 0);
	sem_init(&emptied, 0, ROOM);
}

static uint64_t toil(uint64_t x)
{
	for (int i = 0; i < WORK; i++)
		x = work_hash(x + 1);
	return x;
}

static uint64_t made(int id, long i)
{
	return toil((uint64_t)(id * items + i));
}

static void work(int id)
{
	for (long i = 0; i < items; i++) {
		uint64_t item = id % 2 ? 0 : made(id, i);

		sem_wait(id % 2 ? &filled : &emptied);
		pthread_mutex_lock(&lock);
		if (id % 2)
			item = ring[taken++ % ROOM];
		else
			ring[put++ % ROOM] = item;
		pthread_mutex_unlock(&lock);
		sem_post(id % 2 ? &emptied : &filled);
		if (id % 2)
			got[id] += item + !toil(item);
	}
}

static bool check(void)
{
	uint64_t sum = 0, want = 0;

	for (int id = 0; id < threads; id += 2)
		for (long i = 0; i < items; i++)
			want += made(id, i);
	for (int id = 0; id < threads; id++)
		sum += got[id];
	return sum == want;
}
