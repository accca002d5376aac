/* SPDX-License-Identifier: MIT */
/*
 * test_sync_replay - each synchronization event against a timeline that was
 * worked out by hand
 */
#include "tests/fake/fake_epochs.h"
#include "tests/run_suite.h"

START_TEST(a_created_thread_starts_then_and_a_join_waits_for_its_end)
{
	uint32_t a = add_thread(true), b = add_thread(false);

	add(a, 10, SYNC_CREATE, b); /* at 10 */
	add(a, 5, SYNC_JOIN, b);    /* at 15, until 40 */
	add_end(a, 2);
	add_end(b, 30);
	run();
	check(a, 0, 42, 25);
	check(b, 10, 40, 0);
	ck_assert_double_eq(replay.total, 42);
}
END_TEST

START_TEST(a_join_of_an_ended_thread_does_not_wait)
{
	uint32_t a = add_thread(true), b = add_thread(false);

	add(a, 1, SYNC_CREATE, b);
	add(a, 50, SYNC_JOIN, b);
	add_end(a, 1);
	add_end(b, 30);
	run();
	check(a, 0, 52, 0);
	check(b, 1, 31, 0);
}
END_TEST

START_TEST(a_thread_that_nobody_creates_has_no_times)
{
	uint32_t a = add_thread(true), b = add_thread(false);

	add_end(a, 3);
	add_end(b, 30);
	run();
	check(a, 0, 3, 0);
	check(b, 0, 0, 0);
}
END_TEST

START_TEST(a_lock_goes_to_those_that_wait_in_their_order)
{
	uint32_t t[3] = { add_thread(true), add_thread(true),
			  add_thread(true) };

	/* come at 1, 3 and 2; each holds it for 10 */
	add(t[0], 1, SYNC_LOCK, 64);
	add(t[1], 3, SYNC_LOCK, 64);
	add(t[2], 2, SYNC_LOCK, 64);
	for (int i = 0; i < 3; i++) {
		add(t[i], 10, SYNC_UNLOCK, 64);
		add_end(t[i], 100);
	}
	run();
	check(t[0], 0, 111, 0);
	check(t[2], 0, 121, 9);  /* 2 to 11 */
	check(t[1], 0, 131, 18); /* 3 to 21 */
}
END_TEST

START_TEST(locks_of_other_addresses_do_not_wait)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add_end(a, 10);
	add(b, 2, SYNC_LOCK, 128);
	add_end(b, 10);
	run();
	check(a, 0, 11, 0);
	check(b, 0, 12, 0);
}
END_TEST

START_TEST(an_owner_may_lock_again)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_UNLOCK, 64);
	add(a, 10, SYNC_UNLOCK, 64); /* at 13 */
	add_end(a, 0);
	add(b, 2, SYNC_LOCK, 64);
	add_end(b, 5);
	run();
	check(b, 0, 18, 11);
}
END_TEST

START_TEST(the_literal_order_serves_an_earlier_call_later)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	/* a is first in the order of ids; its lock is at 5, that of b at 3 */
	add(a, 5, SYNC_LOCK, 64);
	add(a, 10, SYNC_UNLOCK, 64);
	add_end(a, 0);
	add(b, 3, SYNC_LOCK, 64);
	add(b, 10, SYNC_UNLOCK, 64);
	add_end(b, 0);
	run();
	check(b, 0, 13, 0);
	check(a, 0, 23, 8);
	sync_replay_release(&replay);
	options.literal = true;
	run();
	check(a, 0, 15, 0);
	check(b, 0, 25, 12); /* 3 to 15 */
}
END_TEST

START_TEST(readers_share_and_writers_do_not)
{
	uint32_t w = add_thread(true), r[2], x = add_thread(true);

	r[0] = add_thread(true);
	r[1] = add_thread(true);
	add(w, 1, SYNC_LOCK, 64);
	add(w, 9, SYNC_UNLOCK, 64); /* at 10 */
	add_end(w, 0);
	add(r[0], 2, SYNC_READ_LOCK, 64);
	add(r[0], 5, SYNC_UNLOCK, 64); /* 10 to 15 */
	add_end(r[0], 0);
	add(x, 3, SYNC_LOCK, 64);
	add(x, 4, SYNC_UNLOCK, 64); /* 17 to 21 */
	add_end(x, 0);
	add(r[1], 4, SYNC_READ_LOCK, 64);
	add(r[1], 7, SYNC_UNLOCK, 64); /* 10 to 17 */
	add_end(r[1], 0);
	run();
	check(w, 0, 10, 0);
	check(r[0], 0, 15, 8);
	check(r[1], 0, 17, 6);
	check(x, 0, 21, 14);
}
END_TEST

