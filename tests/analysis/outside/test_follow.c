/* SPDX-License-Identifier: MIT */
/*
 * test_follow - threads and processes by the records of a kernel that we play
 *
 * The processes do not exist; the numbers are above what the kernel gives.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <sys/mman.h>

#include "perf_words.h"
#include "analysis/outside/follow.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

enum {
	PID = 0x7f000000,
	PERIOD = 5000000
};

static struct follow follow;
static struct clock_event events[3]; /* of three sets */

static void setup(void)
{
	sandbox_setup();
	memset(&follow, 0, sizeof(follow));
	follow.clocks.tick = PERIOD;
	follow.clocks.ticks = 1;
	follow.run.dirfd = sandbox_fd;
	follow.run.run_id = "test";
	follow.run.period = PERIOD;
	follow.run.registers_reason = "";
	follow.run.comm = &follow.sampler.comm;
	events[0] = (struct clock_event){ .id = 11, .set = 1, .fd = -1 };
	events[1] = (struct clock_event){ .id = 12, .set = 2, .fd = -1 };
	events[2] = (struct clock_event){
		.id = 13, .set = 3, .fd = -1, .fine = true
	};
	follow.clocks.event = events;
	follow.clocks.events = 3;
	registers_init(&follow.registers, &follow.rings, -1, 0);
	sampler_init(&follow.sampler, &follow.tasks, &follow.registers, PERIOD,
		     0, 1);
}

static void teardown(void)
{
	while (follow.tasks.process)
		follow_end_process(&follow, follow.tasks.process, CDP_STOPPED,
				   1, "");
	sampler_release(&follow.sampler);
	tasks_release(&follow.tasks);
	sandbox_teardown();
}

static void take(const struct outside_record *r)
{
	static struct outside_ring ring;

	follow_record(&follow, r, &ring);
}

static void task(uint32_t type, int pid, int parent_pid, int tid,
		 int parent_tid)
{
	struct outside_record r = { .type = type,
				    .time = 1000,
				    .pid = (uint32_t)pid,
				    .parent_pid = (uint32_t)parent_pid,
				    .tid = (uint32_t)tid,
				    .parent_tid = (uint32_t)parent_tid };

	take(&r);
}

static void sample(uint64_t event, int pid, int tid)
{
	struct outside_record r = { .type = PERF_RECORD_SAMPLE,
				    .time = 2000,
				    .id = event,
				    .pid = (uint32_t)pid,
				    .tid = (uint32_t)tid };

	take(&r);
}

static struct task_thread *thread(int tid)
{
	return tasks_thread(&follow.tasks, tid);
}

static void begin(void)
{
	follow_add_thread(&follow, follow_add_process(&follow, PID), PID,
			  "main");
}

START_TEST(a_thread_is_known_from_its_making_to_its_end)
{
	begin();
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	ck_assert_ptr_nonnull(thread(PID + 1));
	ck_assert_str_eq(thread(PID + 1)->name, "main");
	ck_assert_uint_eq(follow.tasks.process->threads, 2);
	task(PERF_RECORD_EXIT, PID, PID, PID + 1, PID);
	ck_assert_ptr_null(thread(PID + 1));
	ck_assert_uint_eq(follow.tasks.process->threads, 1);
}
END_TEST

START_TEST(a_number_used_again_is_another_thread)
{
	uint32_t first;

	begin();
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	first = thread(PID + 1)->id;
	task(PERF_RECORD_EXIT, PID, PID, PID + 1, PID);
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	ck_assert_uint_ne(thread(PID + 1)->id, first);
	/* Also if the record of its end was lost. */
	first = thread(PID + 1)->id;
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	ck_assert_uint_ne(thread(PID + 1)->id, first);
	ck_assert_uint_eq(follow.tasks.process->threads, 2);
}
END_TEST

START_TEST(a_sample_of_another_process_with_the_number_is_not_taken)
{
	follow.children = true;
	begin();
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	task(PERF_RECORD_FORK, PID + 9, PID, PID + 9, PID);
	/* The thread ended unseen; the other process has its number now. */
	sample(11, PID + 9, PID + 1);
	ck_assert_int_eq(thread(PID + 1)->process->pid, PID + 9);
	ck_assert_uint_eq(tasks_process(&follow.tasks, PID)->threads, 1);
}
END_TEST

