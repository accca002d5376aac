/* SPDX-License-Identifier: MIT */
/*
 * test_report_exec - one process that ran several programs in turn
 */
#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;

enum {
	PROGRAMS = 3
};

/*
 * Each program execs the next. The kernel's clocks go on, so the files say 10,
 * 30 and 100 ms; the last program's second thread began in it.
 */
static void three_programs(enum cdp_state first_ended)
{
	static const uint64_t cpu_ns[PROGRAMS] = { 10000000, 30000000,
						   100000000 };

	for (int i = 0; i < PROGRAMS; i++) {
		struct cdp_header *h =
			i ? fake_next(&fake, 4242 + i) : fake_begin(&fake);
		struct cdp_thread *t;

		h->pid = 4242;
		h->start_mono += i;
		h->cpu_ns = cpu_ns[i];
		h->kernel_ns = cpu_ns[i] / 2;
		h->state = !i                 ? first_ended
			   : i < PROGRAMS - 1 ? CDP_EXECED
					      : CDP_ENDED;
		t = fake_thread(&fake, "main");
		t->tid = 4242;
		t->cpu_ns = cpu_ns[i];
	}
	fake_thread(&fake, "other")->cpu_ns = 5000000;
	fake_end(&fake);
}

START_TEST(cpu_time_before_an_exec_is_not_counted_again)
{
	json_t *j;

	three_programs(CDP_EXECED);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "threads.0.cpu_ns"), 10000000);
	ck_assert_int_eq(int_at(j, "threads.1.cpu_ns"), 20000000);
	ck_assert_int_eq(int_at(j, "threads.2.cpu_ns"), 70000000);
	ck_assert_int_eq(int_at(j, "threads.3.cpu_ns"), 5000000);
	/*
	 * 10, 20 and 75: the threads of the last use more than the process's
	 * 70.
	 */
	ck_assert_int_eq(int_at(j, "run.cpu_ns"), 105000000);
	ck_assert_int_eq(int_at(j, "run.kernel_ns"), 50000000);
	json_decref(j);
}
END_TEST

/* A process id that is used again is another process with its own clocks. */
START_TEST(a_process_id_that_was_free_again_keeps_its_time)
{
	json_t *j;

	three_programs(CDP_ENDED);
	j = report_of(fake.dir);
	ck_assert_int_eq(int_at(j, "threads.0.cpu_ns"), 10000000);
	ck_assert_int_eq(int_at(j, "threads.1.cpu_ns"), 30000000);
	ck_assert_int_eq(int_at(j, "threads.2.cpu_ns"), 70000000);
	json_decref(j);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_exec");
	TCase *t = tcase_create("exec");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, cpu_time_before_an_exec_is_not_counted_again);
	tcase_add_test(t, a_process_id_that_was_free_again_keeps_its_time);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
