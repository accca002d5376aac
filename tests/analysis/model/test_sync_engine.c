/* SPDX-License-Identifier: MIT */
/*
 * test_sync_engine - threads on cores, and what cannot go on
 */
#include "tests/fake/fake_epochs.h"
#include "tests/run_suite.h"

START_TEST(more_threads_than_cores_queue)
{
	uint32_t t[3] = { add_thread(true), add_thread(true),
			  add_thread(true) };

	options.cores = 2;
	for (int i = 0; i < 3; i++) {
		add(t[i], 10, SYNC_BARRIER, 64)->argument = 3;
		add_end(t[i], 10);
	}
	run();
	/* 0 and 1 come at 10; 2 runs from 10 to 20 on core 0, and goes on
	 * there. 0 was first: it has core 1. 1 waits for a core. */
	check(t[2], 0, 30, 0);
	ck_assert_double_eq(replay.time[2].queued, 10);
	check(t[0], 0, 30, 10);
	check(t[1], 0, 40, 10);
	ck_assert_double_eq(replay.time[1].queued, 10);
	ck_assert_double_eq(replay.total, 40);
}
END_TEST

START_TEST(a_waiting_thread_gives_its_core_away)
{
	uint32_t a = add_thread(true), b = add_thread(false);

	options.cores = 1;
	add(a, 10, SYNC_CREATE, b);
	add(a, 5, SYNC_JOIN, b);
	add_end(a, 1);
	add_end(b, 7);
	run();
	check(b, 10, 22, 0);
	ck_assert_double_eq(replay.time[b].queued, 5);
	check(a, 0, 23, 7);
	ck_assert_uint_eq(replay.intervals, 3);
	ck_assert_uint_eq(replay.interval[1].thread, b);
	ck_assert_double_eq(replay.interval[1].begin, 15);
	ck_assert_double_eq(replay.interval[1].end, 22);
}
END_TEST

START_TEST(a_deadlock_names_threads_locks_and_instructions)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_LOCK, 0x40);
	add(a, 5, SYNC_LOCK, 0x80);
	add(b, 1, SYNC_LOCK, 0x80);
	add(b, 5, SYNC_LOCK, 0x40);
	check_fails("deadlock: ");
	ck_assert_str_eq(error,
			 "deadlock: thread 0 at instruction 0x1002 waits for "
			 "lock 0x80, thread 1 at instruction 0x1002 waits for "
			 "lock 0x40");
}
END_TEST

/* Its last wait on a condition, which nothing ended, is not in the trace. */
START_TEST(a_lock_kept_at_the_end_is_free_then)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add_end(a, 19); /* at 20 */
	add(b, 5, SYNC_LOCK, 64);
	add(b, 2, SYNC_UNLOCK, 64);
	add_end(b, 1);
	add(c, 30, SYNC_LOCK, 64);
	add_end(c, 1);
	run();
	check(b, 0, 23, 15);
	check(c, 0, 31, 0);
}
END_TEST

static void runs(void *data, uint32_t t, uint32_t core, double time)
{
}

START_TEST(a_lock_kept_where_a_trace_was_cut_short_is_told)
{
	const struct sync_event lock = { .kind = SYNC_LOCK, .object = 64 };
	const struct sync_event over = { .kind = SYNC_EXIT };
	const struct sync_hooks hooks = { .run = runs };
	struct sync_engine *e = sync_engine_new(2, 2, 0, &hooks);

	sync_engine_start(e, 0, 0);
	sync_engine_start(e, 1, 0);
	ck_assert(!sync_engine_event(e, 0, &lock, 1, error));
	ck_assert(!sync_engine_event(e, 0, &over, 2, error));
	ck_assert(!sync_engine_event(e, 1, &lock, 5, error));
	ck_assert(!sync_engine_go_before(e, false));
	ck_assert(sync_engine_check_end(e, error));
	ck_assert_str_eq(error, "deadlock: thread 1 waits for lock 0x40, which "
				"thread 0 had at its end");
	ck_assert(sync_engine_go_before(e, true));
	sync_engine_free(e);
}
END_TEST

