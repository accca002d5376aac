/* SPDX-License-Identifier: MIT */
/*
 * test_prediction - loops whose time follows from the machine by arithmetic
 *
 * The same as for the simulator (test_simulate.c), which also has to agree.
 */
#include <errno.h>

#include "src/base/rng.h"
#include "tests/run_verb.h"
#include "predicted_loops.h"

static uint64_t one_line(int i)
{
	return DATA;
}

static uint64_t new_lines(int i)
{
	return DATA + (uint64_t)i * LINE;
}

/* More lines than L1D has, fewer than L2, again and again. */
static uint64_t l2_lines(int i)
{
	return DATA + (uint64_t)(i % (2 * L1_LINES)) * LINE;
}

/* More lines of one set than L1D has ways. */
static uint64_t one_set(int i)
{
	return DATA + (uint64_t)(i % 8) * 8192;
}

START_TEST(a_chain_takes_its_latencies)
{
	const struct loop loops[] = {
		{ "\x48\x01\xc0", 3, 8, NULL, false }, /* add */
		{ "\x0f\xaf\xc0", 3, 8, NULL, false }, /* imul */
	};

	takes(&loops[_i], _i ? 3 : 1, 0.01);
}
END_TEST

/* mov $0,%eax depends on nothing, and may use three ports. */
START_TEST(independent_instructions_take_their_ports)
{
	const struct loop l = { "\xb8\x00\x00\x00\x00", 5, 9, NULL, false };

	takes(&l, 1.0 / 3, 0.02);
}
END_TEST

START_TEST(a_narrow_core_takes_its_width)
{
	const struct loop l = { "\xb8\x00\x00\x00\x00", 5, 8, NULL, false };

	set("core.width=2");
	takes(&l, 1.0 / 2, 0.02);
}
END_TEST

START_TEST(a_chase_takes_the_latency_of_its_level)
{
	const struct loop loops[] = {
		{ "\x48\x8b\x00", 3, 4, one_line, false },
		{ "\x48\x8b\x00", 3, 4, l2_lines, false },
		{ "\x48\x8b\x00", 3, 4, one_set, false },
	};
	/* Cold misses take what memory takes. */
	double cold =
		2.0 * L1_LINES / ROUNDS / 4 * (24 + (45 + 64 / 7.6) * 2.5 - 9);
	const double cycles[] = { 4, 9 + cold, 9 };

	/*
	 * The equation takes work to go on under a miss; here all of it waits
	 * for the miss.
	 */
	by_equation = _i != 1;
	takes(&loops[_i], cycles[_i], 0.04);
}
END_TEST

START_TEST(a_stream_takes_the_bandwidth)
{
	/* mov (%rcx),%rdx */
	const struct loop l = { "\x48\x8b\x11", 3, 1, new_lines, false };

	set("memory.bandwidth_gbs=4");
	takes(&l, 64 / 4.0 * 2.5, 0.04);
}
END_TEST

/* mov %rdx,(%rcx): each entry for misses is held for the whole latency. */
START_TEST(a_burst_of_stores_takes_the_entries_for_misses)
{
	const struct loop l = { "\x48\x89\x11", 3, 1, new_lines, true };

	set("core.mshrs=2");
	set("memory.bandwidth_gbs=100");
	set("llc.size=64M");
	takes(&l, (24 + 45 * 2.5 + 64 / 100.0 * 2.5) / 2, 0.04);
}
END_TEST

START_TEST(each_thread_has_its_own_time)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };

	make(&l, 0);
	make(&l, 1);
	ck_assert_double_eq_tol(cycles_of(0.01), 8.0 * ROUNDS, 0.01 * ROUNDS);
}
END_TEST

/* Two threads take turns on the core. */
START_TEST(threads_wait_for_cores)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };

	make(&l, 0);
	make(&l, 1);
	set("cores=1");
	ck_assert_double_eq_tol(cycles_of(0.01), 16.0 * ROUNDS, 0.01 * ROUNDS);
}
END_TEST

/* Threads of @a and @b rounds, which meet at a barrier and go on for as many.
 */
