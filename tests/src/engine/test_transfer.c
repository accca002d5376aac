/* SPDX-License-Identifier: MIT */
/*
 * test_transfer - the rules of the estimators, driven by hand
 */
#include <math.h>

#include "transfer_hand.h"
#include "tests/run_suite.h"

START_TEST(epoch_credits_each_first_touch_until_the_next_store)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert(h->live[0]);
	ck_assert_uint_eq(h->armed[0].line, BASE);
	ck_assert_uint_eq(h->armed[0].n, 1);
	ck_assert_uint_eq(h->armed[0].range[0].len, LINE);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 1);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 2);
	trap(h, 0, word(0, 1, ACCESS_LOAD), 3);
	trap(h, 2, word(0, 5, ACCESS_LOAD), 4);
	ck_assert_int_eq(h->chains, 0);
	trap(h, 3, word(0, 5, ACCESS_STORE), 5);
	ck_assert_int_eq(h->chains, 1);
	ck_assert(!h->live[0]);
	ck_assert_uint_eq(h->chain.n, 3);
	for (int i = 0; i < 3; i++) {
		ck_assert_uint_eq(h->event[i].from, 0);
		ck_assert_uint_eq(h->event[i].to, i + 1);
		ck_assert_uint_eq(h->event[i].to_core, 11 + i);
		ck_assert_double_eq(h->event[i].weight, PERIOD);
		ck_assert_double_eq(h->event[i].weight_false,
				    i == 0 ? 0 : PERIOD);
	}
	trap(h, 2, word(0, 1, ACCESS_STORE), 6);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(stats(h).stale, 1);
	ck_assert_uint_eq(stats(h).traps, 3);
	ck_assert_uint_eq(stats(h).idle_traps, 2);
}
END_TEST

START_TEST(false_mark_is_taken_back_within_the_epoch)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 2, ACCESS_LOAD), 1);
	trap(h, 2, word(0, 2, ACCESS_LOAD), 2);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 3);
	/* The store that ends the epoch is an access of it too. */
	trap(h, 2, word(0, 1, ACCESS_STORE), 4);
	ck_assert_uint_eq(h->chain.n, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_double_eq(h->event[i].weight, PERIOD);
		ck_assert_double_eq(h->event[i].weight_false, 0);
	}
}
END_TEST

START_TEST(what_has_to_be_watched_shrinks_as_an_epoch_goes_on)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert_int_eq(trap(h, 0, word(0, 1, ACCESS_LOAD), 1),
			 TRANSFER_NEED_STORES);
	ck_assert_int_eq(trap(h, 1, word(0, 2, ACCESS_LOAD), 2),
			 TRANSFER_NEED_STORES_AND_ORIGIN);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_LOAD), 3),
			 TRANSFER_NEED_STORES);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_STORE), 4),
			 TRANSFER_NEED_NOTHING);
	h = start(config(TRANSFER_CHAIN), 1);
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	ck_assert_int_eq(trap(h, 0, word(0, 1, ACCESS_STORE), 1),
			 TRANSFER_NEED_ALL);
	ck_assert_int_eq(trap(h, 1, word(0, 1, ACCESS_LOAD), 2),
			 TRANSFER_NEED_ALL);
}
END_TEST

/*
 * What is stored and read from @h's arming, at 110, on. What comes before is
 * not of the chain, seen or not.
 */
static void follow_a_chain_from_110(struct hand *h)
{
	sample(h, 0, word(0, 1, ACCESS_STORE), 100);
	trap(h, 1, word(0, 1, ACCESS_STORE), 109);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 110);
	ck_assert_uint_eq(stats(h).early, h->delay > 9);
	/* Y comes at once: so many epochs, of two transfers each. */
	trap(h, 2, word(0, 3, ACCESS_STORE), 112);
	for (int i = 0; i < TRANSFER_EPOCHS; i++) {
		ck_assert_int_eq(h->chains, 0);
		trap(h, 3, word(0, 3, ACCESS_LOAD), 200 + 100 * i);
		trap(h, 1 + i % 2, word(0, 3, ACCESS_STORE), 250 + 100 * i);
	}
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->chain.n, 2 * TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->event[0].from, 2);
	ck_assert_uint_eq(h->event[0].to, 3);
	for (int i = 0; i < 16; i++)
		ck_assert_double_eq(h->event[i].weight,
				    (double)PERIOD / TRANSFER_EPOCHS);
}

