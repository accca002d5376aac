/* SPDX-License-Identifier: MIT */
/*
 * test_comm_expiry - how long entries and watchpoints live, by the one rule
 * that sources set (comm_set_expiry)
 */
#include <check.h>

#include "comm_hand.h"
#include "tests/run_suite.h"

enum {
	INTERVAL = 100, /* ticks from a sample to the next */
	STORED = 1000,
	SLOW = 4, /* weight of a sample at the low rate */
};

/* Thread 0 stores at STORED; thread 1 has sampled since, and loads @age later.
 */
static uint32_t met_after(uint64_t age)
{
	set_up();
	w.comm.registers = 0;
	comm_set_expiry(&w.comm, INTERVAL);
	store(0, here, STORED);
	load(1, there, STORED + 1);
	return load(1, here, STORED + age);
}

START_TEST(an_entry_of_the_board_lives_two_sampling_intervals)
{
	ck_assert_uint_eq(met_after(2 * INTERVAL), 1);
	ck_assert_uint_eq(met_after(2 * INTERVAL + 1), 0);
}
END_TEST

/*
 * Thread 1 arms on a line of thread 0's; its next sample is @age later. Returns
 * how often it has armed: again, on the same entry, if the first watch was old.
 */
static int arms_after(uint64_t age)
{
	set_up();
	comm_set_expiry(&w.comm, INTERVAL);
	store(0, here, STORED);
	load(1, there, STORED + 1);
	ck_assert_int_eq(w.hand[1].arms, 1);
	load(1, there, STORED + 1 + age);
	return w.hand[1].arms;
}

START_TEST(an_armed_watchpoint_lives_one_sampling_interval)
{
	ck_assert_int_eq(arms_after(INTERVAL), 1);
	ck_assert_int_eq(arms_after(INTERVAL + 1), 2);
}
END_TEST

START_TEST(an_interval_without_end_makes_nothing_expire)
{
	set_up();
	comm_set_expiry(&w.comm, UINT64_MAX);
	ck_assert_uint_eq(comm_expiry(&w.comm), UINT64_MAX);
}
END_TEST

START_TEST(a_detection_weighs_what_its_sample_does)
{
	set_up();
	store(0, here, STORED);
	ck_assert_uint_eq(load(1, here, STORED + 1), 1);
	ck_assert_uint_eq(w.last.weight, 1);
	set_up();
	w.hand[1].comm.weight = SLOW;
	store(0, here, STORED);
	ck_assert_uint_eq(load(1, here, STORED + 1), 1);
	ck_assert_uint_eq(w.last.weight, SLOW);
}
END_TEST

/* The rate is @before until just @after the store, then @now; see met_after. */
static uint32_t met_at_rates(uint32_t before, uint32_t now, uint64_t age)
{
	set_up();
	w.comm.registers = 0;
	comm_set_rate(&w.comm, before, 1);
	store(0, here, STORED);
	load(1, there, STORED + 1);
	comm_set_rate(&w.comm, now, STORED + 1);
	load(1, there, STORED + age - 1);
	return load(1, here, STORED + age);
}

START_TEST(an_entry_lives_by_the_rate_at_which_it_was_published)
{
	ck_assert_uint_eq(met_at_rates(SLOW, SLOW, SLOW * EXPIRY), 1);
	ck_assert_uint_eq(met_at_rates(SLOW, SLOW, SLOW * EXPIRY + 1), 0);
	ck_assert_uint_eq(met_at_rates(1, SLOW, EXPIRY), 1);
	ck_assert_uint_eq(met_at_rates(1, SLOW, EXPIRY + 1), 0);
	ck_assert_uint_eq(met_at_rates(SLOW, 1, SLOW * EXPIRY), 1);
	ck_assert_uint_eq(met_at_rates(SLOW, 1, SLOW * EXPIRY + 1), 0);
	ck_assert_uint_eq(met_at_rates(1, 1, EXPIRY + 1), 0);
}
END_TEST

START_TEST(a_trap_weighs_what_the_sample_that_armed_it_does)
{
	set_up();
	store(0, here, STORED);
	w.hand[1].comm.weight = SLOW;
	load(1, there, STORED + 1);
	ck_assert_int_eq(w.hand[1].arms, 1);
	w.hand[1].comm.weight = 1; /* the next sample's */
	ck_assert_uint_eq(trap(1, 0, NULL, STORED + 2), 1);
	ck_assert_uint_eq(w.last.weight, SLOW);
}
END_TEST

START_TEST(a_trap_that_the_full_rate_would_not_see_does_not_count)
{
	set_up();
	store(0, here, STORED);
	w.hand[1].comm.weight = SLOW;
	load(1, there, STORED + 1);
	ck_assert_int_gt(w.hand[1].n, 0);
	comm_trap_late(&w.comm, &w.hand[1].comm);
	ck_assert_uint_eq(w.detections, 0);
	ck_assert_uint_eq(w.lost[LOSS_TRAP_STALE], 1);
	ck_assert_int_eq(w.hand[1].n, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("comm_expiry");
	TCase *t = tcase_create("rule");

	tcase_add_test(t, an_entry_of_the_board_lives_two_sampling_intervals);
	tcase_add_test(t, an_armed_watchpoint_lives_one_sampling_interval);
	tcase_add_test(t, an_interval_without_end_makes_nothing_expire);
	tcase_add_test(t, a_detection_weighs_what_its_sample_does);
	tcase_add_test(t, an_entry_lives_by_the_rate_at_which_it_was_published);
	tcase_add_test(t, a_trap_weighs_what_the_sample_that_armed_it_does);
	tcase_add_test(t,
		       a_trap_that_the_full_rate_would_not_see_does_not_count);
	suite_add_tcase(s, t);
	return run_suite(s);
}