static void make_barrier(int a, int b)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };
	const int rounds[] = { a, b, b, a };

	fake_trace_block(&fake, CODE);
	for (int i = 0; i < l.times; i++)
		fake_trace_insn(&fake, l.code, l.bytes);
	for (int half = 0; half < 2; half++)
		for (int t = 0; t < 2; t++) {
			for (int i = 0; i < rounds[2 * half + t]; i++)
				fake_trace_run(&fake, t, 0);
			if (!half)
				fake_trace_event(&fake, t, TRACE_BARRIER,
						 0x1000, 2);
		}
}

START_TEST(threads_meet_at_a_barrier)
{
	make_barrier(ROUNDS, 3 * ROUNDS);
	set("sync.call=0");
	/* Each half takes as long as its slower thread. */
	ck_assert_double_eq_tol(cycles_of(0.01), 6 * 8.0 * ROUNDS,
				0.01 * ROUNDS);
}
END_TEST

static struct predicted predicted_by(struct predict_options how)
{
	struct predicted p;
	struct workload w;
	struct trace t;

	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&t, path, error));
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	ck_assert_msg(!predict(&p, &w, &machine, &how, error), "%s", error);
	workload_release(&w);
	trace_close(&t);
	return p;
}

static struct predicted predicted_as(enum predict_model model)
{
	return predicted_by((struct predict_options){ .model = model });
}

/*
 * Two instructions of a chain, of 3 cycles and of 1: an average latency of 2
 * for a chain of two is right here, so the printed equation is as well.
 */
START_TEST(the_printed_equation_knows_average_latencies)
{
	struct predicted p;

	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x0f\xaf\xc0", 3); /* imul %eax,%eax */
	fake_trace_insn(&fake, "\x01\xc0", 2);     /* add %eax,%eax */
	for (int i = 0; i < ROUNDS; i++)
		fake_trace_run(&fake, 0, 0);
	p = predicted_by((struct predict_options){ .without = EQUATION_ALL });
	ck_assert_double_eq_tol(p.cycles / ROUNDS, 4, 0.04);
	predicted_release(&p);
}
END_TEST

START_TEST(baselines_do_not_wait)
{
	struct predicted p;

	make_barrier(ROUNDS, 3 * ROUNDS);
	p = predicted_as(PREDICT_MAIN);
	ck_assert_double_eq_tol(p.cycles, 4 * 8.0 * ROUNDS, 0.01 * ROUNDS);
	predicted_release(&p);
	p = predicted_as(PREDICT_CRIT);
	ck_assert_double_eq_tol(p.cycles, 4 * 8.0 * ROUNDS, 0.01 * ROUNDS);
	predicted_release(&p);
}
END_TEST

/*
 * A third of the time both run, and in the rest the slower one alone. The first
 * thread waits at the barrier, and the second ends first.
 */
START_TEST(the_bottlegraph_shares_the_time_among_those_that_run)
{
	struct predicted p;

	make_barrier(ROUNDS, 3 * ROUNDS);
	set("sync.call=0");
	p = predicted_as(PREDICT_RPPM);
	for (int t = 0; t < 2; t++) {
		ck_assert_double_eq_tol(p.thread[t].height / p.cycles, 0.5,
					0.01);
		ck_assert_double_eq_tol(p.thread[t].runs / p.cycles, 2.0 / 3,
					0.01);
		ck_assert_double_eq_tol(p.thread[t].idle / p.cycles,
					t ? 0 : 1.0 / 3, 0.01);
	}
	predicted_release(&p);
}
END_TEST

START_TEST(four_balanced_threads_have_boxes_of_a_quarter)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };
	struct predicted p;

	for (int t = 0; t < 4; t++)
		make(&l, t);
	p = predicted_as(PREDICT_RPPM);
	for (int t = 0; t < 4; t++) {
		ck_assert_double_eq_tol(p.thread[t].height / p.cycles, 0.25,
					0.001);
		ck_assert_double_eq_tol(p.thread[t].runs / p.thread[t].height,
					4, 0.01);
	}
	predicted_release(&p);
}
END_TEST

