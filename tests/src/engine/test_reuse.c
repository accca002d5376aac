/* SPDX-License-Identifier: MIT */
/*
 * test_reuse - the rules of the reuse engine, driven by hand
 */
#include <errno.h>

#include "reuse_hand.h"
#include "tests/run_suite.h"

START_TEST(bytes_or_the_whole_line_are_watched)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);

	sample(h, 0, BASE + 20, false, 1);
	ck_assert_uint_eq(h->armed[0].addr, BASE + 20);
	ck_assert_uint_eq(h->armed[0].len, 8);
	h = start(config(REUSE_PRIVATE, REUSE_LINE, 1), 1);
	sample(h, 0, BASE + 20, false, 1);
	ck_assert_uint_eq(h->armed[0].addr, BASE);
	ck_assert_uint_eq(h->armed[0].len, LINE);
}
END_TEST

START_TEST(an_access_to_two_lines_is_a_use_of_each)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_LINE, 2), 1);

	sample(h, 0, BASE + 60, false, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).uses, 2);
	ck_assert_int_eq(h->arms, 2);
	ck_assert_uint_eq(h->armed[0].addr + h->armed[1].addr, 2 * BASE + LINE);
	/* Its bytes are one range, which is one use. */
	h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 2), 1);
	sample(h, 0, BASE + 60, false, 1);
	ck_assert_int_eq(h->arms, 1);
	ck_assert_uint_eq(h->armed[0].len, 8);
}
END_TEST

START_TEST(reuse_of_other_bytes_of_the_line_is_spatial)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_LINE, 1), 1);

	sample(h, 0, BASE, false, 1);
	trap(h, 0, BASE + 8, false, 2);
	ck_assert(!h->event.temporal);
	sample(h, 0, BASE, false, 3);
	trap(h, 0, BASE + 7, false, 4);
	ck_assert(h->event.temporal);
}
END_TEST

/* A thousand uses for one slot: the last holder counts for all. */
START_TEST(who_holds_the_slot_counts_for_all_that_came)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), _i);
	int holder;

	for (int i = 0; i < 1000; i++)
		sample(h, 0, BASE + 64 * i, false, i + 1);
	holder = (h->armed[0].addr - BASE) / 64;
	trap(h, 0, BASE + 64 * holder, false, 5000);
	ck_assert_uint_eq(h->event.weight, 1000);
	ck_assert_uint_eq(h->event.time, 5000 - (holder + 1));
	/* And the next one, which finds it free, for itself. */
	sample(h, 0, BASE, false, 6000);
	trap(h, 0, BASE, false, 6001);
	ck_assert_uint_eq(h->event.weight, 1);
}
END_TEST

START_TEST(every_candidate_is_as_likely_to_hold_the_slot)
{
	int held[10] = { 0 };
	double chi2 = 0;

	for (int i = 0; i < 5000; i++) {
		struct hand *h = &hand;
		struct reuse_config c = config(REUSE_PRIVATE, REUSE_ADDRESS, 1);

		if (!i)
			start(c, 11);
		for (int k = 0; k < 10; k++)
			sample(h, k % THREADS, BASE + 64 * k, false, 1);
		held[(h->armed[0].addr - BASE) / 64]++;
		reuse_finish(h->reuse, &h->thread[0]);
		if (h->event.weight != 10)
			ck_abort_msg("weight %lu", h->event.weight);
	}
	for (int k = 0; k < 10; k++)
		chi2 += (held[k] - 500.0) * (held[k] - 500.0) / 500;
	/* 9 degrees of freedom: above 33.7 once in 10,000 */
	ck_assert_double_lt(chi2, 33.7);
}
END_TEST

START_TEST(free_slots_are_taken_first)
{
	struct hand *h =
		start(config(REUSE_PRIVATE, REUSE_ADDRESS, SLOTS_MAX), _i);

	for (int i = 0; i < SLOTS_MAX; i++)
		sample(h, 0, BASE + 64 * i, false, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).displaced, 0);
	for (int i = 0; i < SLOTS_MAX; i++)
		ck_assert(h->live[i]);
	h->count = 20;
	reuse_finish(h->reuse, &h->thread[0]);
	ck_assert_int_eq(h->events, SLOTS_MAX);
	ck_assert_int_eq(h->event.outcome, REUSE_DANGLING);
	ck_assert_uint_eq(h->event.end.flags, 0);
	ck_assert_uint_eq(h->event.time, 20);
}
END_TEST

START_TEST(uses_of_a_thread_that_ends_dangle)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 2), 1);

	sample(h, 0, BASE, false, 1);
	sample(h, 2, BASE + 64, false, 1);
	reuse_thread_end(h->reuse, &h->thread[2]);
	ck_assert_int_eq(h->events, 1);
	ck_assert_int_eq(h->event.outcome, REUSE_DANGLING);
	ck_assert_uint_eq(h->event.use_place.thread, 2);
	/* The others' go on. */
	reuse_finish(h->reuse, &h->thread[0]);
	ck_assert_int_eq(h->events, 2);
	ck_assert_uint_eq(h->event.use_place.thread, 0);
}
END_TEST

