/* SPDX-License-Identifier: MIT */
/*
 * test_simulate_sampled - samples of traces against their full simulations
 */
#include <math.h>

#include "analysis/model/simulate.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	BLOCK = 100, /* instructions of a block */
	CODE = 0x401000,
	DATA = 0x10000000,
	BARRIER = 0x6000,
	MUTEX = 0x7000,
	SEEDS = 20,
};

/* Blocks of the trace. */
enum {
	ADDITIONS, /* each needs the one before it: a cycle */
	DIVISIONS, /* many cycles */
	LOADS,     /* of new lines, one in four instructions */
	SHARING,   /* loads and stores */
	BRANCH,    /* an addition, and a branch to itself or to JUMP */
	JUMP,      /* behind BRANCH, and back to it */
};

static struct fake_trace fake;
static struct machine machine;
static struct trace trace;
static struct simulated full, s;
static char path[128], error[MACHINE_ERROR_BYTES];

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	ck_assert(!machine_read(&machine, "golden-c3", error));
	fake_trace_init(&fake);
	for (uint64_t b = ADDITIONS; b <= SHARING; b++) {
		fake_trace_block(&fake, CODE + 0x1000 * b);
		for (int i = 0; i < BLOCK; i++)
			if (b == DIVISIONS && i % 10 == 0)
				fake_trace_insn(&fake, "\xf7\xf1", 2);
			else if (b == LOADS && i % 4 == 0)
				fake_trace_insn(&fake, "\x48\x8b\x08", 3);
			else if (b == SHARING && i % 4 == 0)
				fake_trace_insn(&fake, "\x48\x01\x08", 3);
			else
				fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	}
	fake_trace_block(&fake, CODE + 0x1000 * BRANCH);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	fake_trace_insn(&fake, "\x75\xfb", 2);
	fake_trace_block(&fake, CODE + 0x1000 * BRANCH + 5);
	fake_trace_insn(&fake, "\xeb\xf9", 2);
}

static void end(void)
{
	simulated_release(&full);
	simulated_release(&s);
	trace_close(&trace);
	fake_trace_release(&fake);
	sandbox_teardown();
}

static void run(int thread, uint32_t block, int times)
{
	static uint64_t next;

	for (; times; times--) {
		fake_trace_run(&fake, thread, block);
		for (uint32_t i = 0; i < BLOCK && block >= LOADS; i += 4) {
			uint64_t at = DATA + 8 * (uint64_t)thread;

			if (block == LOADS)
				at = DATA + 64 * (next++ % 20000);
			fake_trace_access(&fake, thread, i, false, at);
			if (block == SHARING)
				fake_trace_access(&fake, thread, i, true, at);
		}
	}
}

/* One in two branches goes another way than the one before it, at random. */
static void run_branches(int times)
{
	static uint32_t random = 1;

	for (; times; times--) {
		fake_trace_run(&fake, 0, BRANCH);
		random = random * 1664525 + 1013904223;
		if (random >> 31)
			fake_trace_run(&fake, 0, JUMP);
	}
}

/* Simulate all of what @fake has. */
static void simulate_all(void)
{
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!simulate(&full, &trace, &machine, error), "%s", error);
}

static void simulate_sample(uint64_t seed)
{
	struct sampling_wish wish = { .seed = seed };
	struct simulate_extras extras = { .sampled = &wish };

	simulated_release(&s);
	ck_assert_msg(!simulate_with(&s, &trace, &machine, &extras, error),
		      "%s", error);
	ck_assert_uint_ge(s.sampled.cycles.units, SAMPLING_LEAST);
}

static bool holds(const struct sampling_estimate *e, uint64_t cycles)
{
	return fabs(e->cycles - (double)cycles) <= e->error;
}

/* What does not depend on times is counted in the whole trace. */
static void assert_counts(void)
{
	ck_assert_uint_eq(s.threads, full.threads);
	ck_assert_uint_eq(s.instructions, full.instructions);
	for (size_t i = 0; i < s.threads; i++) {
		ck_assert_mem_eq(&s.thread[i].counts, &full.thread[i].counts,
				 sizeof(s.thread[i].counts));
		ck_assert_uint_eq(s.thread[i].caches.l1d_accesses,
				  full.thread[i].caches.l1d_accesses);
	}
}

