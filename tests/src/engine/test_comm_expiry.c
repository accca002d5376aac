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

int main(void)
{
	Suite *s = suite_create("comm_expiry");
	TCase *t = tcase_create("rule");

	tcase_add_test(t, an_entry_of_the_board_lives_two_sampling_intervals);
	tcase_add_test(t, an_armed_watchpoint_lives_one_sampling_interval);
	tcase_add_test(t, an_interval_without_end_makes_nothing_expire);
	suite_add_tcase(s, t);
	return run_suite(s);
}
