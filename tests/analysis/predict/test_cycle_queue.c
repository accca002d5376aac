/* SPDX-License-Identifier: MIT */
/*
 * test_cycle_queue - the answers are those of time_queue
 */
#include "analysis/model/time_queue.h"
#include "analysis/predict/cycle_queue.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	ASKED = 20000,
};

/* How far ahead entries leave: soon, at the edges of what has a bit, late. */
static const uint64_t ahead[] = {
	4, 40, CYCLE_QUEUE_NEAR - 2, CYCLE_QUEUE_NEAR + 2, 300000,
};

START_TEST(both_queues_give_the_same_times)
{
	static const uint32_t entries[] = { 1, 2, 7, 64, 144 };
	struct cycle_queue q;
	struct time_queue slow;
	uint64_t now = 0;
	struct rng rng;

	rng_seed(&rng, 1, (uint64_t)_i);
	cycle_queue_init(&q, entries[_i]);
	time_queue_init(&slow, entries[_i]);
	for (int i = 0; i < ASKED; i++) {
		uint64_t far = ahead[rng_below(&rng, i % 1000 < 900 ? 3 : 5)];
		uint64_t leaves;

		if (!rng_below(&rng, 2000)) {
			now += 1 << 16;
			cycle_queue_empty(&q, now);
			time_queue_empty(&slow);
		}
		now += rng_below(&rng, 50) ? rng_below(&rng, 3)
					   : rng_below(&rng, 2000);
		leaves = time_queue_enter(&slow, now);
		ck_assert_uint_eq(cycle_queue_enter(&q, now), leaves);
		now = leaves;
		leaves += 1 + rng_below(&rng, far);
		cycle_queue_push(&q, leaves);
		time_queue_push(&slow, leaves);
	}
	cycle_queue_release(&q);
	time_queue_release(&slow);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cycle_queue");
	TCase *t = tcase_create("cycle_queue");

	tcase_add_loop_test(t, both_queues_give_the_same_times, 0, 5);
	suite_add_tcase(s, t);
	return run_suite(s);
}
