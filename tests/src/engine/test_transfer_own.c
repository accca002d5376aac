/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_own - chains that are not completed, driven by hand
 */
#include "transfer_hand.h"
#include "tests/run_suite.h"

/*
 * Thread 0 stores to a line that has no chain; then others load it. Thread 1
 * was seen before, so the sampler is not alone.
 */
static struct hand *start_without_a_chain(uint64_t delay)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct hand *h;

	c.settle = 10;
	h = start(c, 1);
	sample(h, 1, word(1, 1, ACCESS_LOAD), 90);
	h->delay = delay;
	sample(h, 0, word(0, 1, ACCESS_STORE), 100);
	return h;
}

static struct transfer_left finish(struct hand *h)
{
	transfer_finish(h->transfer, &h->thread[0]);
	return transfer_left(h->transfer);
}

START_TEST(a_store_without_a_chain_counts_for_its_own_epoch)
{
	struct hand *h = start_without_a_chain(_i ? 10 : 0);

	trap(h, 1, word(0, 1, ACCESS_LOAD), 120);
	trap(h, 2, word(0, 3, ACCESS_LOAD), 130);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 140);
	if (_i == 2) { /* the next burst does not make a chain */
		trap(h, 3, word(0, 1, ACCESS_STORE), 500);
		trap(h, 1, word(0, 1, ACCESS_LOAD), 510);
	}
	ck_assert_int_eq(h->chains, 0);
	ck_assert_double_eq(finish(h).missed, 0);
	ck_assert_int_eq(h->chains, 1);
	ck_assert_uint_eq(h->chain.n, _i == 2 ? 3 : 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_uint_eq(h->event[i].from, 0);
		ck_assert_uint_eq(h->event[i].to, i + 1);
		ck_assert_double_eq(h->event[i].weight, PERIOD);
		ck_assert_double_eq(h->event[i].weight_false, i * PERIOD);
	}
}
END_TEST

START_TEST(the_sampler_is_armed_at_once_and_ends_its_epoch)
{
	struct hand *h = start_without_a_chain(10);

	trap(h, 0, word(0, 2, ACCESS_STORE), 105);
	trap(h, 1, word(0, 1, ACCESS_LOAD), 120);
	ck_assert_double_eq(finish(h).missed, 0);
	ck_assert_int_eq(h->chains, 0);
}
END_TEST

START_TEST(armed_at_once_the_end_of_a_line_in_use_counts_by_itself)
{
	struct hand *h = start_without_a_chain(0);

	for (int i = 1; i < 10; i++)
		trap(h, i % 2, word(0, 1, ACCESS_STORE), 100 + i);
	ck_assert_double_eq(finish(h).missed, 0);
	ck_assert_uint_eq(h->chain.n, 1);
	ck_assert_double_eq(h->event[0].weight, PERIOD);
}
END_TEST

/*
 * The sample of a line that thread 0 stored to once is the only one, unless
 * thread 1 was sampled at @other before, which is 0 for no sample. The program
 * runs until @end.
 */
static double missed(uint64_t delay, uint64_t other, uint64_t end)
{
	struct transfer_config c = config(TRANSFER_CHAIN);
	struct access a = { .addr = other, .len = 8, .flags = ACCESS_LOAD };
	struct hand *h;

	c.slots = 2;
	h = start(c, 1);
	if (other)
		sample(h, 1, a, 90);
	h->delay = delay;
	sample(h, 0, word(0, 1, ACCESS_STORE), 100);
	sample(h, 0, word(0, 1, ACCESS_STORE), end);
	return finish(h).missed;
}

/* Other threads may touch a line before it is watched there, and never again.
 */
START_TEST(what_others_may_do_before_they_are_armed_is_told_as_missed)
{
	struct transfer_left left;

	ck_assert_double_eq(missed(10, BASE + 32 * LINE, 1000), PERIOD);
	left = transfer_left(hand.transfer);
	ck_assert_double_eq(left.missed_square, 1.0 * PERIOD * PERIOD);
	ck_assert_double_eq(left.slots, 2);
	/* Armed at once; no other thread, or far from here; not at rest. */
	ck_assert_double_eq(missed(0, BASE + 32 * LINE, 1000), 0);
	ck_assert_double_eq(missed(10, 0, 1000), 0);
	ck_assert_double_eq(missed(10, BASE + 64 * PERIOD * LINE, 1000), 0);
	ck_assert_double_eq(missed(10, BASE + 32 * LINE, 179), 0);
}
END_TEST

START_TEST(a_line_that_the_sampler_uses_alone_is_its_own)
{
	struct transfer_config c = config(TRANSFER_CHAIN);

	c.slots = 2;
	for (uint32_t other = 0; other < 2; other++) {
		struct hand *h = start(c, 1);

		sample(h, 1, word(32, 1, ACCESS_LOAD), 90);
		h->delay = 10;
		sample(h, 0, word(0, 1, ACCESS_STORE), 100);
		trap(h, 0, word(0, 1, ACCESS_LOAD), 200);
		trap(h, 0, word(0, 1, ACCESS_STORE), 300);
		if (other)
			trap(h, 1, word(0, 1, ACCESS_LOAD), 310);
		sample(h, 0, word(2, 1, ACCESS_STORE), 1000);
		ck_assert_double_eq(finish(h).missed, other * PERIOD);
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_own");
	TCase *tc = tcase_create("transfer_own");

	tcase_add_loop_test(
		tc, a_store_without_a_chain_counts_for_its_own_epoch, 0, 3);
	tcase_add_test(tc, the_sampler_is_armed_at_once_and_ends_its_epoch);
	tcase_add_test(tc,
		       armed_at_once_the_end_of_a_line_in_use_counts_by_itself);
	tcase_add_test(
		tc, what_others_may_do_before_they_are_armed_is_told_as_missed);
	tcase_add_test(tc, a_line_that_the_sampler_uses_alone_is_its_own);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
