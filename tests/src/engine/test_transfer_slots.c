/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_slots - which samples keep a slot, with what weight, and how
 * threads arm and disarm a slot at once
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "transfer_hand.h"
#include "tests/run_suite.h"

START_TEST(the_nth_candidate_is_kept_once_in_n_and_weighs_n_periods)
{
	enum {
		TRIES = 4000,
		N = 5
	};
	double credit[N] = { 0 };
	int kept[N] = { 0 };

	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);
		uint32_t line;

		for (int i = 0; i < N; i++)
			sample(h, 0, word(i, 0, ACCESS_STORE), i);
		line = (h->armed[0].line - BASE) / LINE;
		trap(h, 1, word(line, 0, ACCESS_STORE), N);
		ck_assert_uint_eq(stats(h).candidates, N);
		ck_assert_uint_eq(stats(h).displaced + 1, stats(h).accepted);
		ck_assert_double_eq_tol(h->event[0].weight, N * PERIOD, 1e-6);
		kept[line]++;
		credit[line] += h->event[0].weight;
	}
	/* Five standard deviations of a share of one in five. */
	for (int i = 0; i < N; i++) {
		double sd = sqrt(TRIES * 0.2 * 0.8);

		ck_assert_double_le(fabs(kept[i] - TRIES / 5.0), 5 * sd);
		ck_assert_double_le(fabs(credit[i] / TRIES / PERIOD - 1),
				    5 * sd * N / TRIES);
	}
}
END_TEST

/*
 * Memory that is filled and left, then a line that moves at each store. Each of
 * its moves weighs one period in the mean, and the slot is soon free for it.
 */
START_TEST(a_line_that_is_quiet_does_not_keep_its_slot)
{
	enum {
		FILLED = 1000,
		MOVES = 300,
		TRIES = 400
	};
	double sum = 0, squares = 0, error, mean;
	int late = 0;

	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);
		int first = MOVES; /* that the slot was free for */
		double credit = 0;

		for (int i = 0; i < FILLED; i++)
			sample(h, 0, word(8 + i, 0, ACCESS_STORE), i);
		for (int i = 0; i < MOVES; i++) {
			sample(h, 0, word(0, 0, ACCESS_STORE), FILLED + i);
			if (h->armed[0].line != BASE || !h->live[0])
				continue;
			first = i < first ? i : first;
			trap(h, 1, word(0, 0, ACCESS_STORE), FILLED + i);
			credit += h->event[0].weight;
		}
		late += first > 6 * TRANSFER_PATIENCE;
		sum += credit / MOVES / PERIOD;
		squares += credit * credit / MOVES / PERIOD / MOVES / PERIOD;
	}
	mean = sum / TRIES;
	error = sqrt((squares / TRIES - mean * mean) / TRIES);
	ck_assert_double_le(error, 0.02);
	ck_assert_double_le(fabs(mean - 1), 4 * error);
	ck_assert_int_le(late, TRIES / 20);
}
END_TEST

/* One sampled store, one reader, judged false before another candidate and
 * true after it: in the mean nothing false may remain. */
START_TEST(marks_taken_back_after_a_displacement_cancel_in_the_mean)
{
	enum {
		TRIES = 4000
	};
	double all = 0, of_false = 0;

	for (int seed = 0; seed < TRIES; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);
		uint32_t generation;

		sample(h, 0, word(0, 1, ACCESS_STORE), 0);
		generation = h->armed[0].generation;
		trap(h, 1, word(0, 2, ACCESS_LOAD), 1);
		sample(h, 2, word(7, 0, ACCESS_STORE), 2);
		if (h->armed[0].generation == generation) {
			trap(h, 1, word(0, 1, ACCESS_LOAD), 3);
			trap(h, 1, word(0, 1, ACCESS_STORE), 4);
		}
		ck_assert_uint_eq(h->chain.n, 1);
		all += h->event[0].weight;
		of_false += h->event[0].weight_false;
	}
	ck_assert_double_eq(all, (double)TRIES * PERIOD);
	ck_assert_double_le(fabs(of_false / TRIES / PERIOD), 5 / sqrt(TRIES));
}
END_TEST

START_TEST(arming_that_fails_frees_the_slot_and_is_counted)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->fail = -EBUSY;
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	ck_assert_uint_eq(stats(h).arm_failed, 1);
	h->fail = 0;
	sample(h, 0, word(1, 0, ACCESS_STORE), 1);
	ck_assert(h->live[0]);
	/* The next is the first since the slot was free: one period. */
	trap(h, 1, word(1, 0, ACCESS_STORE), 2);
	ck_assert_double_eq(h->event[0].weight, PERIOD);
}
END_TEST