START_TEST(uses_in_a_shared_cache_outlive_their_thread)
{
	struct hand *h = start(config(REUSE_SHARED, REUSE_LINE, 1), 1);

	sample(h, 0, BASE, false, 1);
	reuse_thread_end(h->reuse, &h->thread[0]);
	ck_assert_int_eq(h->events, 0);
	trap(h, 2, BASE, false, 9);
	ck_assert_int_eq(h->event.outcome, REUSE_REUSED);
}
END_TEST

START_TEST(with_use_next_the_first_access_is_the_use)
{
	struct reuse_config c = config(REUSE_PRIVATE, REUSE_ADDRESS, 1);
	struct hand *h;

	c.use_next = true;
	h = start(c, 1);
	sample(h, 0, BASE, true, 10);
	/* The use has not begun, so nothing is invalidated. */
	trap(h, 2, BASE, true, 11);
	ck_assert_int_eq(h->events, 0);
	trap(h, 0, BASE, false, 20);
	ck_assert_int_eq(h->events, 0);
	trap(h, 0, BASE, true, 25);
	ck_assert_int_eq(h->event.outcome, REUSE_REUSED);
	ck_assert_int_eq(h->event.pairing, REUSE_WAR);
	ck_assert_uint_eq(h->event.time, 5);
	/* Without its first access there is no use. */
	sample(h, 0, BASE, true, 30);
	reuse_finish(h->reuse, &h->thread[0]);
	ck_assert_int_eq(h->events, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).failed, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).waiting, 1);
}
END_TEST

/* With use_next the path is that of the access that becomes the use. */
START_TEST(a_use_and_its_end_have_the_paths_of_their_accesses)
{
	struct reuse_config c = config(REUSE_PRIVATE, REUSE_ADDRESS, 1);
	struct hand *h;

	c.use_next = _i;
	h = start(c, 2);
	h->thread[0].path = 11;
	sample(h, 0, BASE, false, 100);
	h->thread[0].path = 12;
	if (c.use_next)
		trap(h, 0, BASE, true, 101);
	h->thread[0].path = h->thread[1].path = 13;
	trap(h, 1, BASE, true, 102);
	ck_assert_int_eq(h->event.outcome, REUSE_INVALIDATED);
	ck_assert_uint_eq(h->event.use_path, _i ? 12 : 11);
	ck_assert_uint_eq(h->event.end_path, 13);
	sample(h, 0, BASE, false, 200);
	if (c.use_next)
		trap(h, 0, BASE, true, 201);
	reuse_finish(h->reuse, &h->thread[0]);
	ck_assert_uint_eq(h->event.use_path, 13);
	ck_assert_uint_eq(h->event.end_path, 0);
}
END_TEST

START_TEST(a_watch_that_cannot_be_armed_is_lost_and_counted)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);

	h->fail = -ENOSPC;
	sample(h, 0, BASE, false, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).arm_failed, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).failed, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).waiting, 0);
	h->fail = 0;
	sample(h, 0, BASE, false, 2);
	trap(h, 0, BASE, false, 4);
	ck_assert_uint_eq(h->event.time, 2);
	ck_assert_uint_eq(h->event.weight, 1);
}
END_TEST

START_TEST(a_watch_that_is_given_up_is_lost_by_weight)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);
	uint32_t generation;

	for (int i = 1; i <= 7; i++)
		sample(h, 0, BASE, false, i);
	generation = h->armed[0].generation;
	ck_assert_uint_eq(reuse_drop(h->reuse, &h->thread[2], 0, generation),
			  7);
	ck_assert(!h->live[0]);
	ck_assert_int_eq(h->events, 0);
	ck_assert_uint_eq(reuse_stats(h->reuse).failed, 7);
	/* It is watched no more, and its slot is another's. */
	ck_assert_uint_eq(reuse_drop(h->reuse, &h->thread[2], 0, generation),
			  0);
	sample(h, 0, BASE, false, 8);
	ck_assert_uint_eq(reuse_drop(h->reuse, &h->thread[2], 0, generation),
			  0);
	trap(h, 0, BASE, false, 9);
	ck_assert_uint_eq(h->event.weight, 1);
}
END_TEST

static void sample_elsewhere(struct hand *h)
{
	for (int i = 0; i < 100; i++)
		sample(h, 2, BASE + 64, true, 7);
}

/* It would be armed only when thread 0 comes to it. */
START_TEST(no_use_takes_a_slot_that_another_thread_is_arming)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);

	h->meanwhile = sample_elsewhere;
	sample(h, 0, BASE, false, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).busy, 100);
	ck_assert_int_eq(h->arms, 1);
	trap(h, 0, BASE, true, 10);
	ck_assert_uint_eq(h->event.time, 9);
	ck_assert_uint_eq(h->event.weight, 1);
	/* Nor while it is being disarmed. */
	sample(h, 0, BASE, false, 20);
	h->meanwhile = sample_elsewhere;
	trap(h, 0, BASE, true, 30);
	ck_assert_uint_eq(reuse_stats(h->reuse).busy, 200);
	ck_assert(!h->live[0]);
	/* Another slot is as good. */
	h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 2), 1);
	h->meanwhile = sample_elsewhere;
	sample(h, 0, BASE, false, 1);
	ck_assert(h->live[0] && h->live[1]);
}
END_TEST

