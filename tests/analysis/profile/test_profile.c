/* SPDX-License-Identifier: MIT */
/*
 * test_profile - from process files to one model: rows, states of processes
 */
#include "analysis/base/util.h"
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

#define BASE UINT64_C(0x7f0000000000)

START_TEST(ended_threads_are_merged_and_no_count_is_lost)
{
	enum {
		SHORT = 10000
	};
	uint64_t samples = 0, count = 0, detections = 0;
	json_t *j, *t, *c;
	size_t i;

	fake_begin(&fake);
	for (int k = 0; k < SHORT; k++) {
		struct cdp_thread *r =
			fake_thread(&fake, k % 2 ? "odd" : "even");

		r->start_routine = 0x1000 + k % 3;
		r->samples[SAMPLE_UNIFORM] = k;
		samples += k;
	}
	fake_thread(&fake, "pool")->state = CDP_THREAD_MERGED;
	for (int k = 1; k < SHORT; k += 7) {
		fake_pair(&fake, k - 1, k, BASE, BASE, k);
		detections += k;
	}
	fake_end(&fake);
	j = report_of(fake.dir);
	/* Two names with three start routines each, and the pool. */
	ck_assert_uint_eq(json_array_size(at(j, "threads")), 7);
	json_array_foreach(at(j, "threads"), i, t)
	{
		ck_assert_int_eq(int_at(t, "id"), i);
		count += int_at(t, "count");
		samples -= int_at(t, "samples.uniform");
	}
	ck_assert_uint_eq(count, SHORT + 1);
	ck_assert_int_eq((int64_t)samples, -480); /* the pool's own */
	json_array_foreach(at(j, "communication.cells"), i, c)
	{
		detections -= int_at(c, "all");
		ck_assert_int_eq(int_at(c, "a_to_b") +
					 (int_at(c, "a") == int_at(c, "b")
						  ? 0
						  : int_at(c, "b_to_a")),
				 int_at(c, "all"));
	}
	ck_assert_uint_eq(detections, 0);
	json_decref(j);
}
END_TEST

START_TEST(few_threads_are_not_merged)
{
	json_t *j;

	fake_begin(&fake);
	for (int k = 0; k < 512; k++)
		fake_thread(&fake, "same");
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "threads")), 512);
	json_decref(j);
}
END_TEST

START_TEST(a_thread_without_a_record_gets_a_row)
{
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_pair(&fake, 0, 4000000000, BASE, BASE, 11);
	fake_pair(&fake, 77, 4000000000, BASE, BASE, 12);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "threads")), 3);
	ck_assert_int_eq(int_at(j, "communication.total.estimate"), 23);
	ck_assert(json_is_true(at(j, "threads.1.unknown")));
	ck_assert_ptr_null(json_object_get(at(j, "threads.1"), "samples"));
	json_decref(j);
}
END_TEST

START_TEST(threads_of_two_processes_stay_apart)
{
	struct cdp_header *h;
	json_t *j;

	fake_begin(&fake);
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, BASE, BASE, 5);
	h = fake_next(&fake, 4243);
	h->start_mono = 500000000; /* began first */
	strcpy(h->exe, "/usr/bin/first");
	fake_thread(&fake, "c");
	fake_thread(&fake, "d");
	fake_thread(&fake, "e");
	fake_pair(&fake, 1, 2, BASE, BASE, 6);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "processes.0.exe"), "/usr/bin/first");
	ck_assert_str_eq(text_at(j, "threads.2.name"), "e");
	ck_assert_int_eq(int_at(j, "threads.3.process"), 1);
	ck_assert_int_eq(
		int_at(find_cell(at(j, "communication.cells"), 1, 2), "all"),
		6);
	ck_assert_int_eq(
		int_at(find_cell(at(j, "communication.cells"), 3, 4), "all"),
		5);
	/* One address in two processes is two lines. */
	ck_assert_uint_eq(json_array_size(at(j, "communication.lines")), 2);
	ck_assert_int_eq(int_at(j, "run.wall_ns"), 2500000000);
	json_decref(j);
}
END_TEST

START_TEST(a_wrapper_that_execs_does_not_speak_for_the_run)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;

	h->state = CDP_EXECED;
	h->source[0] = '\0';
	h->registers = 0;
	fake_thread(&fake, "sh")->interrupts = 0;
	h = fake_next(&fake, 4243);
	h->start_mono = 1100000000;
	fake_thread(&fake, "real");
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "run.source"), "clock");
	ck_assert_int_eq(int_at(j, "run.registers"), 4);
	ck_assert(json_is_true(at(j, "run.complete")));
	ck_assert_str_eq(text_at(j, "processes.0.state"), "execed");
	json_decref(j);
}
END_TEST

/* Make the header name process @pid as /proc shows it. */
static void pretend_to_be(struct cdp_header *h, pid_t pid)
{
	char path[64], stat[1024], *p;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	ck_assert(read_line(path, stat, sizeof(stat)));
	p = strrchr(stat, ')');
	for (int field = 2; field < 22; field++)
		p = strchr(p + 1, ' ');
	h->pid = pid;
	h->process_start = strtoull(p, NULL, 10);
	ck_assert(read_line("/proc/sys/kernel/random/boot_id", h->boot_id,
			    sizeof(h->boot_id)));
	h->state = CDP_RUNNING;
}