/* The owner of a lock computes; the other waits for all of it. */
START_TEST(a_lock_goes_to_who_waits)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };

	for (int t = 0; t < 2; t++) {
		fake_trace_event(&fake, t, TRACE_LOCK, 0x1000, 0);
		make(&l, t);
		fake_trace_event(&fake, t, TRACE_UNLOCK, 0x1000, 0);
	}
	set("sync.call=0");
	ck_assert_double_eq_tol(cycles_of(0.01), 16.0 * ROUNDS, 0.01 * ROUNDS);
}
END_TEST

/* A time of @cycles and of a call, which takes from 0 to 40. */
static double with_call(struct rng *r, double cycles)
{
	return cycles + (double)rng_below(r, 1 << 20) * 40 / (1 << 20);
}

/*
 * How long a turn of each of two threads takes, which compute for @cycles with
 * a lock, and for as many without it.
 */
static double turn_of(double cycles)
{
	enum {
		TURNS = 1000000
	};
	double asks[2] = { 0 }, free = 0;
	struct rng r;

	rng_seed(&r, 77, 0);
	for (int i = 0; i < 2 * TURNS; i++) {
		double *next = &asks[asks[1] < asks[0]];

		free = with_call(&r, fmax(*next, free) + cycles);
		*next = with_call(&r, free + cycles);
	}
	return free / TURNS;
}

/* In step, one would compute with the lock while the other does without it. */
START_TEST(threads_do_not_stay_in_step)
{
	enum {
		TURNS = 4000
	};
	const struct predict_options how = { 0 };
	struct predicted p;
	double cycles;

	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 8; i++)
		fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	for (int i = 0; i < 2 * TURNS; i++) {
		fake_trace_event(&fake, i % 2, TRACE_LOCK, 0x1000, 0);
		fake_trace_run(&fake, i % 2, 0);
		fake_trace_event(&fake, i % 2, TRACE_UNLOCK, 0x1000, 0);
		fake_trace_run(&fake, i % 2, 0);
	}
	set("sync.call=20");
	p = predicted_by(how);
	cycles = (p.thread[0].cycles - p.thread[0].stack[CPI_SYNC]) / TURNS / 2;
	ck_assert_double_eq_tol(p.cycles / TURNS / turn_of(cycles), 1, 0.01);
	ck_assert_double_gt(p.cycles / TURNS, 1.05 * 2 * (cycles + 20));
	ck_assert_double_eq_tol(p.thread[0].height + p.thread[1].height,
				p.cycles, 1);
	predicted_release(&p);
}
END_TEST

START_TEST(a_deadlock_is_an_error)
{
	const struct loop l = { "\x48\x01\xc0", 3, 1, NULL, false };
	struct workload w;
	struct trace t;

	make(&l, 0);
	make(&l, 1);
	fake_trace_event(&fake, 0, TRACE_BARRIER, 0x1000, 2);
	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&t, path, error));
	ck_assert_int_eq(workload_collect(&w, &t, 0, error), -EINVAL);
	ck_assert_msg(strstr(error, "barrier"), "%s", error);
	trace_close(&t);
}
END_TEST

/* A profile in which a thread never comes to the barrier of the other. */
START_TEST(a_profile_that_cannot_run_names_the_event)
{
	const struct predict_options how = { 0 };
	struct predicted p;
	struct workload w;
	struct trace t;

	make_barrier(ROUNDS, ROUNDS);
	fake_trace_write(&fake, path);
	ck_assert(!trace_open(&t, path, error));
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	w.thread[0].events = 0;
	ck_assert_int_eq(predict(&p, &w, &machine, &how, error), -EINVAL);
	ck_assert_msg(strstr(error, "barrier"), "%s", error);
	ck_assert_msg(strstr(error, "thread"), "%s", error);
	workload_release(&w);
	trace_close(&t);
}
END_TEST