START_TEST(the_last_thread_ends_the_process)
{
	begin();
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	task(PERF_RECORD_EXIT, PID, PID, PID, PID);
	ck_assert_ptr_nonnull(follow.tasks.process);
	task(PERF_RECORD_EXIT, PID, PID, PID + 1, PID);
	ck_assert_ptr_null(follow.tasks.process);
}
END_TEST

START_TEST(children_are_followed_only_if_wanted)
{
	follow.children = _i;
	begin();
	ck_assert(follow_open_file(&follow, follow.tasks.process));
	task(PERF_RECORD_FORK, PID + 5, PID, PID + 5, PID);
	ck_assert_int_eq(thread(PID + 5) != NULL, _i);
	ck_assert_uint_eq(follow.tasks.process->file.store.header->not_followed,
			  !_i);
}
END_TEST

/* This process lives; it is listed before the record of its making is read. */
START_TEST(a_process_that_was_listed_before_is_no_other_one)
{
	int pid = getpid();
	uint32_t number;

	follow.children = true;
	begin();
	follow_add_thread(&follow, follow_add_process(&follow, pid), pid, "me");
	number = thread(pid)->process->number;
	task(PERF_RECORD_FORK, pid, PID, pid, PID);
	ck_assert_uint_eq(thread(pid)->process->number, number);
	ck_assert_uint_eq(thread(pid)->process->threads, 1);
}
END_TEST

START_TEST(an_executed_program_is_another_process_with_the_same_pid)
{
	struct outside_record r = { .type = PERF_RECORD_COMM,
				    .time = 3000,
				    .pid = PID,
				    .tid = PID,
				    .exec = true,
				    .name = "other" };
	uint32_t number, space;

	begin();
	thread(PID)->clock.set = 1;
	task(PERF_RECORD_FORK, PID, PID, PID + 1, PID);
	number = follow.tasks.process->number;
	space = follow.tasks.process->space.number;
	take(&r);
	ck_assert_int_eq(follow.tasks.process->pid, PID);
	ck_assert_uint_ne(follow.tasks.process->number, number);
	ck_assert_uint_ne(follow.tasks.process->space.number, space);
	ck_assert_uint_eq(follow.tasks.process->threads, 1);
	ck_assert_str_eq(thread(PID)->name, "other");
	/* It keeps the clock that it has. */
	ck_assert_uint_eq(thread(PID)->clock.set, 1);
}
END_TEST

START_TEST(a_thread_with_two_clocks_is_sampled_by_one)
{
	begin();
	sample(11, PID, PID);
	sample(12, PID, PID);
	sample(11, PID, PID);
	ck_assert_uint_eq(thread(PID)->cpu_ns, 2 * PERIOD);
	ck_assert_uint_eq(thread(PID)->row->interrupts, 2);
}
END_TEST

/* The kernel wakes us at each third, whose memory is still as it was. */
START_TEST(one_fine_tick_of_several_is_a_sample_and_all_are_cpu_time)
{
	follow.clocks.ticks = 3;
	begin();
	for (int i = 1; i <= 8; i++) {
		sample(i % 2 ? 13 : 99, PID, PID);
		ck_assert_uint_eq(thread(PID)->cpu_ns, (i + 1) / 2 * PERIOD);
	}
	/* The third; the sixth is an event that is closed. */
	ck_assert_uint_eq(thread(PID)->row->interrupts, 1);
	sample(13, PID, PID);
	ck_assert_uint_eq(thread(PID)->row->interrupts, 2);
	ck_assert_uint_eq(thread(PID)->interrupts, 5);
}
END_TEST

START_TEST(a_tick_of_the_period_stands_for_what_fine_ticks_left_of_it)
{
	enum {
		TICKS = 4,
		ROUNDS = 4000
	};
	uint32_t fine = (uint32_t)_i;
	double likely = 1 - (double)fine / TICKS, n;

	follow.clocks.ticks = TICKS;
	begin();
	follow_open_file(&follow, follow.tasks.process);
	for (int i = 0; i < ROUNDS; i++) {
		bool is_sample;
		uint64_t before;

		for (uint32_t k = 0; k < fine; k++)
			sample(13, PID, PID);
		before = thread(PID)->row ? thread(PID)->row->interrupts : 0;
		sample(11, PID, PID);
		is_sample = thread(PID)->row &&
			    thread(PID)->row->interrupts > before;
		ck_assert(!is_sample || fine < TICKS);
		ck_assert(is_sample || fine);
	}
	ck_assert_uint_eq(thread(PID)->cpu_ns,
			  UINT64_C(1) * ROUNDS * TICKS * PERIOD);
	/* One of each TICKS fine ticks, and the rest by chance: 5 sigma. */
	n = ROUNDS * (likely + (double)fine / TICKS);
	ck_assert_double_eq_tol((double)thread(PID)->row->interrupts, n,
				1 + 5 * sqrt(ROUNDS * likely * (1 - likely)));
}
END_TEST