START_TEST(chain_starts_at_the_first_store_after_arming)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	follow_a_chain_from_110(h);
}
END_TEST

START_TEST(chain_settles_as_if_arming_had_taken_as_long)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct hand *h;

	c.settle = 10;
	for (int delay = 0; delay <= 10; delay += 5) {
		h = start(c, 1);
		h->delay = delay;
		follow_a_chain_from_110(h);
	}
	c.settle = 9;
	h = start(c, 1);
	h->delay = 10;
	follow_a_chain_from_110(h);
}
END_TEST

START_TEST(epoch_does_not_settle)
{
	struct transfer_config c = config(TRANSFER_EPOCH);
	struct hand *h;

	c.settle = 10;
	h = start(c, 1);
	sample(h, 0, word(0, 1, ACCESS_STORE), 100);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 101);
	trap(h, 2, word(0, 1, ACCESS_STORE), 102);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, 2);
	ck_assert_uint_eq(stats(h).early, 0);
}
END_TEST

/* Bursts of three stores, two apart, with pauses of 100. */
START_TEST(chain_after_a_pause_holds_four_short_bursts)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);
	int n = 0;

	h->delay = 40;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	for (int burst = 1; burst <= 5; burst++)
		for (int i = 0; i < 3; i++, n++) {
			ck_assert_int_eq(h->chains, 0);
			/* Each burst is of another thread: a transfer each. */
			trap(h, burst % 2, word(0, 1, ACCESS_STORE),
			     100 * burst + 2 * i);
			if (burst == 5)
				break;
		}
	ck_assert_int_eq(n, 4 * 3);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, 4 * 3);
	ck_assert_uint_eq(h->chain.n, 4);
	ck_assert_double_eq_tol(h->event[0].weight, PERIOD / 12.0, 1e-9);
}
END_TEST

/* Gaps of a burst, and how many epochs of it take 17 at least and 100. */
static const struct {
	uint64_t gap;
	uint32_t epochs;
} long_bursts[] = { { 2, 51 }, { 5, 21 }, { 10, 17 }, { 100, 17 } };

START_TEST(chain_of_a_long_burst_spans_as_much_as_arming_took)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct hand *h;

	c.epochs = 16;
	h = start(c, 1);
	h->delay = 100;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	for (uint64_t i = 0; !h->chains; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE),
		     1000 + i * long_bursts[_i].gap);
	ck_assert_uint_eq(h->chain.epochs, long_bursts[_i].epochs);
}
END_TEST

/* Stores of threads 0, 1, 2, 3; who stores first is who was not skipped. */
START_TEST(chain_without_a_pause_skips_a_random_number_of_stores)
{
	enum {
		N = 4,
		TRIES = 4000
	};
	double sd = sqrt(TRIES * 0.25 * 0.75);
	int first[N] = { 0 };

	for (int seed = 0; seed < TRIES; seed++) {
		struct transfer_config c = config(TRANSFER_CHAIN);
		struct hand *h;

		c.skip = N;
		h = start(c, seed);
		h->delay = 10;
		sample(h, 0, word(0, 1, ACCESS_STORE), 0);
		for (int i = 0; !h->chains; i++)
			trap(h, i % N, word(0, 1, ACCESS_STORE), 10 + i);
		ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS);
		first[h->event[0].from]++;
	}
	for (int i = 0; i < N; i++)
		ck_assert_double_le(fabs(first[i] - TRIES / 4.0), 5 * sd);
}
END_TEST

START_TEST(chain_after_a_pause_skips_nothing)
{
	for (int seed = 0; seed < 20; seed++) {
		struct transfer_config c = config(TRANSFER_CHAIN);
		struct hand *h;

		c.skip = 16;
		h = start(c, seed);
		h->delay = 10;
		sample(h, 0, word(0, 1, ACCESS_STORE), 0);
		trap(h, 2, word(0, 1, ACCESS_STORE), 21);
		for (int i = 0; !h->chains; i++)
			trap(h, i % 2, word(0, 1, ACCESS_STORE), 100 + 20 * i);
		ck_assert_uint_eq(h->event[0].from, 2);
	}
}
END_TEST