START_TEST(a_living_process_is_still_running)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;
	char *text;

	pretend_to_be(h, getpid());
	fake_thread(&fake, "main");
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "still running");
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "processes.0.state"), "running");
	ck_assert(json_is_false(at(j, "run.complete")));
	json_decref(j);
	free(text);
}
END_TEST

/* If a process id is used again, start time and boot id tell the two apart. */
START_TEST(another_process_with_the_same_id_is_not_ours)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;

	pretend_to_be(h, getpid());
	if (_i == 0)
		h->process_start++;
	else if (_i == 1)
		h->boot_id[0] ^= 1;
	else
		h->pid = 0x3fffffff;
	fake_thread(&fake, "main");
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "processes.0.state"), "killed");
	json_decref(j);
}
END_TEST

START_TEST(a_killed_process_is_incomplete_and_said_to_be)
{
	char *text;

	fake_begin(&fake)->state = CDP_RUNNING;
	fake_thread(&fake, "a");
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, BASE, BASE, 40);
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "fake (pid 4242): incomplete: killed or crashed");
	ASSERT_SAYS(text, "complete incomplete: killed or crashed");
	free(text);
}
END_TEST

START_TEST(how_a_process_ended_is_said_if_record_saw_it)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;
	char *text;

	h->state = CDP_RUNNING;
	h->end_how = _i ? CDP_END_SIGNAL : CDP_END_EXIT;
	h->end_value = _i ? 2 : 7;
	fake_thread(&fake, "a");
	fake_end(&fake);
	text = report_text_of(fake.dir);
	if (_i)
		ASSERT_SAYS(text, "incomplete: ended by signal 2 (Interrupt)");
	else
		ASSERT_SAYS(text, "library, with exit status 7");
	free(text);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, _i ? "processes.0.signal"
				      : "processes.0.exit_status"),
			 _i ? 2 : 7);
	json_decref(j);
}
END_TEST

/* Watched from outside, its profile goes on to the end. */
START_TEST(a_watched_process_that_a_signal_ended_is_complete_and_said_to_be)
{
	struct cdp_header *h = fake_begin(&fake);
	json_t *j;
	char *text;

	h->number = 1;
	h->end_how = CDP_END_SIGNAL;
	h->end_value = 9;
	fake_thread(&fake, "a");
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "fake (pid 4242): complete: ended by signal 9 "
			  "(Killed).");
	free(text);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "processes.0.signal"), 9);
	ck_assert_str_eq(text_at(j, "processes.0.state"), "ended");
	ck_assert(json_is_true(at(j, "run.complete")));
	json_decref(j);
}
END_TEST

/* The file says that the process runs; the lock says whether that is true. */
START_TEST(a_process_whose_watcher_was_killed_is_said_to_be)
{
	struct cdp_header *h = fake_begin(&fake);
	char *text;
	json_t *j;

	pretend_to_be(h, getpid());
	h->number = 1;
	fake_thread(&fake, "a");
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "still running");
	free(text);
	fake_end(&fake); /* nobody writes the file now */
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "incomplete: its watcher was killed; what was "
			  "committed before is shown");
	free(text);
	j = report_of(fake.dir);
	ck_assert_str_eq(text_at(j, "processes.0.state"), "killed");
	ck_assert(json_is_false(at(j, "run.complete")));
	json_decref(j);
}
END_TEST

/* Of 31 processes the 12 last were killed, and 10 rows are shown. */
START_TEST(killed_processes_behind_many_others_are_said_to_be)
{
	struct cdp_header *h;
	char *text, *at;
	int named = 0;

	fake_begin(&fake);
	for (int i = 1; i <= 30; i++) {
		h = fake_next(&fake, 4242 + i);
		h->start_mono += (uint64_t)i;
		if (i > 18)
			h->state = CDP_RUNNING;
		fake_thread(&fake, "worker");
	}
	fake_end(&fake);
	text = report_text_of(fake.dir);
	ASSERT_SAYS(text, "fake (pid 4261): incomplete: killed or crashed");
	ASSERT_SAYS(text, "2 more processes were killed, or still running, or "
			  "not recorded to the end; --top 12 names all.");
	for (at = text; (at = strstr(at, "): incomplete: killed")); at++)
		named++;
	ck_assert_int_eq(named, 10);
	free(text);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("profile");
	TCase *t = tcase_create("profile");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, ended_threads_are_merged_and_no_count_is_lost);
	tcase_add_test(t, few_threads_are_not_merged);
	tcase_add_loop_test(t, how_a_process_ended_is_said_if_record_saw_it, 0,
			    2);
	tcase_add_test(t, a_thread_without_a_record_gets_a_row);
	tcase_add_test(t, threads_of_two_processes_stay_apart);
	tcase_add_test(t, a_wrapper_that_execs_does_not_speak_for_the_run);
	tcase_add_test(t, a_living_process_is_still_running);
	tcase_add_loop_test(t, another_process_with_the_same_id_is_not_ours, 0,
			    3);
	tcase_add_test(t, a_killed_process_is_incomplete_and_said_to_be);
	tcase_add_test(t, killed_processes_behind_many_others_are_said_to_be);
	tcase_add_test(
		t,
		a_watched_process_that_a_signal_ended_is_complete_and_said_to_be);
	tcase_add_test(t, a_process_whose_watcher_was_killed_is_said_to_be);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