START_TEST(a_reader_does_not_wait_for_a_waiting_writer)
{
	uint32_t r[2] = { add_thread(true), add_thread(true) };
	uint32_t w = add_thread(true);

	add(r[0], 1, SYNC_READ_LOCK, 64);
	add(r[0], 9, SYNC_UNLOCK, 64);
	add_end(r[0], 0);
	add(w, 2, SYNC_LOCK, 64);
	add_end(w, 1);
	add(r[1], 3, SYNC_READ_LOCK, 64);
	add(r[1], 2, SYNC_UNLOCK, 64);
	add_end(r[1], 0);
	run();
	check(r[1], 0, 5, 0);
	check(w, 0, 11, 8);
}
END_TEST

START_TEST(a_barrier_lets_all_go_with_the_last_again_and_again)
{
	uint32_t t[3] = { add_thread(true), add_thread(true),
			  add_thread(true) };

	for (int i = 0; i < 3; i++) {
		add(t[i], 10 * (i + 1), SYNC_BARRIER, 64)->argument = 3;
		add(t[i], 5 * (3 - i), SYNC_BARRIER, 64)->argument = 3;
		add_end(t[i], 1);
	}
	run();
	check(t[0], 0, 46, 20); /* 10 to 30, then 45 */
	check(t[1], 0, 46, 15);
	check(t[2], 0, 46, 10);
}
END_TEST

START_TEST(a_wait_releases_the_mutex_and_takes_it_again)
{
	uint32_t c = add_thread(true), p = add_thread(true);

	add(c, 1, SYNC_LOCK, 64);
	add(c, 1, SYNC_COND_WAIT, 128)->argument = 64; /* at 2 */
	add(c, 3, SYNC_UNLOCK, 64);
	add_end(c, 0);
	add(p, 10, SYNC_LOCK, 64);        /* does not wait */
	add(p, 1, SYNC_COND_SIGNAL, 128); /* at 11 */
	add(p, 4, SYNC_UNLOCK, 64);       /* at 15: the waiter has it */
	add_end(p, 0);
	run();
	check(p, 0, 15, 0);
	check(c, 0, 18, 13);
}
END_TEST

START_TEST(a_signal_before_the_wait_is_kept)
{
	uint32_t c = add_thread(true), p = add_thread(true);

	add(c, 20, SYNC_COND_WAIT, 128);
	add(c, 1, SYNC_COND_WAIT, 128); /* the second signal */
	add_end(c, 1);
	add(p, 1, SYNC_COND_SIGNAL, 128);
	add(p, 49, SYNC_COND_SIGNAL, 128);
	add_end(p, 0);
	run();
	check(c, 0, 51, 29); /* 21 to 50 */
}
END_TEST

START_TEST(a_signal_ends_one_wait_and_a_broadcast_all)
{
	uint32_t c[3] = { add_thread(true), add_thread(true),
			  add_thread(true) };
	uint32_t p = add_thread(true);

	for (int i = 0; i < 3; i++) {
		add(c[i], 3 - i, SYNC_COND_WAIT, 128); /* at 3, 2, 1 */
		add_end(c[i], 0);
	}
	add(p, 10, SYNC_COND_SIGNAL, 128);
	add(p, 10, SYNC_COND_BROADCAST, 128);
	add_end(p, 0);
	run();
	check(c[2], 0, 10, 9);
	check(c[1], 0, 20, 18);
	check(c[0], 0, 20, 17);
}
END_TEST

START_TEST(a_pair_keeps_who_woke_whom)
{
	uint32_t c[2] = { add_thread(true), add_thread(true) };
	uint32_t p = add_thread(true);

	/* the first signal was for the second waiter */
	add(c[0], 1, SYNC_COND_WAIT, 128)->pair = 2;
	add_end(c[0], 0);
	add(c[1], 2, SYNC_COND_WAIT, 128)->pair = 1;
	add_end(c[1], 0);
	add(p, 10, SYNC_COND_SIGNAL, 128)->pair = 1;
	add(p, 10, SYNC_COND_SIGNAL, 128)->pair = 2;
	add(p, 10, SYNC_COND_SIGNAL, 128)->pair = 3; /* woke nobody */
	add_end(p, 0);
	run();
	check(c[0], 0, 20, 19);
	check(c[1], 0, 10, 8);
}
END_TEST

