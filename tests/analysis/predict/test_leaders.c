/* SPDX-License-Identifier: MIT */
/*
 * test_leaders - a few micro-traces stand for all
 */
#include "analysis/predict/leaders.h"
#include "predicted_loops.h"

enum {
	TIMES = 8,     /* instructions of a round */
	PHASE = 75000, /* rounds: three windows */
};
static struct workload w;
static struct trace trace;

/* Rounds of adds, of multiplications, and of adds again, in two threads. */
static void make_phases(void)
{
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < TIMES; i++)
		fake_trace_insn(&fake, "\x48\x01\xc0", 3); /* add */
	fake_trace_block(&fake, CODE + 4096);
	for (int i = 0; i < TIMES; i++)
		fake_trace_insn(&fake, "\x0f\xaf\xc0", 3); /* imul */
	for (int t = 0; t < 2; t++)
		for (int i = 0; i < 3 * PHASE; i++)
			fake_trace_run(&fake, t, i / PHASE % 2);
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &trace, 0, error), "%s", error);
}

static void drop(void)
{
	workload_release(&w);
	trace_close(&trace);
}

static double cycles_by(const struct leaders *l)
{
	const struct predict_options how = { .leaders = l };
	struct predicted p;
	double cycles;

	ck_assert_msg(!predict(&p, &w, &machine, &how, error), "%s", error);
	cycles = p.cycles;
	predicted_release(&p);
	return cycles;
}

START_TEST(windows_that_execute_alike_are_a_group_whatever_their_thread)
{
	struct leaders l;

	make_phases();
	leaders_choose(&l, &w, 4);
	for (int t = 0; t < 2; t++) {
		size_t last = w.thread[t].windows - 1;

		ck_assert_uint_gt(last, 4);
		ck_assert_uint_eq(l.group[t][0], l.group[0][0]);
		ck_assert_uint_eq(l.group[t][last], l.group[0][0]);
		ck_assert_uint_eq(l.group[t][last / 2], l.group[0][last / 2]);
		ck_assert_uint_ne(l.group[t][last / 2], l.group[t][0]);
	}
	leaders_release(&l);
	drop();
}
END_TEST

START_TEST(a_leader_of_each_phase_gives_the_time_of_all)
{
	struct leaders l;
	double all;

	make_phases();
	all = cycles_by(NULL);
	ck_assert_double_eq_tol(all / PHASE / TIMES, 1 + 3 + 1, 0.05);
	leaders_choose(&l, &w, 4);
	ck_assert_uint_ge(l.n, 2);
	ck_assert_uint_le(l.n, 4);
	ck_assert_double_eq_tol(cycles_by(&l) / all, 1, 0.02);
	leaders_release(&l);
	drop();
}
END_TEST

START_TEST(one_leader_is_enough_to_predict)
{
	struct leaders l;

	make_phases();
	leaders_choose(&l, &w, 1);
	ck_assert_uint_eq(l.n, 1);
	ck_assert_double_gt(cycles_by(&l), PHASE);
	leaders_release(&l);
	drop();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("leaders");
	TCase *t = tcase_create("leaders");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(
		t,
		windows_that_execute_alike_are_a_group_whatever_their_thread);
	tcase_add_test(t, a_leader_of_each_phase_gives_the_time_of_all);
	tcase_add_test(t, one_leader_is_enough_to_predict);
	suite_add_tcase(s, t);
	return run_suite(s);
}
