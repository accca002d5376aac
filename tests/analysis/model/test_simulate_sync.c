/* SPDX-License-Identifier: MIT */
/*
 * test_simulate_sync - each synchronization event of a trace against a timeline
 * that was worked out by hand
 *
 * Threads add to a register again and again: one addition, one cycle. Times are
 * in units of 2000 additions, and must be within 1 % and a tenth of a unit,
 * which leaves room for the first misses.
 */
#include <math.h>

#include "analysis/model/simulate.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	UNIT = 2000,
	BLOCK = 100, /* additions of a block */
	CODE = 0x401000,
	MUTEX = 0x5000,
	COND = 0x6000,
	LAST = 0x401000 + 3 * (BLOCK - 1), /* address of a block's last one */
};

static struct fake_trace fake;
static struct machine machine;
static struct simulated s;
static char error[MACHINE_ERROR_BYTES], path[128];

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	ck_assert(!machine_read(&machine, "golden-c3", error));
	machine.sync_call = 0;
	machine.memory_ns = 1;
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < BLOCK; i++)
		fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	memset(&s, 0, sizeof(s));
}

static void end(void)
{
	simulated_release(&s);
	fake_trace_release(&fake);
	sandbox_teardown();
}

static void work(int thread, int units)
{
	for (int i = 0; i < units * UNIT / BLOCK; i++)
		fake_trace_run(&fake, thread, 0);
}

static void event(int thread, int kind, uint64_t object, uint64_t argument)
{
	fake_trace_event(&fake, thread, (enum trace_event_kind)kind, object,
			 argument);
}

static void is_created(int thread)
{
	event(thread, TRACE_BEGIN, 0, 0);
}

static int simulate_fake(void)
{
	struct trace t;
	int err;

	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	err = simulate(&s, &t, &machine, error);
	trace_close(&t);
	return err;
}

static void run(void)
{
	int err = simulate_fake();

	ck_assert_msg(!err, "%s", error);
	for (size_t i = 0; i < s.threads; i++) {
		double sum = 0;

		for (int k = 0; k < CPI_COMPONENTS; k++)
			sum += s.thread[i].stack.cycles[k];
		ck_assert_double_eq_tol(sum, (double)s.thread[i].cycles, 0.01);
	}
}

static void is_near(double cycles, double units, const char *what)
{
	ck_assert_msg(fabs(cycles / UNIT - units) <= 0.01 * units + 0.1,
		      "%s: %.3f units, not %.3f", what, cycles / UNIT, units);
}

/* Thread @i begins and ends then, and waits so long. */
static void check(int i, double start, double finish, double waited)
{
	const struct simulated_thread *t = &s.thread[i];

	is_near((double)t->start, start, "start");
	is_near((double)(t->start + t->cycles), finish, "end");
	is_near(t->stack.cycles[CPI_SYNC], waited, "sync");
}

static void fails(const char *words)
{
	ck_assert(simulate_fake());
	ck_assert_msg(strstr(error, words), "'%s' is not in '%s'", words,
		      error);
}

START_TEST(a_created_thread_begins_then_and_a_join_waits)
{
	work(0, 100);
	event(0, TRACE_CREATE, 1, 0);
	work(0, 50);
	event(0, TRACE_JOIN, 1, 0);
	work(0, 20);
	is_created(1);
	work(1, 200);
	event(1, TRACE_EXIT, 0, 0);
	run();
	check(1, 100, 300, 0);
	check(0, 0, 320, 150);
}
END_TEST

START_TEST(threads_that_nobody_creates_begin_together)
{
	work(0, 100);
	work(1, 200);
	run();
	check(0, 0, 100, 0);
	check(1, 0, 200, 0);
}
END_TEST

START_TEST(a_lock_is_had_by_one_after_the_other)
{
	for (int i = 0; i < 3; i++) {
		work(i, 20 - 5 * i); /* thread 2 is first, then 1 */
		event(i, TRACE_LOCK, MUTEX, 0);
		work(i, 100);
		event(i, TRACE_UNLOCK, MUTEX, 0);
		work(i, 50);
	}
	run();
	check(2, 0, 160, 0);
	check(1, 0, 260, 95);  /* 15 to 110 */
	check(0, 0, 360, 190); /* 20 to 210 */
}
END_TEST