START_TEST(a_wait_that_ran_out_does_not_wait_but_takes_the_mutex_again)
{
	uint32_t a = add_thread(true), b = add_thread(true);
	struct sync_event *wait;

	add(a, 1, SYNC_LOCK, 64);
	wait = add(a, 4, SYNC_COND_WAIT, 128); /* at 5: b has waited since 2 */
	wait->argument = 64;
	wait->timeout = true;
	add_end(a, 1);
	add(b, 2, SYNC_LOCK, 64);
	add(b, 6, SYNC_UNLOCK, 64); /* at 11 */
	add_end(b, 0);
	run();
	check(b, 0, 11, 3);
	check(a, 0, 12, 6);
}
END_TEST

START_TEST(a_semaphore_counts)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_SEM_WAIT, 64)->argument = 2; /* it was 1 */
	add(a, 1, SYNC_SEM_WAIT, 64)->argument = 2; /* at 2, until 10 */
	add(a, 1, SYNC_SEM_WAIT, 64)->argument = 2; /* at 11: posted at 10.5 */
	add_end(a, 0);
	add(b, 10, SYNC_SEM_POST, 64)->argument = 2;
	add(b, 0.5, SYNC_SEM_POST, 64)->argument = 2;
	add_end(b, 0);
	run();
	check(a, 0, 11, 8);
}
END_TEST

START_TEST(a_semaphore_can_be_set)
{
	uint32_t a = add_thread(true);

	add(a, 1, SYNC_SEM_INIT, 64)->argument = 2;
	add(a, 1, SYNC_SEM_WAIT, 64);
	add(a, 1, SYNC_SEM_WAIT, 64);
	add_end(a, 1);
	run();
	check(a, 0, 4, 0);
}
END_TEST

START_TEST(an_await_waits_for_its_set_only)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_AWAIT, 64)->pair = 7;
	add(a, 30, SYNC_AWAIT, 64)->pair = 8; /* has come */
	add_end(a, 1);
	add(b, 5, SYNC_SET, 64)->pair = 9;
	add(b, 5, SYNC_SET, 64)->pair = 7; /* at 10 */
	add(b, 5, SYNC_SET, 64)->pair = 8;
	add_end(b, 0);
	run();
	check(a, 0, 41, 9);
}
END_TEST

START_TEST(calls_and_wakeups_take_their_time)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	options.call = 2;
	options.wake = 5;
	add(a, 1, SYNC_LOCK, 64);    /* 3 */
	add(a, 10, SYNC_UNLOCK, 64); /* 15 */
	add_end(a, 0);               /* 17 */
	add(b, 2, SYNC_LOCK, 64);    /* 4, until 15 + 5 */
	add_end(b, 1);               /* 23 */
	run();
	check(a, 0, 17, 0);
	check(b, 0, 23, 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sync_replay");
	TCase *t = tcase_create("sync_replay");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(
		t, a_created_thread_starts_then_and_a_join_waits_for_its_end);
	tcase_add_test(t, a_join_of_an_ended_thread_does_not_wait);
	tcase_add_test(t, a_thread_that_nobody_creates_has_no_times);
	tcase_add_test(t, a_lock_goes_to_those_that_wait_in_their_order);
	tcase_add_test(t, locks_of_other_addresses_do_not_wait);
	tcase_add_test(t, an_owner_may_lock_again);
	tcase_add_test(t, the_literal_order_serves_an_earlier_call_later);
	tcase_add_test(t, readers_share_and_writers_do_not);
	tcase_add_test(t, a_reader_does_not_wait_for_a_waiting_writer);
	tcase_add_test(t, a_barrier_lets_all_go_with_the_last_again_and_again);
	tcase_add_test(t, a_wait_releases_the_mutex_and_takes_it_again);
	tcase_add_test(t, a_signal_before_the_wait_is_kept);
	tcase_add_test(t, a_signal_ends_one_wait_and_a_broadcast_all);
	tcase_add_test(t, a_pair_keeps_who_woke_whom);
	tcase_add_test(
		t, a_wait_that_ran_out_does_not_wait_but_takes_the_mutex_again);
	tcase_add_test(t, a_semaphore_counts);
	tcase_add_test(t, a_semaphore_can_be_set);
	tcase_add_test(t, an_await_waits_for_its_set_only);
	tcase_add_test(t, calls_and_wakeups_take_their_time);
	suite_add_tcase(s, t);
	return run_suite(s);
}