static void assert_stacks_add_up(void)
{
	for (size_t i = 0; i < s.threads; i++) {
		double sum = 0;

		for (int k = 0; k < CPI_COMPONENTS; k++)
			sum += s.thread[i].stack.cycles[k];
		ck_assert_double_eq_tol(sum, (double)s.thread[i].cycles, 1);
	}
}

START_TEST(a_uniform_program_takes_what_its_full_simulation_does)
{
	run(0, ADDITIONS, 10000);
	simulate_all();
	simulate_sample(0);
	ck_assert_double_eq_tol((double)s.cycles / (double)full.cycles, 1,
				0.0005);
	ck_assert(holds(&s.sampled.cycles, full.cycles));
	ck_assert(holds(&s.thread[0].sampled, full.cycles));
	assert_counts();
	assert_stacks_add_up();
}
END_TEST

START_TEST(intervals_hold_the_full_time_of_a_program_that_alternates)
{
	int held = 0;

	for (int i = 0; i < 34; i++) {
		run(0, ADDITIONS, 147);
		run(0, i % 3 ? LOADS : DIVISIONS, 147);
	}
	simulate_all();
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		simulate_sample(seed);
		held += holds(&s.sampled.cycles, full.cycles);
		assert_counts();
		assert_stacks_add_up();
		/* one thread meets the same misses, whatever their times */
		ck_assert_mem_eq(&s.thread[0].caches, &full.thread[0].caches,
				 sizeof(full.thread[0].caches));
	}
	ck_assert_int_ge(held, SEEDS - 2);
}
END_TEST

START_TEST(threads_wait_for_each_other_between_the_units_too)
{
	double sum = 0;
	int held = 0;

	/* One of them has more to do before each barrier, in its turn. */
	for (int i = 0; i < 120; i++)
		for (int thread = 0; thread < 4; thread++) {
			run(thread, ADDITIONS, i % 4 == thread ? 120 : 60);
			fake_trace_event(&fake, thread, TRACE_BARRIER, BARRIER,
					 4);
		}
	simulate_all();
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		simulate_sample(seed);
		assert_counts();
		assert_stacks_add_up();
		held += holds(&s.sampled.cycles, full.cycles);
		sum += s.sampled.cycles.cycles;
		for (size_t i = 0; i < s.threads; i++)
			ck_assert(holds(&s.thread[i].sampled,
					full.thread[i].cycles) ==
				  holds(&s.sampled.cycles, full.cycles));
	}
	ck_assert_int_ge(held, SEEDS - 2);
	/* the errors of so many samples nearly cancel out */
	ck_assert_double_eq_tol(sum / SEEDS / (double)full.cycles, 1, 0.06);
}
END_TEST

START_TEST(threads_that_contend_for_a_line_have_no_interval)
{
	for (int thread = 0; thread < 4; thread++)
		run(thread, SHARING, 9500);
	simulate_all();
	simulate_sample(0);
	ck_assert(s.sampled.contended);
	ck_assert(isinf(s.sampled.cycles.error));
	ck_assert(isinf(s.thread[3].sampled.error));
}
END_TEST

/* How a line goes round is in doubt, so all the time that it takes is. */
START_TEST(the_time_for_lines_of_others_is_in_doubt)
{
	double coherence = 0, all = 0;

	for (int k = 0; k < 500; k++)
		for (int thread = 0; thread < 4; thread++) {
			run(thread, ADDITIONS, 18);
			run(thread, SHARING, 1);
		}
	simulate_all();
	simulate_sample(0);
	for (size_t i = 0; i < s.threads; i++) {
		coherence += s.thread[i].stack.cycles[CPI_COHERENCE];
		all += (double)s.thread[i].cycles;
	}
	ck_assert_double_gt(coherence, 0.02 * all);
	ck_assert(!s.sampled.contended);
	ck_assert_double_ge(s.sampled.cycles.error,
			    (SAMPLING_TOGETHER + 0.99 * coherence / all) *
				    s.sampled.cycles.cycles);
	ck_assert_double_ge(s.thread[1].sampled.error,
			    0.99 * coherence / all *
				    s.thread[1].sampled.cycles);
}
END_TEST