START_TEST(readers_read_together)
{
	for (int i = 0; i < 3; i++) {
		work(i, 10 * i);
		event(i, i ? TRACE_READ_LOCK : TRACE_LOCK, MUTEX, 0);
		work(i, 100);
		event(i, TRACE_UNLOCK, MUTEX, 0);
	}
	run();
	check(0, 0, 100, 0);
	check(1, 0, 200, 90);
	check(2, 0, 200, 80);
}
END_TEST

START_TEST(a_barrier_waits_for_the_last)
{
	for (int i = 0; i < 4; i++) {
		work(i, 100 + 10 * i);
		event(i, TRACE_BARRIER, MUTEX, 4);
		work(i, 10 * (i + 1));
		event(i, TRACE_BARRIER, MUTEX, 4);
	}
	run();
	for (int i = 0; i < 4; i++)
		check(i, 0, 170, 170 - (100 + 10 * i) - 10 * (i + 1));
}
END_TEST

/* A consumer that waits in the 30th unit, and a producer. */
static void wait_and_signal(int before_signal, uint64_t pair)
{
	work(0, 20);
	event(0, TRACE_LOCK, MUTEX, 0);
	work(0, 10);
	event(0, TRACE_PAIR, pair, 0);
	event(0, TRACE_COND_WAIT, COND, MUTEX);
	work(0, 5);
	event(0, TRACE_UNLOCK, MUTEX, 0);
	work(1, before_signal);
	event(1, TRACE_LOCK, MUTEX, 0);
	work(1, 10);
	event(1, TRACE_COND_SIGNAL, COND, 1);
	work(1, 10);
	event(1, TRACE_UNLOCK, MUTEX, 0);
}

START_TEST(a_wait_ends_with_its_signal_and_has_the_mutex)
{
	wait_and_signal(100, 1);
	run();
	check(1, 0, 120, 0);
	check(0, 0, 125, 90);
}
END_TEST

START_TEST(a_signal_before_its_wait_is_not_lost)
{
	wait_and_signal(1, 1);
	run();
	/* the producer has the mutex from 1 to 21, the consumer's wait has
	 * nothing to wait for */
	check(1, 0, 21, 0);
	check(0, 0, 36, 1);
}
END_TEST

START_TEST(a_wait_that_ran_out_of_time_takes_none)
{
	wait_and_signal(100, 0);
	run();
	check(0, 0, 35, 0);
}
END_TEST

START_TEST(a_broadcast_ends_all_waits)
{
	for (int i = 0; i < 3; i++) {
		work(i, 10 * (i + 1));
		event(i, TRACE_LOCK, MUTEX, 0);
		event(i, TRACE_PAIR, 7, 0);
		event(i, TRACE_COND_WAIT, COND, MUTEX);
		work(i, 20); /* one after the other, with the mutex */
		event(i, TRACE_UNLOCK, MUTEX, 0);
	}
	work(3, 100);
	event(3, TRACE_COND_BROADCAST, COND, 7);
	run();
	check(0, 0, 120, 90);
	check(1, 0, 140, 100);
	check(2, 0, 160, 110);
}
END_TEST

START_TEST(a_signal_of_an_unknown_wait_is_kept)
{
	work(0, 50);
	event(0, TRACE_COND_WAIT, COND, 0);
	work(0, 10);
	event(0, TRACE_COND_WAIT, COND, 0);
	work(1, 10);
	event(1, TRACE_COND_SIGNAL, COND, 0);
	work(1, 90);
	event(1, TRACE_COND_SIGNAL, COND, 0);
	run();
	check(0, 0, 100, 40);
}
END_TEST

