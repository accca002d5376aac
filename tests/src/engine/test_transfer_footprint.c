/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_footprint - which chunks are watched, and how they are weighed
 */
#include <stdlib.h>

#include "transfer_hand.h"
#include "tests/run_suite.h"

enum {
	CHUNK = 8,
	REGISTERS = 4,
	ENOUGH = 16 /* samples after which a line is known */
};

static struct hand *start_chunks(uint64_t seed)
{
	struct transfer_config c = config(TRANSFER_EPOCH);

	c.chunk_bytes = CHUNK;
	c.ranges = REGISTERS;
	return start(c, seed);
}

/* The watched chunks of line @line, a bit each. */
static uint32_t watched(const struct hand *h, uint32_t line)
{
	uint32_t set = 0;

	ck_assert(h->live[0]);
	ck_assert_uint_eq(h->armed[0].line, BASE + line * LINE);
	for (uint32_t i = 0; i < h->armed[0].n; i++) {
		ck_assert_uint_eq(h->armed[0].range[i].len, CHUNK);
		set |= 1u << (h->armed[0].range[i].addr - BASE) % LINE / CHUNK;
	}
	return set;
}

/* Thread 1 loads every chunk of @used, ENOUGH times in all and more. */
static void learn(struct hand *h, uint32_t line, uint32_t used)
{
	for (int i = 0; i < ENOUGH; i++)
		for (uint32_t n = 0; n < 8; n++)
			if (used >> n & 1)
				sample(h, 1, word(line, n, ACCESS_LOAD), 0);
}

/* The accesses of thread 1 to @n and of thread 2 that ends it are trapped. */
static void touch(struct hand *h, uint32_t line, uint32_t n)
{
	struct access a = word(line, n, ACCESS_LOAD);

	for (uint32_t i = 0; i < h->armed[0].n; i++)
		if (h->armed[0].range[i].addr == a.addr)
			transfer_trap(h->transfer, &h->thread[1], 0,
				      h->armed[0].generation, i, &a, 1, 0);
	transfer_finish(h->transfer, &h->thread[0]);
}

START_TEST(chunks_in_use_are_watched_before_others)
{
	for (int seed = 0; seed < 50; seed++) {
		struct hand *h = start_chunks(seed);

		learn(h, 0, 1 << 5 | 1 << 7);
		sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		ck_assert_uint_eq(watched(h, 0) & (1 << 2 | 1 << 5 | 1 << 7),
				  1 << 2 | 1 << 5 | 1 << 7);
		ck_assert_uint_eq(h->armed[0].n, REGISTERS);
		touch(h, 0, 5);
		ck_assert_uint_eq(h->chain.n, 1);
		ck_assert_double_eq(h->event[0].weight, PERIOD);
		ck_assert(!h->chain.model_corrected);
	}
}
END_TEST

START_TEST(neighbours_stand_in_for_a_line_of_few_samples)
{
	for (int seed = 0; seed < 50; seed++) {
		struct hand *h = start_chunks(seed);

		learn(h, 3, 1 << 0 | 1 << 6 | 1 << 7);
		sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		ck_assert_uint_eq(watched(h, 0),
				  1 << 0 | 1 << 2 | 1 << 6 | 1 << 7);
		/* Line 16 is of another neighbourhood. */
		h = start_chunks(seed);
		learn(h, 16, 1 << 0 | 1 << 6 | 1 << 7);
		sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		touch(h, 0, 2);
		ck_assert(h->chain.model_corrected);
	}
}
END_TEST

/*
 * All eight in use, thread 0 stores to one of them: of the others' seven,
 * three are watched, or 3/4 of what is watched against 7/8 of what is used.
 */