/*
 * Threads of the same length: five on four cores leave three of them idle in
 * the second half. Four, and eight, leave none.
 */
START_TEST(the_time_that_depends_on_who_has_a_core_is_in_doubt)
{
	double cycles;

	ck_assert_uint_eq(machine.cores, 4);
	for (int thread = 0; thread < 5; thread++)
		run(thread, ADDITIONS, 9500);
	simulate_all();
	simulate_sample(0);
	cycles = s.sampled.cycles.cycles;
	ck_assert_double_eq_tol(s.sampled.order, 3.0 / 8, 0.02);
	/* The head, a fiftieth of the instructions, is not sampled. */
	ck_assert_double_ge(s.sampled.cycles.error,
			    (0.97 * SAMPLING_TOGETHER + s.sampled.order) *
				    cycles);
	ck_assert_double_ge(s.thread[1].sampled.error,
			    s.sampled.order * s.thread[1].sampled.cycles);
	ck_assert(holds(&s.sampled.cycles, full.cycles));
}
END_TEST

START_TEST(who_has_a_core_does_not_matter_if_none_is_idle)
{
	for (int thread = 0; thread < 4; thread++)
		run(thread, ADDITIONS, 9500);
	simulate_all();
	simulate_sample(0);
	ck_assert_double_le(s.sampled.order, 1e-3);
	for (int thread = 4; thread < 8; thread++)
		run(thread, ADDITIONS, 9500);
	simulated_release(&full);
	trace_close(&trace);
	simulate_all();
	simulate_sample(0);
	ck_assert_double_le(s.sampled.order, 0.02);
}
END_TEST

/*
 * As recorded, thread 1 had the lock first. In the simulation thread 0 comes to
 * it first, and joins thread 1 while it has it.
 */
START_TEST(a_lock_that_another_thread_had_before_is_no_deadlock)
{
	fake_trace_event(&fake, 1, TRACE_BEGIN, 0, 0);
	fake_trace_event(&fake, 0, TRACE_CREATE, 1, 0);
	run(0, ADDITIONS, 9000);
	fake_trace_event(&fake, 0, TRACE_LOCK, MUTEX, 0);
	fake_trace_event(&fake, 0, TRACE_JOIN, 1, 0);
	fake_trace_event(&fake, 0, TRACE_UNLOCK, MUTEX, 0);
	run(1, ADDITIONS, 11000);
	fake_trace_event(&fake, 1, TRACE_LOCK, MUTEX, 0);
	fake_trace_event(&fake, 1, TRACE_UNLOCK, MUTEX, 0);
	run(1, ADDITIONS, 1000);
	simulate_all();
	ck_assert_double_eq_tol((double)full.cycles / (12000 * BLOCK), 1, 0.01);
	simulate_sample(0);
	ck_assert(holds(&s.sampled.cycles, full.cycles));
}
END_TEST

static void run_divisions(int times)
{
	run(0, DIVISIONS, times);
}

/*
 * A stretch of slow code, which most samples have no unit in. All units are
 * alike, so the interval has the whole of what the forecast adds. If no unit
 * tells what the forecast is worth, the estimate is off by @worst at most, of
 * what the stretch adds; @most samples are off by less than a sixth.
 */
