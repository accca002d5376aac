/* SPDX-License-Identifier: MIT */
/*
 * nbody - forces between bodies of a box and of those beside it; barriers
 *
 * Each pair is computed twice, once for each body, with opposite forces. All
 * forces are whole numbers, so they add up to exactly 0.
 */
#include "work.h"

enum {
	BODIES = 16, /* in a box */
	STEPS = 4,
};

struct body {
	int32_t x, v;
	int64_t force;
};

static pthread_barrier_t barrier;
static struct body *body;
static long boxes;

static void prepare(void)
{
	boxes = size * 1000000 / (STEPS * 3 * BODIES * BODIES * 12);
	if (boxes < 3)
		boxes = 3;
	body = work_alloc((size_t)(boxes * BODIES), sizeof(*body));
	for (long i = 0; i < boxes * BODIES; i++)
		body[i].x = (int32_t)(work_hash((uint64_t)i) % 1000);
	pthread_barrier_init(&barrier, NULL, (unsigned int)threads);
}

/* What the bodies of box @other do to @b. */
static int64_t forces(const struct body *b, long other)
{
	const struct body *o = &body[(other + boxes) % boxes * BODIES];
	int64_t sum = 0;

	for (int i = 0; i < BODIES; i++) {
		int64_t d = o[i].x - b->x;

		sum += d * (d < 0 ? -d : d);
	}
	return sum;
}

static void work(int id)
{
	long from = work_part(boxes, id), to = work_part(boxes, id + 1);

	for (int step = 0; step < STEPS; step++) {
		for (long i = from * BODIES; i < to * BODIES; i++)
			for (long k = -1; k <= 1; k++)
				body[i].force +=
					forces(&body[i], i / BODIES + k);
		pthread_barrier_wait(&barrier);
		for (long i = from * BODIES; i < to * BODIES; i++) {
			body[i].v += body[i].force > 0 ? 1 : -1;
			body[i].x += body[i].v;
		}
		pthread_barrier_wait(&barrier);
	}
}

static bool check(void)
{
	int64_t sum = 0;

	for (long i = 0; i < boxes * BODIES; i++)
		sum += body[i].force;
	return sum == 0 && body[0].force;
}