START_TEST(false_sharing_beside_the_watched_chunks_is_made_up_for)
{
	for (int seed = 0; seed < 50; seed++) {
		struct hand *h = start_chunks(seed);
		uint32_t others;

		learn(h, 0, 0xff);
		for (int i = 0; i < 30; i++)
			sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		/* Now a slot that is free, and a thread that is known. */
		transfer_finish(h->transfer, &h->thread[0]);
		sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		others = watched(h, 0) & ~(1u << 2);
		ck_assert_int_eq(__builtin_popcount(others), 3);
		touch(h, 0, __builtin_ctz(others));
		ck_assert(h->chain.model_corrected);
		ck_assert_double_eq_tol(h->event[0].weight_false,
					PERIOD * (7 / 8.0) / (3 / 4.0), 1e-6);
	}
}
END_TEST

/* Thread 0 stores to all eight alike: half of the stores that end an epoch are
 * not seen. */
START_TEST(weights_shrink_by_the_stores_that_are_not_watched)
{
	for (int seed = 0; seed < 50; seed++) {
		struct hand *h = start_chunks(seed);

		for (int i = 0; i < 40; i++)
			sample(h, 0, word(0, i % 8, ACCESS_STORE), 0);
		/* Now a slot that is free, and a line that is known. */
		transfer_finish(h->transfer, &h->thread[0]);
		sample(h, 0, word(0, 2, ACCESS_STORE), 0);
		touch(h, 0, 2);
		/* 41 stores, of which the watched ones are 20 and this one. */
		ck_assert_double_eq_tol(h->event[0].weight, PERIOD * 21 / 41.0,
					1e-6);
		ck_assert_double_eq(h->event[0].weight_false, 0);
	}
}
END_TEST

/*
 * Thread 0 stores to all eight alike, but few stores were seen. What is watched
 * is then just what was seen, and yet only half of all: in the mean over what
 * @seen stores there may be, weights must not be of much more than that half.
 */
START_TEST(few_stores_are_not_taken_for_all)
{
	enum {
		TRIES = 400,
		SEEN = 6
	};
	struct rng rng;
	double sum = 0;

	rng_seed(&rng, 1, 1);
	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start_chunks(seed);
		uint32_t n = 0;

		learn(h, 0, 0xff);
		for (int i = 0; i <= SEEN; i++) {
			transfer_finish(h->transfer, &h->thread[0]);
			n = rng_below(&rng, 8);
			sample(h, 0, word(0, n, ACCESS_STORE), 0);
		}
		touch(h, 0, n);
		sum += h->event[0].weight;
	}
	/* The standard error of the mean is 0.008. */
	ck_assert_double_eq_tol(sum / TRIES / PERIOD, 0.5, 0.05);
}
END_TEST

/*
 * Nor is what the thread was not seen at yet taken for others': of its next
 * store three in four are due to the five chunks without, by three seen once.
 */
START_TEST(chunks_are_not_others_before_a_thread_is_known)
{
	for (int seed = 0; seed < 50; seed++) {
		struct hand *h = start_chunks(seed);
		uint32_t own, others;
		double share;

		learn(h, 0, 0xff);
		for (int i = 0; i < 3; i++) {
			transfer_finish(h->transfer, &h->thread[0]);
			sample(h, 0, word(0, i, ACCESS_STORE), 0);
		}
		own = watched(h, 0) & 7;
		others = watched(h, 0) & ~7u;
		share = __builtin_popcount(own) / 3.0 / 4 +
			__builtin_popcount(others) / 5.0 * 3 / 4;
		touch(h, 0, __builtin_ctz(others));
		ck_assert_uint_eq(h->chain.n, 1);
		ck_assert_double_eq_tol(h->event[0].weight_false,
					PERIOD * share, 1e-6);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_footprint");
	TCase *tc = tcase_create("transfer_footprint");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, chunks_in_use_are_watched_before_others);
	tcase_add_test(tc, neighbours_stand_in_for_a_line_of_few_samples);
	tcase_add_test(tc,
		       false_sharing_beside_the_watched_chunks_is_made_up_for);
	tcase_add_test(tc, weights_shrink_by_the_stores_that_are_not_watched);
	tcase_add_test(tc, few_stores_are_not_taken_for_all);
	tcase_add_test(tc, chunks_are_not_others_before_a_thread_is_known);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