START_TEST(a_lost_wakeup_is_told)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_COND_WAIT, 0x80)->pair = 1;
	add(b, 5, SYNC_COND_SIGNAL, 0x80)->pair = 2;
	check_fails("lost wakeup: thread 0 at instruction 0x1001 waits in a "
		    "condition wait of 0x80");
}
END_TEST

START_TEST(an_unbalanced_barrier_is_told)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_BARRIER, 0x80)->argument = 2;
	add(b, 1, SYNC_JOIN, 0);
	check_fails("unbalanced barrier: thread 0 at instruction 0x1001 waits "
		    "in a barrier of 0x80, and fewer than 2 threads came");
}
END_TEST

/* It would not have joined them if they had not had it before. */
START_TEST(who_is_joined_by_the_owner_had_the_lock_before_it)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 4, SYNC_LOCK, 64);
	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_JOIN, b); /* at 6 */
	add(a, 1, SYNC_UNLOCK, 64);
	add(a, 1, SYNC_UNLOCK, 64);
	add_end(a, 1);
	add(b, 10, SYNC_LOCK, 64);
	add(b, 3, SYNC_UNLOCK, 64);
	add_end(b, 4); /* at 17 */
	add(c, 8, SYNC_LOCK, 64);
	add_end(c, 5);
	run();
	check(b, 0, 17, 0);
	check(a, 0, 20, 11);
	check(c, 0, 24, 11); /* it is a's again until 19 */
}
END_TEST

START_TEST(who_lets_the_owner_go_on_had_the_lock_before_it)
{
	static const enum sync_kind waits[] = { SYNC_BARRIER, SYNC_AWAIT,
						SYNC_COND_WAIT, SYNC_SEM_WAIT };
	static const enum sync_kind ends[] = { SYNC_BARRIER, SYNC_SET,
					       SYNC_COND_SIGNAL,
					       SYNC_SEM_POST };

	for (int i = 0; i < 4; i++) {
		uint32_t a, b;
		struct sync_event *wait, *other;

		begin();
		a = add_thread(true);
		b = add_thread(true);
		add(a, 1, SYNC_LOCK, 64);
		wait = add(a, 1, waits[i], 128);
		add(a, 1, SYNC_UNLOCK, 64);
		add_end(a, 1);
		add(b, 5, SYNC_LOCK, 64);
		/* the last one unlocks after the other has gone on */
		if (i < 3)
			add(b, 3, SYNC_UNLOCK, 64);
		other = add(b, 2, ends[i], 128);
		if (i == 3)
			add(b, 3, SYNC_UNLOCK, 64);
		add_end(b, 5);
		if (waits[i] == SYNC_BARRIER)
			wait->argument = other->argument = 2;
		else if (waits[i] != SYNC_SEM_WAIT)
			wait->pair = other->pair = 1;
		run();
		check(b, 0, 15, 0);
		check(a, 0, i < 3 ? 12 : 9, i < 3 ? 8 : 5);
		end();
	}
}
END_TEST

START_TEST(of_those_that_wait_for_a_lock_the_first_had_it_before)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_AWAIT, 128)->pair = 1;
	add(a, 1, SYNC_UNLOCK, 64);
	add_end(a, 1);
	add(b, 10, SYNC_LOCK, 64);
	add(b, 1, SYNC_JOIN, c); /* c waited for it if it had the lock */
	add(b, 1, SYNC_UNLOCK, 64);
	add_end(b, 1);
	add(c, 5, SYNC_LOCK, 64);
	add(c, 1, SYNC_UNLOCK, 64);
	add(c, 1, SYNC_SET, 128)->pair = 1;
	add_end(c, 1);
	run();
	check(c, 0, 8, 0);
	check(a, 0, 9, 5);
	check(b, 0, 13, 0);
}
END_TEST