START_TEST(a_clock_that_goes_back_makes_no_pause)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 100);
	for (int i = 1; i < 30; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 100 - i);
	ck_assert_int_eq(h->chains, 0);
}
END_TEST

START_TEST(chain_after_a_pause_has_an_end)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 100000;
	sample(h, 0, word(0, 1, ACCESS_STORE), 0);
	trap(h, 1, word(0, 1, ACCESS_STORE), 300000);
	for (int i = 1; i <= TRANSFER_EPOCHS_MAX; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 300000 + i);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS_MAX);
	ck_assert(!h->live[0]);
}
END_TEST

START_TEST(a_store_across_two_lines_is_about_either_with_double_weight)
{
	struct access a = { .addr = BASE + LINE - 8,
			    .len = 16,
			    .flags = ACCESS_STORE };
	int second = 0;

	for (int seed = 0; seed < 400; seed++) {
		struct hand *h = start(config(TRANSFER_EPOCH), seed);

		sample(h, 0, a, 0);
		second += h->armed[0].line == BASE + LINE;
		trap(h, 1, a, 1);
		ck_assert_uint_eq(h->chain.n, 1);
		ck_assert_double_eq(h->event[0].weight, 2 * PERIOD);
	}
	ck_assert_int_ge(second, 150);
	ck_assert_int_le(second, 250);
}
END_TEST

START_TEST(loads_and_unknown_accesses_arm_and_tell_nothing)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	sample(h, 0, word(0, 1, ACCESS_LOAD), 0);
	ck_assert_int_eq(h->arms, 0);
	ck_assert_uint_eq(stats(h).samples, 1);
	ck_assert_uint_eq(stats(h).candidates, 0);
	sample(h, 0, word(0, 1, ACCESS_LOCKED), 0);
	ck_assert_int_eq(h->arms, 1);
	trap(h, 1, word(0, 1, 0), 1);
	ck_assert_uint_eq(stats(h).inexact, 1);
	trap(h, 1, word(0, 1, ACCESS_STORE), 2);
	ck_assert_uint_eq(h->chain.n, 1);
}
END_TEST

START_TEST(an_access_to_two_watched_ranges_counts_once)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct access a = { .addr = BASE, .len = 16, .flags = ACCESS_STORE };
	struct hand *h;

	c.chunk_bytes = 8;
	c.ranges = 4;
	h = start(c, 1);
	sample(h, 0, a, 0);
	ck_assert_uint_eq(h->armed[0].n, 4);
	ck_assert_uint_eq(h->armed[0].range[0].addr, BASE);
	ck_assert_uint_eq(h->armed[0].range[1].addr, BASE + 8);
	for (int i = 0; i <= TRANSFER_EPOCHS; i++)
		for (uint32_t range = 0; range < 2; range++)
			transfer_trap(h->transfer, &h->thread[i % 2], 0,
				      h->armed[0].generation, range, &a, i, 0);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.epochs, TRANSFER_EPOCHS);
	ck_assert_uint_eq(h->chain.n, TRANSFER_EPOCHS);
}
END_TEST

START_TEST(at_the_end_what_is_cut_off_is_taken_for_an_epoch)
{
	struct hand *h = start(config(TRANSFER_CHAIN), 1);

	h->delay = 10;
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	trap(h, 0, word(0, 0, ACCESS_STORE), 10);
	trap(h, 1, word(0, 0, ACCESS_STORE), 11);
	trap(h, 2, word(0, 0, ACCESS_STORE), 12);
	trap(h, 3, word(0, 0, ACCESS_LOAD), 13);
	transfer_finish(h->transfer, &h->thread[0]);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, 3);
	ck_assert_double_eq(h->event[2].weight, PERIOD / 3.0);
	ck_assert(!h->live[0]);
	transfer_finish(h->transfer, &h->thread[0]);
	ck_assert_int_eq(h->chains, 1);
}
END_TEST