static void sample_others(struct hand *h)
{
	/* One of these is accepted: seeds are fixed. */
	for (int i = 0; i < 30; i++)
		sample(h, 1, word(3, 0, ACCESS_STORE), 5);
}

START_TEST(what_wins_while_the_registers_are_armed_is_armed_next)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->meanwhile = sample_others;
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	ck_assert_int_eq(h->arms, 2);
	ck_assert_uint_eq(h->armed[0].line, BASE + 3 * LINE);
	trap(h, 2, word(3, 0, ACCESS_STORE), 9);
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_uint_eq(h->event[0].from, 1);
	ck_assert_double_eq_tol(h->event[0].weight, 31 * PERIOD, 1e-6);
}
END_TEST

START_TEST(what_is_sampled_while_a_slot_is_disarmed_is_armed_next)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	h->meanwhile = sample_others;
	trap(h, 1, word(0, 0, ACCESS_STORE), 1);
	ck_assert_int_eq(h->disarms, 1);
	ck_assert_int_eq(h->arms, 2);
	ck_assert(h->live[0]);
	trap(h, 2, word(3, 0, ACCESS_STORE), 9);
	ck_assert_double_eq_tol(h->event[0].weight, 30 * PERIOD, 1e-6);
}
END_TEST

static void trap_and_sample(struct hand *h)
{
	trap(h, 2, word(0, 0, ACCESS_STORE), 9);
	sample(h, 2, word(3, 0, ACCESS_STORE), 9);
}

START_TEST(no_lock_is_held_while_a_chain_is_handed_over)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	h->in_sink = trap_and_sample;
	trap(h, 1, word(0, 0, ACCESS_STORE), 1);
	ck_assert_uint_eq(stats(h).busy, 0);
	ck_assert_uint_eq(stats(h).stale, 1);
	/* The chain has not changed, and the new sample is armed. */
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_uint_eq(h->event[0].from, 0);
	ck_assert_uint_eq(h->event[0].to, 1);
	ck_assert(h->live[0]);
	ck_assert_uint_eq(h->armed[0].line, BASE + 3 * LINE);
	trap(h, 1, word(3, 0, ACCESS_STORE), 20);
	ck_assert_int_eq(h->chains, 2);
	ck_assert_uint_eq(h->event[0].from, 2);
}
END_TEST

static struct hand *start_awaiting(uint64_t seed)
{
	struct transfer_config c = config(TRANSFER_EPOCH);

	c.awaits = true;
	return start(c, seed);
}

START_TEST(what_others_do_before_a_sample_is_made_does_not_count)
{
	struct hand *h = start_awaiting(1);

	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	ck_assert(transfer_awaits(h->transfer, 0));
	trap(h, 1, word(0, 0, ACCESS_LOAD), 1);
	trap(h, 2, word(0, 0, ACCESS_STORE), 2);
	ck_assert_uint_eq(stats(h).early, 2);
	transfer_made(h->transfer, &h->thread[0]);
	ck_assert(!transfer_awaits(h->transfer, 0));
	trap(h, 3, word(0, 0, ACCESS_LOAD), 3);
	trap(h, 0, word(0, 0, ACCESS_STORE), 4);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_uint_eq(h->event[0].from, 0);
	ck_assert_uint_eq(h->event[0].to, 3);
}
END_TEST

START_TEST(a_sample_that_lost_its_slot_is_not_taken_for_its_successor)
{
	struct hand *h;
	uint64_t seed = 0;

	do {
		h = start_awaiting(seed++);
		sample(h, 0, word(0, 0, ACCESS_STORE), 0);
		sample(h, 1, word(1, 0, ACCESS_STORE), 1);
	} while (h->armed[0].line == BASE);
	transfer_made(h->transfer, &h->thread[0]);
	ck_assert(transfer_awaits(h->transfer, 0));
	trap(h, 2, word(1, 0, ACCESS_LOAD), 2);
	ck_assert_uint_eq(stats(h).early, 1);
	transfer_made(h->transfer, &h->thread[1]);
	trap(h, 2, word(1, 0, ACCESS_STORE), 3);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->event[0].from, 1);
	/* Nothing is awaited any more. */
	transfer_made(h->transfer, &h->thread[1]);
}
END_TEST

static void expect(struct hand *h, uint32_t thread, uint64_t now)
{
	transfer_expect(h->transfer, &h->thread[thread], now, thread);
}

static void meet(struct hand *h, uint32_t thread, struct access a)
{
	transfer_met(h->transfer, &h->thread[thread], &a, thread);
	transfer_made(h->transfer, &h->thread[thread]);
}