/* c had it first, then b, then a. */
START_TEST(a_lock_that_is_lent_is_lent_on)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_JOIN, b);
	add(a, 1, SYNC_UNLOCK, 64); /* at 8 */
	add_end(a, 1);
	add(b, 2, SYNC_LOCK, 64); /* a lends it */
	add(b, 1, SYNC_AWAIT, 128)->pair = 1;
	add(b, 1, SYNC_UNLOCK, 64); /* at 6 */
	add_end(b, 1);
	add(c, 3, SYNC_LOCK, 64); /* b lends it */
	add(c, 1, SYNC_UNLOCK, 64);
	add(c, 1, SYNC_SET, 128)->pair = 1; /* at 5 */
	add_end(c, 1);
	run();
	check(c, 0, 6, 0);
	check(b, 0, 7, 2);
	check(a, 0, 9, 5);
}
END_TEST

/* b has it before a, and lets a go on while it has it. */
START_TEST(who_lent_a_lock_may_lock_it_again)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_AWAIT, 128)->pair = 1;
	add(a, 1, SYNC_LOCK, 64);    /* at 4: lent, and its own */
	add(a, 10, SYNC_UNLOCK, 64); /* once of twice */
	add(a, 10, SYNC_UNLOCK, 64); /* at 24 */
	add_end(a, 1);
	add(b, 2, SYNC_LOCK, 64); /* a lends it */
	add(b, 1, SYNC_SET, 128)->pair = 1;
	add(b, 5, SYNC_UNLOCK, 64); /* at 8 */
	add_end(b, 1);
	add(c, 10, SYNC_LOCK, 64);
	add_end(c, 1);
	run();
	check(b, 0, 9, 0);
	check(a, 0, 25, 1);
	check(c, 0, 25, 14);
}
END_TEST

START_TEST(who_lent_a_lock_may_unlock_it_first)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_AWAIT, 128)->pair = 1;
	add(a, 1, SYNC_UNLOCK, 64); /* at 4 */
	add_end(a, 1);
	add(b, 2, SYNC_LOCK, 64); /* a lends it */
	add(b, 1, SYNC_SET, 128)->pair = 1;
	add(b, 15, SYNC_UNLOCK, 64); /* at 18: nobody has it */
	add_end(b, 1);
	add(c, 10, SYNC_LOCK, 64);
	add_end(c, 1);
	run();
	check(a, 0, 5, 1);
	check(b, 0, 19, 0);
	check(c, 0, 19, 8);
}
END_TEST

/* As long as another thread can go on: c comes sooner than d. */
START_TEST(a_lock_that_is_lent_is_not_lent_on_in_vain)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true), d = add_thread(true),
		 e = add_thread(true);

	add(a, 1, SYNC_LOCK, 64);
	add(a, 1, SYNC_JOIN, b);
	add(a, 1, SYNC_UNLOCK, 64); /* at 16 */
	add_end(a, 1);
	add(b, 2, SYNC_LOCK, 64); /* a lends it */
	add(b, 1, SYNC_AWAIT, 128)->pair = 1;
	add(b, 1, SYNC_UNLOCK, 64); /* at 14 */
	add_end(b, 1);
	add(c, 3, SYNC_LOCK, 64); /* sooner than d, which goes first */
	add(c, 1, SYNC_UNLOCK, 64);
	add_end(c, 1);
	add(d, 10, SYNC_LOCK, 256); /* e lends it */
	add(d, 1, SYNC_SET, 320)->pair = 2;
	add(d, 1, SYNC_UNLOCK, 256);
	add(d, 1, SYNC_SET, 128)->pair = 1; /* at 13 */
	add_end(d, 1);
	add(e, 1, SYNC_LOCK, 256);
	add(e, 1, SYNC_AWAIT, 320)->pair = 2;
	add(e, 5, SYNC_UNLOCK, 256);
	add_end(e, 1);
	run();
	check(d, 0, 14, 0);
	check(e, 0, 17, 9);
	check(b, 0, 15, 10);
	check(a, 0, 17, 13);
	check(c, 0, 18, 13);
}
END_TEST

START_TEST(no_reader_had_a_lock_before_its_writer)
{
	uint32_t a = add_thread(true), b = add_thread(true);

	add(a, 1, SYNC_READ_LOCK, 0x40);
	add(a, 1, SYNC_JOIN, b);
	add(b, 5, SYNC_LOCK, 0x40);
	check_fails("deadlock: thread 1 at instruction 0x1001 waits for lock "
		    "0x40, which readers had at their end");
}
END_TEST