static void assert_estimate_has(void (*run_slow)(int), int times, double worst,
				int most)
{
	double without, slow;
	int close = 0;

	run(0, ADDITIONS, 10000);
	simulate_all();
	without = (double)full.cycles;
	simulated_release(&full);
	trace_close(&trace);
	run_slow(times);
	run(0, ADDITIONS, 5000);
	simulate_all();
	without *= 1.5;
	slow = (double)full.cycles - without;
	ck_assert_double_gt(slow, 3 * SAMPLING_ALONE * without);
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		double off;

		simulate_sample(seed);
		ck_assert(holds(&s.sampled.cycles, full.cycles));
		ck_assert(holds(&s.thread[0].sampled, full.cycles));
		off = fabs(s.sampled.cycles.cycles - (double)full.cycles);
		ck_assert_double_lt(off, worst * slow);
		close += off < slow / 6;
	}
	ck_assert_int_ge(close, most);
}

START_TEST(slow_code_in_no_unit_is_in_the_estimate)
{
	assert_estimate_has(run_divisions, 140, 0.05, SEEDS);
}
END_TEST

/* The forecast adds up what takes place at a time, so it is too high. */
START_TEST(mispredicted_branches_in_no_unit_are_in_the_estimate)
{
	assert_estimate_has(run_branches, 11000, 0.8, SEEDS / 2);
}
END_TEST

START_TEST(text_and_json_have_the_interval)
{
	struct verb v;
	json_error_t bad;
	json_t *j;

	run(0, ADDITIONS, 10000);
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--sampled", path);
	ck_assert_msg(v.status == 0, "%s", v.err);
	ck_assert_str_eq(v.err, "");
	ASSERT_SAYS(v.out, " +- ");
	ASSERT_SAYS(v.out, "33 units of 1,000 instructions");
	verb_free(&v);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--sampled=50", "--seed", "7", "--json", path);
	j = json_loads(v.out, 0, &bad);
	ck_assert_int_eq(int_at(j, "sampled.units"), 50);
	ck_assert_int_eq(int_at(j, "sampled.seed"), 7);
	ck_assert(json_real_value(at(j, "sampled.low")) <
		  json_real_value(at(j, "sampled.high")));
	ck_assert(json_is_real(at(j, "threads.0.sampled.low")));
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(what_a_sample_cannot_answer_is_refused)
{
	static const char *const others[] = { "--misses", "--what-if",
					      "--timeline=x" };
	struct verb v;

	run(0, ADDITIONS, 1000);
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--sampled", path);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "100000 instructions are too few for 30 units");
	verb_free(&v);
	for (int i = 0; i < 3; i++) {
		v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
			 "--sampled", others[i], path);
		ck_assert_int_eq(v.status, 1);
		ASSERT_SAYS(v.err, "--sampled gives times alone");
		verb_free(&v);
	}
}
END_TEST

START_TEST(a_trace_with_fewer_instructions_than_it_says_is_refused)
{
	struct verb v;

	run(0, ADDITIONS, 1000);
	fake.thread[0]->instructions *= 20;
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--sampled", path);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "fewer instructions than its chunks say");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("simulate_sampled");
	TCase *t = tcase_create("simulate_sampled");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 600);
	tcase_add_test(t,
		       a_uniform_program_takes_what_its_full_simulation_does);
	tcase_add_test(
		t, intervals_hold_the_full_time_of_a_program_that_alternates);
	tcase_add_test(t, threads_wait_for_each_other_between_the_units_too);
	tcase_add_test(t, threads_that_contend_for_a_line_have_no_interval);
	tcase_add_test(t, the_time_for_lines_of_others_is_in_doubt);
	tcase_add_test(t, the_time_that_depends_on_who_has_a_core_is_in_doubt);
	tcase_add_test(t, who_has_a_core_does_not_matter_if_none_is_idle);
	tcase_add_test(t, a_lock_that_another_thread_had_before_is_no_deadlock);
	tcase_add_test(t, slow_code_in_no_unit_is_in_the_estimate);
	tcase_add_test(t, mispredicted_branches_in_no_unit_are_in_the_estimate);
	tcase_add_test(t, text_and_json_have_the_interval);
	tcase_add_test(t, what_a_sample_cannot_answer_is_refused);
	tcase_add_test(t,
		       a_trace_with_fewer_instructions_than_it_says_is_refused);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