START_TEST(a_semaphore_counts_from_its_first_value)
{
	event(0, TRACE_SEM_INIT, COND, 1);
	for (int i = 0; i < 3; i++) {
		work(0, 10);
		event(0, TRACE_SEM_WAIT, COND, 0);
	}
	work(1, 100);
	event(1, TRACE_SEM_POST, COND, 0);
	event(1, TRACE_SEM_POST, COND, 0);
	run();
	check(0, 0, 110, 80); /* waits from 20 to 100 */
}
END_TEST

START_TEST(a_release_is_waited_for)
{
	work(0, 10);
	event(0, TRACE_AWAIT, COND, 3);
	work(0, 10);
	event(0, TRACE_AWAIT, COND, 2); /* that came before */
	work(1, 40);
	event(1, TRACE_SET, COND, 2);
	work(1, 60);
	event(1, TRACE_SET, COND, 3);
	run();
	check(0, 0, 110, 90);
}
END_TEST

START_TEST(calls_and_wakeups_take_their_cycles)
{
	machine.sync_call = 10 * UNIT;
	machine.sync_wake = 30 * UNIT;
	for (int i = 0; i < 2; i++) {
		work(i, 100 * (i + 1));
		event(i, TRACE_LOCK, MUTEX, 0);
		work(i, 100);
		event(i, TRACE_UNLOCK, MUTEX, 0);
	}
	work(2, 150);
	event(2, TRACE_LOCK, MUTEX, 0);
	event(2, TRACE_UNLOCK, MUTEX, 0);
	run();
	check(0, 0, 220, 20);
	/* comes at 160, has the lock from 220 on, and runs 30 later */
	check(2, 0, 260, 110);
	/* comes at 210; has it from 260 on */
	check(1, 0, 400, 100);
}
END_TEST

START_TEST(events_outside_the_region_take_no_time)
{
	machine.sync_call = 10 * UNIT;
	work(0, 10);
	event(0, TRACE_LOCK | TRACE_OUTSIDE, MUTEX, 0);
	event(0, TRACE_UNLOCK | TRACE_OUTSIDE, MUTEX, 0);
	work(0, 10);
	event(0, TRACE_CREATE | TRACE_OUTSIDE, 1, 0);
	is_created(1);
	work(1, 10);
	run();
	check(0, 0, 20, 0);
	check(1, 20, 30, 0);
}
END_TEST

START_TEST(threads_wait_for_cores_in_their_order)
{
	machine.cores = 2;
	for (int i = 0; i < 3; i++) {
		work(i, 100 + 10 * i);
		event(i, TRACE_BARRIER, MUTEX, 3);
		work(i, 100);
	}
	run();
	/* 2 has the core of 0 from 100 to 320; from 220 on 0 has that of 1 */
	check(2, 0, 320, 100);
	check(0, 0, 320, 120);
	check(1, 0, 420, 210);
	ck_assert_uint_eq(s.cores, 2);
}
END_TEST

START_TEST(a_thread_with_events_alone_is_not_listed)
{
	event(0, TRACE_CREATE, 1, 0);
	event(0, TRACE_JOIN, 1, 0);
	is_created(1);
	work(1, 10);
	run();
	ck_assert_uint_eq(s.threads, 1);
	ck_assert_uint_eq(s.thread[0].id, 1);
}
END_TEST

START_TEST(a_deadlock_names_event_thread_and_instruction)
{
	char words[200];

	for (int i = 0; i < 2; i++) {
		event(i, TRACE_LOCK, MUTEX + i, 0);
		work(i, 10);
		event(i, TRACE_LOCK, MUTEX + !i, 0);
	}
	snprintf(words, sizeof(words),
		 "deadlock: thread 0 at instruction 0x%x waits for lock 0x%x, "
		 "thread 1 at instruction 0x%x waits for lock 0x%x",
		 LAST, MUTEX + 1, LAST, MUTEX);
	fails(words);
}
END_TEST

START_TEST(a_lost_wakeup_names_event_thread_and_instruction)
{
	char words[200];

	work(0, 1);
	event(0, TRACE_PAIR, 1, 0);
	event(0, TRACE_COND_WAIT, COND, 0);
	work(1, 1);
	snprintf(words, sizeof(words),
		 "lost wakeup: thread 0 at instruction 0x%x waits in a "
		 "condition wait of 0x%x",
		 LAST, COND);
	fails(words);
}
END_TEST

