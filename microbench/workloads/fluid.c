/* SPDX-License-Identifier: MIT */
/*
 * fluid - particles give each other momentum through cells; a lock for each
 * cell
 *
 * Neighbouring threads share the cells at their borders. No momentum is lost.
 */
#include "work.h"

enum {
	CELLS = 1024,
	GIVEN = 3, /* cells to which a particle gives at once */
};

struct cell {
	pthread_mutex_t lock;
	int64_t momentum;
	long gifts;
};

static struct cell cell[CELLS];
static long gifts;

static void prepare(void)
{
	gifts = size * 1000000 / (threads * GIVEN * 30);
	for (int i = 0; i < CELLS; i++)
		pthread_mutex_init(&cell[i].lock, NULL);
}

static void give(long to, int64_t momentum)
{
	struct cell *c = &cell[(to + CELLS) % CELLS];

	pthread_mutex_lock(&c->lock);
	c->momentum += momentum;
	c->gifts++;
	pthread_mutex_unlock(&c->lock);
}

static void work(int id)
{
	long from = work_part(CELLS, id), to = work_part(CELLS, id + 1);

	for (long i = 0; i < gifts; i++) {
		long c = from +
			 (long)(work_hash((uint64_t)i) % (uint64_t)(to - from));

		give(c, 2 * i);
		give(c - 1, -i);
		give(c + 1, -i);
	}
}

static bool check(void)
{
	int64_t momentum = 0;
	long n = 0;

	for (int i = 0; i < CELLS; i++) {
		momentum += cell[i].momentum;
		n += cell[i].gifts;
	}
	return momentum == 0 && n == gifts * threads * GIVEN;
}