START_TEST(an_announced_sample_is_the_store_that_it_meets)
{
	struct hand *h = start_awaiting(1);

	expect(h, 0, 0);
	ck_assert_uint_eq(stats(h).accepted, 1);
	ck_assert_uint_eq(h->armed[0].line, 0);
	/* A load that is a sample meanwhile does not open the slot. */
	sample(h, 0, word(5, 0, ACCESS_LOAD), 1);
	transfer_made(h->transfer, &h->thread[0]);
	ck_assert(transfer_awaits(h->transfer, 0));
	meet(h, 0, word(3, 0, ACCESS_STORE));
	ck_assert_uint_eq(h->armed[0].line, BASE + 3 * LINE);
	ck_assert(!transfer_awaits(h->transfer, 0));
	trap(h, 1, word(3, 0, ACCESS_LOAD), 2);
	trap(h, 2, word(3, 1, ACCESS_STORE), 3);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, 2);
	ck_assert_uint_eq(h->event[0].from, 0);
	ck_assert_uint_eq(h->event[0].to, 1);
	ck_assert_uint_eq(h->event[1].to, 2);
	ck_assert_double_eq_tol(h->event[0].weight, PERIOD, 1e-6);
	ck_assert_double_eq_tol(h->event[0].weight_false, 0, 1e-6);
	ck_assert_double_eq_tol(h->event[1].weight_false, PERIOD, 1e-6);
	ck_assert_uint_eq(stats(h).samples, 2);
	ck_assert_uint_eq(stats(h).candidates, 1);
}
END_TEST

START_TEST(an_announced_sample_that_lost_its_slot_watches_nothing)
{
	struct hand *h;
	uint64_t seed = 0;

	do {
		h = start_awaiting(seed++);
		expect(h, 0, 0);
		sample(h, 1, word(1, 0, ACCESS_STORE), 1);
	} while (!h->armed[0].line);
	meet(h, 0, word(3, 0, ACCESS_STORE));
	ck_assert_uint_eq(h->armed[0].line, BASE + LINE);
	ck_assert(transfer_awaits(h->transfer, 0));
	/* It has met its store: there is no other. */
	meet(h, 0, word(4, 0, ACCESS_STORE));
	ck_assert_uint_eq(h->armed[0].line, BASE + LINE);
}
END_TEST

START_TEST(an_announced_sample_that_never_comes_credits_nothing)
{
	struct hand *h = start_awaiting(1);

	expect(h, 0, 0);
	transfer_finish(h->transfer, &h->thread[0]);
	ck_assert_int_eq(h->chains, 0);
	ck_assert_double_eq(transfer_left(h->transfer).missed, 0);
}
END_TEST

START_TEST(a_thread_that_ends_gives_up_what_it_announced)
{
	struct hand *h = start_awaiting(1);

	expect(h, 0, 0);
	ck_assert(h->live[0]);
	transfer_give_up(h->transfer, &h->thread[0], 1);
	ck_assert(!h->live[0]);
	/* The next sample finds a free slot, and stands for itself. */
	sample(h, 1, word(1, 0, ACCESS_STORE), 2);
	transfer_made(h->transfer, &h->thread[1]);
	ck_assert_uint_eq(stats(h).displaced, 0);
	trap(h, 2, word(1, 0, ACCESS_STORE), 3);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_double_eq_tol(h->event[0].weight, PERIOD, 1e-6);
	/* Another one has the slot now, and keeps it. */
	expect(h, 1, 4);
	transfer_give_up(h->transfer, &h->thread[0], 5);
	ck_assert(h->live[0]);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_slots");
	TCase *tc = tcase_create("transfer_slots");

	tcase_set_timeout(tc, 60);
	tcase_add_test(
		tc, the_nth_candidate_is_kept_once_in_n_and_weighs_n_periods);
	tcase_add_test(tc, a_line_that_is_quiet_does_not_keep_its_slot);
	tcase_add_test(
		tc, marks_taken_back_after_a_displacement_cancel_in_the_mean);
	tcase_add_test(tc, arming_that_fails_frees_the_slot_and_is_counted);
	tcase_add_test(tc,
		       what_wins_while_the_registers_are_armed_is_armed_next);
	tcase_add_test(tc,
		       what_is_sampled_while_a_slot_is_disarmed_is_armed_next);
	tcase_add_test(tc, no_lock_is_held_while_a_chain_is_handed_over);
	tcase_add_test(tc,
		       what_others_do_before_a_sample_is_made_does_not_count);
	tcase_add_test(
		tc, a_sample_that_lost_its_slot_is_not_taken_for_its_successor);
	tcase_add_test(tc, an_announced_sample_is_the_store_that_it_meets);
	tcase_add_test(tc,
		       an_announced_sample_that_lost_its_slot_watches_nothing);
	tcase_add_test(tc,
		       an_announced_sample_that_never_comes_credits_nothing);
	tcase_add_test(tc, a_thread_that_ends_gives_up_what_it_announced);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
