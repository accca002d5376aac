/* SPDX-License-Identifier: MIT */
/*
 * test_timeline - cycles of threads by time, and their picture
 */
#include <math.h>

#include "analysis/model/simulate.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	ROUNDS = 20000,
	CODE = 0x401000,
};

static struct fake_trace fake;
static struct machine machine;
static char error[MACHINE_ERROR_BYTES], path[128];

static void begin(void)
{
	sandbox_setup();
	fake_trace_init(&fake);
	snprintf(path, sizeof(path), "%s/threads.trace", sandbox);
	ck_assert(!machine_read(&machine, "golden-c3", error));
}

static void end(void)
{
	sandbox_teardown();
	fake_trace_release(&fake);
}

/* Thread 0 adds in a chain, a cycle each; thread 1 adds half as often and then
 * waits for the end of thread 0. */
static void two_threads(void)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, 0, 0);
		if (i % 2)
			fake_trace_run(&fake, 1, 0);
	}
	fake_trace_event(&fake, 1, TRACE_JOIN, 0, 0);
	fake_trace_write(&fake, path);
}

static double of_bin(const struct timeline *t, int thread, int bin)
{
	double sum = 0;

	for (int k = 0; k < CPI_COMPONENTS; k++)
		sum += t->thread[thread].bin[bin][k];
	return sum;
}

START_TEST(bins_add_up_to_the_stack_and_are_full_while_a_thread_is_there)
{
	struct timeline line;
	struct simulate_extras extras = { .timeline = &line };
	struct simulated s;
	struct trace t;
	int bins;

	two_threads();
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert(!simulate_with(&s, &t, &machine, &extras, error));
	bins = (int)((double)s.cycles / line.width);
	ck_assert_int_gt(bins, TIMELINE_BINS / 4);
	for (int thread = 0; thread < 2; thread++) {
		double sync = 0, sum = 0;

		for (int b = 0; b < TIMELINE_BINS; b++) {
			sum += of_bin(&line, thread, b);
			sync += line.thread[thread].bin[b][CPI_SYNC];
		}
		ck_assert_double_eq_tol(sum, (double)s.thread[thread].cycles,
					2);
		ck_assert_double_eq_tol(
			sync, s.thread[thread].stack.cycles[CPI_SYNC], 2);
		for (int b = 0; b < bins; b++)
			ck_assert_double_eq_tol(of_bin(&line, thread, b),
						line.width, 0.25 * line.width);
	}
	/* a third of the way, and two thirds */
	ck_assert_double_lt(line.thread[1].bin[bins / 3][CPI_SYNC], 1);
	ck_assert_double_eq_tol(line.thread[1].bin[2 * bins / 3][CPI_SYNC],
				line.width, 1);
	ck_assert_double_lt(line.thread[0].bin[2 * bins / 3][CPI_SYNC], 1);
	timeline_release(&line);
	simulated_release(&s);
	trace_close(&t);
}
END_TEST

START_TEST(a_timeline_does_not_change_the_simulation)
{
	struct timeline line;
	struct simulate_extras extras = { .timeline = &line };
	struct simulated s, plain;
	struct trace t;

	two_threads();
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert(!simulate(&plain, &t, &machine, error));
	ck_assert(!simulate_with(&s, &t, &machine, &extras, error));
	ck_assert_uint_eq(plain.cycles, s.cycles);
	ck_assert_mem_eq(plain.thread, s.thread, 2 * sizeof(*s.thread));
	timeline_release(&line);
	simulated_release(&s);
	simulated_release(&plain);
	trace_close(&t);
}
END_TEST

START_TEST(the_verb_writes_a_picture_without_links)
{
	char picture[160];
	struct verb v;
	char *text;

	two_threads();
	snprintf(picture, sizeof(picture), "%s/x.svg", sandbox);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--timeline", picture, path);
	ck_assert_msg(v.status == 0, "%s", v.err);
	verb_free(&v);
	text = verb_read("x.svg");
	ASSERT_SAYS(text, "thread 1");
	ASSERT_SAYS(text, "sync 100 %");
	ASSERT_SAYS(text, "</svg>");
	ck_assert_ptr_null(strstr(text, "href"));
	free(text);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--machine", "golden-c1", "--timeline", picture, path);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "one machine");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timeline");
	TCase *t = tcase_create("timeline");

	tcase_add_checked_fixture(t, begin, end);
	tcase_add_test(
		t,
		bins_add_up_to_the_stack_and_are_full_while_a_thread_is_there);
	tcase_add_test(t, a_timeline_does_not_change_the_simulation);
	tcase_add_test(t, the_verb_writes_a_picture_without_links);
	suite_add_tcase(s, t);
	return run_suite(s);
}