START_TEST(the_instruction_is_the_call_and_not_the_jump_behind_it)
{
	fake_trace_block(&fake, 0x402000);
	fake_trace_insn(&fake, "\xe8\xf0\x00\x00\x00", 5); /* call */
	fake_trace_block(&fake, 0x4020f5);
	fake_trace_insn(&fake, "\xff\x25\x00\x00\x00\x00", 6); /* jmp */
	fake_trace_run(&fake, 0, 1);
	fake_trace_run(&fake, 0, 2);
	event(0, TRACE_AWAIT, COND, 1);
	fails("thread 0 at instruction 0x402000 waits");
}
END_TEST

START_TEST(an_unbalanced_barrier_names_event_thread_and_instruction)
{
	char words[200];

	work(0, 1);
	work(5, 1);
	event(5, TRACE_BARRIER, COND, 2);
	snprintf(words, sizeof(words),
		 "unbalanced barrier: thread 5 at instruction 0x%x waits in a "
		 "barrier of 0x%x",
		 LAST, COND);
	fails(words);
}
END_TEST

START_TEST(a_trace_cut_short_says_so)
{
	work(0, 1);
	event(0, TRACE_AWAIT, COND, 4);
	work(0, 1);
	fake.cut_short = true;
	fails("the trace was cut short: lost wakeup: thread 0");
}
END_TEST

START_TEST(a_thread_that_is_never_created_is_told)
{
	work(0, 1);
	is_created(3);
	work(3, 1);
	fails("thread 3 is never created");
}
END_TEST

START_TEST(a_thread_whose_creation_was_cut_off_begins_last)
{
	work(0, 100);
	is_created(3);
	work(3, 10);
	fake.cut_short = true;
	run();
	check(1, 100, 110, 0);
}
END_TEST

START_TEST(events_that_cannot_be_are_refused)
{
	work(0, 1);
	event(0, TRACE_BARRIER, COND, 0);
	fails("barrier of no threads");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulate_sync");
	TCase *t = tcase_create("simulate_sync");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, a_created_thread_begins_then_and_a_join_waits);
	tcase_add_test(t, threads_that_nobody_creates_begin_together);
	tcase_add_test(t, a_lock_is_had_by_one_after_the_other);
	tcase_add_test(t, readers_read_together);
	tcase_add_test(t, a_barrier_waits_for_the_last);
	tcase_add_test(t, a_wait_ends_with_its_signal_and_has_the_mutex);
	tcase_add_test(t, a_signal_before_its_wait_is_not_lost);
	tcase_add_test(t, a_wait_that_ran_out_of_time_takes_none);
	tcase_add_test(t, a_broadcast_ends_all_waits);
	tcase_add_test(t, a_signal_of_an_unknown_wait_is_kept);
	tcase_add_test(t, a_semaphore_counts_from_its_first_value);
	tcase_add_test(t, a_release_is_waited_for);
	tcase_add_test(t, calls_and_wakeups_take_their_cycles);
	tcase_add_test(t, events_outside_the_region_take_no_time);
	tcase_add_test(t, threads_wait_for_cores_in_their_order);
	tcase_add_test(t, a_thread_with_events_alone_is_not_listed);
	tcase_add_test(t, a_deadlock_names_event_thread_and_instruction);
	tcase_add_test(t, a_lost_wakeup_names_event_thread_and_instruction);
	tcase_add_test(
		t, an_unbalanced_barrier_names_event_thread_and_instruction);
	tcase_add_test(t,
		       the_instruction_is_the_call_and_not_the_jump_behind_it);
	tcase_add_test(t, a_trace_cut_short_says_so);
	tcase_add_test(t, a_thread_that_is_never_created_is_told);
	tcase_add_test(t, a_thread_whose_creation_was_cut_off_begins_last);
	tcase_add_test(t, events_that_cannot_be_are_refused);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
