/* SPDX-License-Identifier: MIT */
/*
 * pipeline - each thread is a stage; condition variables between them
 *
 * Every stage adds one to the numbers that pass it, and works for a while.
 */
#include "work.h"

enum {
	ROOM = 8,
	WORK = 300,
};

/* What is on its way to a stage. */
static struct queue {
	pthread_mutex_t lock;
	pthread_cond_t filled, emptied;
	int64_t item[ROOM];
	long put, taken;
} queue[WORK_THREADS_MAX + 1];

static long items;
static int64_t result;

static void prepare(void)
{
	items = size * 1000000 / (threads * WORK * 14);
	for (int i = 0; i <= threads; i++) {
		pthread_mutex_init(&queue[i].lock, NULL);
		pthread_cond_init(&queue[i].filled, NULL);
		pthread_cond_init(&queue[i].emptied, NULL);
	}
}

static void put(struct queue *q, int64_t item)
{
	pthread_mutex_lock(&q->lock);
	while (q->put - q->taken == ROOM)
		pthread_cond_wait(&q->emptied, &q->lock);
	q->item[q->put++ % ROOM] = item;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

static int64_t take(struct queue *q)
{
	int64_t item;

	pthread_mutex_lock(&q->lock);
	while (q->put == q->taken)
		pthread_cond_wait(&q->filled, &q->lock);
	item = q->item[q->taken++ % ROOM];
	pthread_cond_signal(&q->emptied);
	pthread_mutex_unlock(&q->lock);
	return item;
}

/* Returns 1, after a while. */
static int64_t stage(int64_t item)
{
	uint64_t x = (uint64_t)item;

	for (int i = 0; i < WORK; i++)
		x = work_hash(x);
	__asm__ volatile("" ::"r"(x)); /* somebody needs it */
	return 1;
}

static void work(int id)
{
	for (long i = 0; i < items; i++) {
		int64_t item = id ? take(&queue[id]) : i;

		item += stage(item);
		if (id + 1 < threads)
			put(&queue[id + 1], item);
		else
			result += item;
	}
}

static bool check(void)
{
	return result == items * (items - 1) / 2 + items * threads;
}