static void refuses(const char *const *arguments, const char *words)
{
	struct verb v = verb_run(&cmd_predict, arguments);

	ck_assert_int_eq(v.status, 1);
	ck_assert_str_eq(v.out, "");
	ck_assert_int_eq(verb_lines(v.err), 1);
	ASSERT_SAYS(v.err, words);
	verb_free(&v);
}
#define REFUSES(words, ...)                                                    \
	refuses((const char *const[]){ "predict", __VA_ARGS__, NULL }, words)

START_TEST(the_verb_says_in_a_line_what_is_wrong)
{
	const struct loop l = { "\x48\x01\xc0", 3, 1, NULL, false };

	make(&l, 0);
	make(&l, 1);
	fake_trace_write(&fake, path);
	REFUSES("say what to predict", path);
	REFUSES("l2.size must be", "--machine", "golden-c3", "--set",
		"l2.size=0", path);
	REFUSES("nonesuch", "--machine", "nonesuch", path);
	REFUSES("--set needs --machine", "--set", "l2.size=1M", path);
	REFUSES("--equations: there is no 'chain'", "--machine", "golden-c3",
		"--equations", "paper,chain", path);
	REFUSES("--model must be", "--machine", "golden-c3", "--model", "x",
		path);
	REFUSES("holds no profile", "--machine", "golden-c3", "/usr");
	REFUSES("No such file", "--machine", "golden-c3", "/nonesuch");
}
END_TEST

START_TEST(the_verb_prints_an_object_for_each_machine)
{
	const struct loop l = { "\x48\x01\xc0", 3, 8, NULL, false };
	json_error_t wrong;
	struct verb v;
	json_t *j;

	make(&l, 0);
	fake_trace_write(&fake, path);
	v = VERB(cmd_predict, "predict", "--json", "--machine", "golden-c3",
		 path);
	ck_assert_int_eq(v.status, 0);
	j = json_loads(v.out, 0, &wrong);
	ck_assert_ptr_nonnull(j);
	ck_assert_str_eq(text_at(j, "machine"), "golden-c3");
	ck_assert_double_eq_tol(json_real_value(at(j, "time_ns")),
				8 * ROUNDS / 2.5, 0.01 * ROUNDS);
	ck_assert_double_eq_tol(json_real_value(at(j, "threads.0.active_ns")),
				8 * ROUNDS / 2.5, 0.01 * ROUNDS);
	json_decref(j);
	verb_free(&v);
	v = VERB(cmd_predict, "predict", "--json", "--machine", "golden-c3",
		 "--machine", "golden-c1", path);
	ck_assert_int_eq(verb_lines(v.out), 2);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prediction");
	TCase *t = tcase_create("prediction");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_loop_test(t, a_chain_takes_its_latencies, 0, 2);
	tcase_add_test(t, independent_instructions_take_their_ports);
	tcase_add_test(t, a_narrow_core_takes_its_width);
	tcase_add_loop_test(t, a_chase_takes_the_latency_of_its_level, 0, 3);
	tcase_add_test(t, a_stream_takes_the_bandwidth);
	tcase_add_test(t, a_burst_of_stores_takes_the_entries_for_misses);
	tcase_add_test(t, each_thread_has_its_own_time);
	tcase_add_test(t, threads_wait_for_cores);
	tcase_add_test(t, threads_meet_at_a_barrier);
	tcase_add_test(t, baselines_do_not_wait);
	tcase_add_test(t, the_printed_equation_knows_average_latencies);
	tcase_add_test(t, the_bottlegraph_shares_the_time_among_those_that_run);
	tcase_add_test(t, four_balanced_threads_have_boxes_of_a_quarter);
	tcase_add_test(t, a_lock_goes_to_who_waits);
	tcase_add_test(t, threads_do_not_stay_in_step);
	tcase_add_test(t, a_deadlock_is_an_error);
	tcase_add_test(t, a_profile_that_cannot_run_names_the_event);
	tcase_add_test(t, the_verb_says_in_a_line_what_is_wrong);
	tcase_add_test(t, the_verb_prints_an_object_for_each_machine);
	suite_add_tcase(s, t);
	return run_suite(s);
}