START_TEST(thread_numbers_out_of_range_are_left_out)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	h->thread[3].id = THREADS;
	sample(h, 3, word(0, 0, ACCESS_STORE), 0);
	ck_assert_int_eq(h->arms, 0);
	sample(h, 0, word(0, 0, ACCESS_STORE), 0);
	trap(h, 3, word(0, 0, ACCESS_STORE), 1);
	ck_assert_int_eq(h->chains, 0);
	ck_assert_int_eq(transfer_trap(h->transfer, &h->thread[0], 99, 0, 0,
				       &h->chain.sampled, 0, 0),
			 TRANSFER_NEED_NOTHING);
}
END_TEST

START_TEST(invalid_configurations_are_refused)
{
	struct transfer_config good = config(TRANSFER_EPOCH), c = good;

#define REFUSE(field, value)                                                   \
	c = good;                                                              \
	c.field = value;                                                       \
	ck_assert_uint_eq(transfer_size(&c), 0);                               \
	ck_assert_ptr_null(transfer_init(NULL, &c, NULL, NULL))
	REFUSE(threads, 0);
	REFUSE(threads, TRANSFER_THREADS_MAX + 1);
	REFUSE(slots, 0);
	REFUSE(slots, TRANSFER_SLOTS_MAX + 1);
	REFUSE(line_bytes, 128);
	REFUSE(line_bytes, 63);
	REFUSE(chunk_bytes, 128);
	REFUSE(chunk_bytes, 4);
	REFUSE(chunk_bytes, 0);
	REFUSE(ranges, 0);
	REFUSE(ranges, TRANSFER_RANGES_MAX + 1);
	REFUSE(epochs, TRANSFER_EPOCHS_MAX + 1);
	REFUSE(skip, TRANSFER_EPOCHS_MAX + 1);
	REFUSE(bursts, TRANSFER_EPOCHS_MAX + 1);
	REFUSE(footprints, 3);
	REFUSE(kind, TRANSFER_NEEDED + 1);
	REFUSE(period, 0);
	REFUSE(period, NAN);
#undef REFUSE
}
END_TEST

START_TEST(samples_that_find_quiet_lines_in_all_slots_are_counted)
{
	struct hand *h = start(config(TRANSFER_EPOCH), 1);

	for (int i = 0; i < 6; i++)
		sample(h, 0, word(i, 1, ACCESS_STORE), i);
	/* The first four after the first may still be chance. */
	ck_assert_double_le(transfer_left(h->transfer).unfollowed, 1);
	for (int i = 6; i < 200; i++)
		sample(h, 0, word(i, 1, ACCESS_STORE), i);
	ck_assert_double_ge(transfer_left(h->transfer).unfollowed, 50);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer");
	TCase *tc = tcase_create("transfer");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, epoch_credits_each_first_touch_until_the_next_store);
	tcase_add_test(tc, false_mark_is_taken_back_within_the_epoch);
	tcase_add_test(tc, what_has_to_be_watched_shrinks_as_an_epoch_goes_on);
	tcase_add_test(tc, chain_starts_at_the_first_store_after_arming);
	tcase_add_test(tc, chain_settles_as_if_arming_had_taken_as_long);
	tcase_add_test(tc, epoch_does_not_settle);
	tcase_add_test(tc, chain_after_a_pause_holds_four_short_bursts);
	tcase_add_loop_test(tc,
			    chain_of_a_long_burst_spans_as_much_as_arming_took,
			    0, sizeof(long_bursts) / sizeof(long_bursts[0]));
	tcase_add_test(tc,
		       chain_without_a_pause_skips_a_random_number_of_stores);
	tcase_add_test(tc, chain_after_a_pause_skips_nothing);
	tcase_add_test(tc, a_clock_that_goes_back_makes_no_pause);
	tcase_add_test(tc, chain_after_a_pause_has_an_end);
	tcase_add_test(
		tc,
		a_store_across_two_lines_is_about_either_with_double_weight);
	tcase_add_test(tc, loads_and_unknown_accesses_arm_and_tell_nothing);
	tcase_add_test(tc, an_access_to_two_watched_ranges_counts_once);
	tcase_add_test(tc, at_the_end_what_is_cut_off_is_taken_for_an_epoch);
	tcase_add_test(tc,
		       samples_that_find_quiet_lines_in_all_slots_are_counted);
	tcase_add_test(tc, thread_numbers_out_of_range_are_left_out);
	tcase_add_test(tc, invalid_configurations_are_refused);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