START_TEST(the_clock_of_a_thread_stays_when_it_executes_a_program)
{
	struct outside_record exec = {
		.type = PERF_RECORD_COMM, .pid = PID, .tid = PID, .exec = true
	};

	follow.clocks.ticks = 3;
	begin();
	sample(11, PID, PID);
	sample(13, PID, PID);
	take(&exec);
	ck_assert_uint_eq(thread(PID)->clock.set, 1);
	ck_assert_uint_eq(thread(PID)->clock.fine, 3);
}
END_TEST

START_TEST(samples_are_counted_as_lost_while_the_watcher_rests)
{
	begin();
	follow.resting = true;
	sample(11, PID, PID);
	follow.resting = false;
	sample(11, PID, PID);
	ck_assert_uint_eq(thread(PID)->row->interrupts, 2);
	ck_assert_uint_eq(thread(PID)->row->loss[LOSS_WATCHER_BUDGET], 1);
	ck_assert_uint_eq(thread(PID)->cpu_ns, 2 * PERIOD);
}
END_TEST

START_TEST(strangers_are_not_taken)
{
	begin();
	sample(11, PID + 7, PID + 8);
	sample(99, PID, PID); /* an event that is closed */
	ck_assert_ptr_null(thread(PID + 8));
	ck_assert_uint_eq(thread(PID)->cpu_ns, 0);
	task(PERF_RECORD_EXIT, PID + 7, PID, PID, PID);
	ck_assert_ptr_nonnull(thread(PID));
}
END_TEST

START_TEST(lost_records_are_counted)
{
	struct outside_record r = { .type = PERF_RECORD_LOST, .lost = 17 };

	begin();
	follow_open_file(&follow, follow.tasks.process);
	take(&r);
	ck_assert_uint_eq(
		follow.tasks.process->file.store.header->loss[LOSS_RING_FULL],
		17);
}
END_TEST

START_TEST(a_name_that_changes_reaches_the_row)
{
	struct outside_record r = { .type = PERF_RECORD_COMM,
				    .pid = PID,
				    .tid = PID,
				    .name = "worker" };

	begin();
	sample(11, PID, PID);
	ck_assert_str_eq(thread(PID)->row->name, "main");
	take(&r);
	ck_assert_str_eq(thread(PID)->row->name, "worker");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("outside_follow");
	TCase *c = tcase_create("follow");

	tcase_add_checked_fixture(c, setup, teardown);
	tcase_add_test(c, a_thread_is_known_from_its_making_to_its_end);
	tcase_add_test(c, a_number_used_again_is_another_thread);
	tcase_add_test(
		c, a_sample_of_another_process_with_the_number_is_not_taken);
	tcase_add_test(c, the_last_thread_ends_the_process);
	tcase_add_loop_test(c, children_are_followed_only_if_wanted, 0, 2);
	tcase_add_test(c, a_process_that_was_listed_before_is_no_other_one);
	tcase_add_test(
		c, an_executed_program_is_another_process_with_the_same_pid);
	tcase_add_test(c, a_thread_with_two_clocks_is_sampled_by_one);
	tcase_add_test(
		c, one_fine_tick_of_several_is_a_sample_and_all_are_cpu_time);
	tcase_add_loop_test(
		c, a_tick_of_the_period_stands_for_what_fine_ticks_left_of_it,
		0, 5);
	tcase_add_test(c,
		       the_clock_of_a_thread_stays_when_it_executes_a_program);
	tcase_add_test(c, samples_are_counted_as_lost_while_the_watcher_rests);
	tcase_add_test(c, strangers_are_not_taken);
	tcase_add_test(c, lost_records_are_counted);
	tcase_add_test(c, a_name_that_changes_reaches_the_row);
	suite_add_tcase(s, c);
	return run_suite(s);
}