static uint64_t trap_and_count(void *ctx, const struct cpu_place *use)
{
	struct hand *h = ctx;

	trap(h, 2, BASE, true, 9);
	return 9;
}

START_TEST(no_lock_is_held_while_a_count_is_asked_for)
{
	static const struct reuse_watch watch = { hand_arm, hand_disarm,
						  trap_and_count };
	struct reuse_config c = config(REUSE_PRIVATE, REUSE_ADDRESS, 1);
	struct hand *h = start(c, 1);

	h->reuse = reuse_init(map(reuse_size(&c)), &c, &watch, &hand_sink);
	sample(h, 0, BASE, false, 1);
	trap(h, 1, BASE, true, 5);
	ck_assert_int_eq(h->event.outcome, REUSE_INVALIDATED);
	ck_assert_uint_eq(h->event.time, 9);
	ck_assert_uint_eq(reuse_stats(h->reuse).stale, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).busy_traps, 0);
}
END_TEST

static void end_all(struct hand *h)
{
	reuse_finish(h->reuse, &h->thread[2]);
}

START_TEST(what_ends_while_it_is_armed_is_disarmed)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);

	h->meanwhile = end_all;
	sample(h, 0, BASE, false, 1);
	ck_assert_int_eq(h->event.outcome, REUSE_DANGLING);
	ck_assert_int_eq(h->disarms, 1);
	ck_assert(!h->live[0]);
}
END_TEST

START_TEST(an_access_that_is_not_known_decides_nothing)
{
	struct hand *h = start(config(REUSE_PRIVATE, REUSE_ADDRESS, 1), 1);
	struct access unknown = { .addr = BASE, .len = 1 };

	sample(h, 0, BASE, false, 1);
	reuse_trap(h->reuse, &h->thread[0], 0, h->armed[0].generation, &unknown,
		   2);
	reuse_trap(h->reuse, &h->thread[0], 7, 1, &unknown, 2);
	ck_assert_int_eq(h->events, 0);
	ck_assert_uint_eq(reuse_stats(h->reuse).idle, 1);
	ck_assert_uint_eq(reuse_stats(h->reuse).stale, 1);
}
END_TEST

START_TEST(configurations_that_cannot_be_are_refused)
{
	struct reuse_config good = config(REUSE_PRIVATE, REUSE_ADDRESS, 1);
	struct reuse_config bad[8];

	for (int i = 0; i < 8; i++)
		bad[i] = good;
	bad[0].scope = REUSE_SCOPES;
	bad[1].granularity = REUSE_GRANULARITIES;
	bad[2].line_bytes = 48;
	bad[3].line_bytes = 128;
	bad[4].slots = 0;
	bad[5].slots = REUSE_SLOTS_MAX + 1;
	bad[6].scope = REUSE_SHARED;
	bad[6].use_next = true;
	bad[7].line_bytes = 4;
	ck_assert_uint_gt(reuse_size(&good), 0);
	for (int i = 0; i < 8; i++) {
		ck_assert_uint_eq(reuse_size(&bad[i]), 0);
		ck_assert_ptr_null(
			reuse_init(NULL, &bad[i], &hand_watch, &hand_sink));
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse");
	TCase *tc = tcase_create("reuse");

	tcase_set_timeout(tc, 120);
	tcase_add_test(tc, bytes_or_the_whole_line_are_watched);
	tcase_add_test(tc, an_access_to_two_lines_is_a_use_of_each);
	tcase_add_test(tc, reuse_of_other_bytes_of_the_line_is_spatial);
	tcase_add_loop_test(tc, who_holds_the_slot_counts_for_all_that_came, 0,
			    10);
	tcase_add_test(tc, every_candidate_is_as_likely_to_hold_the_slot);
	tcase_add_loop_test(tc, free_slots_are_taken_first, 0, 10);
	tcase_add_test(tc, uses_of_a_thread_that_ends_dangle);
	tcase_add_test(tc, uses_in_a_shared_cache_outlive_their_thread);
	tcase_add_test(tc, with_use_next_the_first_access_is_the_use);
	tcase_add_loop_test(
		tc, a_use_and_its_end_have_the_paths_of_their_accesses, 0, 2);
	tcase_add_test(tc, a_watch_that_cannot_be_armed_is_lost_and_counted);
	tcase_add_test(tc, a_watch_that_is_given_up_is_lost_by_weight);
	tcase_add_test(tc, no_use_takes_a_slot_that_another_thread_is_arming);
	tcase_add_test(tc, no_lock_is_held_while_a_count_is_asked_for);
	tcase_add_test(tc, what_ends_while_it_is_armed_is_disarmed);
	tcase_add_test(tc, an_access_that_is_not_known_decides_nothing);
	tcase_add_test(tc, configurations_that_cannot_be_are_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