/* A signal wakes it at 6, and it runs from 8 on. */
START_TEST(who_had_the_lock_before_is_woken_no_sooner)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	options.wake = 2;
	add(a, 5, SYNC_LOCK, 64);
	add(a, 1, SYNC_JOIN, b);
	add(a, 1, SYNC_UNLOCK, 64);
	add_end(a, 1);
	add(b, 1, SYNC_LOCK, 64);
	add(b, 1, SYNC_COND_WAIT, 128)->argument = 64;
	add(b, 1, SYNC_UNLOCK, 64);
	add_end(b, 1);
	add(c, 6, SYNC_COND_SIGNAL, 128);
	add_end(c, 1);
	run();
	check(b, 0, 10, 6);
	check(a, 0, 14, 6);
}
END_TEST

START_TEST(threads_that_lock_in_two_orders_have_no_lock_before)
{
	uint32_t a = add_thread(true), b = add_thread(true),
		 c = add_thread(true);

	add(a, 1, SYNC_LOCK, 0x40);
	add(a, 5, SYNC_LOCK, 0x80);
	add(b, 1, SYNC_LOCK, 0x80);
	add(b, 5, SYNC_LOCK, 0x40);
	add(c, 1, SYNC_LOCK, 0xc0);
	add(c, 1, SYNC_JOIN, a);
	check_fails("deadlock: thread 0 at instruction 0x1002 waits for lock "
		    "0x80, thread 1 at instruction 0x1002 waits for lock 0x40");
}
END_TEST

START_TEST(an_event_that_cannot_be_is_refused)
{
	static const struct {
		struct sync_event event;
		const char *words;
	} bad[] = {
		{ { .kind = SYNC_CREATE, .object = 9 }, "not there" },
		{ { .kind = SYNC_CREATE, .object = 0 }, "there already" },
		{ { .kind = SYNC_JOIN, .object = 9 }, "not there" },
		{ { .kind = SYNC_JOIN, .object = 0 }, "of the thread itself" },
		{ { .kind = SYNC_BARRIER }, "barrier of no threads" },
		{ { .kind = SYNC_AWAIT }, "without a number" },
		{ { .kind = SYNC_SET, .pair = SYNC_PAIRS_MAX }, "too high" },
		{ { .kind = SYNC_KINDS }, "of an unknown kind" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		uint32_t a;

		begin();
		a = add_thread(true);
		*add(a, 1, SYNC_EXIT, 0) = bad[i].event;
		check_fails(bad[i].words);
		ck_assert(strstr(error, "thread 0, instruction 0x0: "));
		end();
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sync_engine");
	TCase *t = tcase_create("sync_engine");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(t, more_threads_than_cores_queue);
	tcase_add_test(t, a_waiting_thread_gives_its_core_away);
	tcase_add_test(t, a_deadlock_names_threads_locks_and_instructions);
	tcase_add_test(t, a_lock_kept_at_the_end_is_free_then);
	tcase_add_test(t, a_lock_kept_where_a_trace_was_cut_short_is_told);
	tcase_add_test(t, a_lost_wakeup_is_told);
	tcase_add_test(t, an_unbalanced_barrier_is_told);
	tcase_add_test(t, who_is_joined_by_the_owner_had_the_lock_before_it);
	tcase_add_test(t, who_lets_the_owner_go_on_had_the_lock_before_it);
	tcase_add_test(t,
		       of_those_that_wait_for_a_lock_the_first_had_it_before);
	tcase_add_test(t, a_lock_that_is_lent_is_lent_on);
	tcase_add_test(t, who_lent_a_lock_may_lock_it_again);
	tcase_add_test(t, who_lent_a_lock_may_unlock_it_first);
	tcase_add_test(t, a_lock_that_is_lent_is_not_lent_on_in_vain);
	tcase_add_test(t, no_reader_had_a_lock_before_its_writer);
	tcase_add_test(t, who_had_the_lock_before_is_woken_no_sooner);
	tcase_add_test(t, threads_that_lock_in_two_orders_have_no_lock_before);
	tcase_add_test(t, an_event_that_cannot_be_is_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
