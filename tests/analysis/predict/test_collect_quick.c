/* SPDX-License-Identifier: MIT */
/*
 * test_collect_quick - profiles of traces that are whole in parts
 */
#include "analysis/predict/workload.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	CODE = 0x401000,
	LINE = 0x1000,
	INTERVAL = 50,
	ROUNDS = 200,
	FAST = 71, /* instructions of a round; they never end at once, */
	SLOW = 110, /* as 71 * 110 is longer than the trace */
	STEP = 10,
	FIRST_STEPS = 100, /* before the barrier: long enough for a phase */
	LATER_STEPS = 50,
	BLOCKS = 300,   /* of a whole part, each with an access */
	FURTHER = 1000, /* accesses from one use of a line to the next */
	FURTHER_ROUNDS = 40,
};

static struct fake_trace fake;
static struct workload workload;
static char path[128], error[WORKLOAD_ERROR_BYTES];

static void use(int thread, enum trace_token token, int64_t further,
		uint64_t insns)
{
	struct fake_stream *s = fake_trace_stream(&fake, thread);

	fake_trace_number(s, trace_zigzag(further) << TRACE_TOKEN_BITS | token);
	fake_trace_number(s, insns);
	fake_trace_number(s, 1);
}

/* Two threads add to one number, each after so many instructions. */
static void make_trace(void)
{
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3); /* add %rax,%rax */
	for (int t = 0; t < 2; t++) {
		fake_trace_run(&fake, t, 0);
		fake_trace_event(&fake, t, TRACE_QUICK, CODE, 0);
		for (int i = 0; i < ROUNDS; i++) {
			use(t, TRACE_LOAD, i ? 0 : LINE, t ? SLOW : FAST);
			use(t, TRACE_STORE, 0, 0);
		}
	}
	fake_trace_write(&fake, path);
}

static void collect(void)
{
	struct trace trace;

	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&workload, &trace, INTERVAL, error),
		      "%s", error);
	trace_close(&trace);
	fake_trace_release(&fake);
}

static uint32_t uses(int thread, enum window_kind kind, int bin)
{
	const struct workload_thread *t = &workload.thread[thread];
	uint32_t n = 0;

	for (size_t i = 0; i < t->windows; i++)
		n += t->window[i].reuse[kind][bin];
	return n;
}

/* How often the other thread added since a thread did, by their times. */
static void count_taken(uint32_t taken[2])
{
	int done[2] = { 0, 0 }, before = 2;

	taken[0] = taken[1] = 0;
	while (done[0] < ROUNDS || done[1] < ROUNDS) {
		int t = done[0] == ROUNDS ||
			(done[1] < ROUNDS &&
			 (done[1] + 1) * SLOW < (done[0] + 1) * FAST);

		taken[t] += done[t] && before != t;
		before = t;
		done[t]++;
	}
}

START_TEST(uses_of_one_time_have_none_of_another_thread_between_them)
{
	uint32_t taken[2];

	make_trace();
	collect();
	count_taken(taken);
	for (int t = 0; t < 2; t++) {
		ck_assert_uint_gt(taken[t], ROUNDS / 4);
		ck_assert_uint_eq(uses(t, WINDOW_LOADS, WORKLOAD_INVALID),
				  taken[t]);
		ck_assert_uint_eq(uses(t, WINDOW_STORES, WORKLOAD_INVALID), 0);
	}
	workload_release(&workload);
}
END_TEST

static void use_often(int steps)
{
	for (int i = 0; i < steps; i++)
		use(0, TRACE_LOAD, 1, STEP);
}

/* An instruction, and a barrier within a quick part. */
static void make_phases(bool whole_behind)
{
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3); /* add %rax,%rax */
	fake_trace_run(&fake, 0, 0);
	fake_trace_event(&fake, 0, TRACE_QUICK, CODE, 0);
	use_often(FIRST_STEPS);
	fake_trace_event(&fake, 0, TRACE_BARRIER, LINE, 1);
	use_often(LATER_STEPS);
	if (whole_behind) {
		fake_trace_event(&fake, 0, TRACE_WHOLE, CODE, 0);
		fake_trace_run(&fake, 0, 0);
	}
	fake_trace_write(&fake, path);
}

static uint64_t uops(const struct window *w)
{
	uint64_t n = 0;

	for (int i = 0; i < UOP_CLASSES; i++)
		n += w->uops[i];
	return n;
}

/* Not at the next whole part, which may be far away, or never come. */
START_TEST(a_phase_begins_at_its_barrier)
{
	const struct workload_thread *t;
	bool whole = _i;

	make_phases(whole);
	collect();
	t = &workload.thread[0];
	ck_assert_uint_eq(t->windows, 2);
	ck_assert_uint_eq(t->window[0].instructions, 1 + FIRST_STEPS * STEP);
	ck_assert_uint_eq(t->window[1].instructions,
			  LATER_STEPS * STEP + whole);
	for (size_t i = 0; i < t->windows; i++)
		ck_assert_uint_eq(uops(&t->window[i]),
				  t->window[i].instructions);
	workload_release(&workload);
}
END_TEST

/*
 * A whole part of loads, and a quick one with uses of two lines in turn. The
 * barrier, if any, is the last of the whole part.
 */
static void make_reuses(bool barrier)
{
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x11", 3); /* mov (%rcx),%rdx */
	for (int i = 0; i < BLOCKS; i++) {
		fake_trace_run(&fake, 0, 0);
		fake_trace_access(&fake, 0, 0, false, LINE * 64);
	}
	if (barrier)
		fake_trace_event(&fake, 0, TRACE_BARRIER, LINE, 1);
	fake_trace_event(&fake, 0, TRACE_QUICK, CODE, 0);
	for (int i = 0; i < FURTHER_ROUNDS; i++) {
		struct fake_stream *s = fake_trace_stream(&fake, 0);

		fake_trace_number(s, trace_zigzag(i ? i % 2 ? 1 : -1 : LINE + 1)
						     << TRACE_TOKEN_BITS |
					     TRACE_LOAD);
		fake_trace_number(s, FURTHER);
		fake_trace_number(s, FURTHER);
	}
	fake_trace_write(&fake, path);
}

/* Also where a phase begins with the quick part. */
START_TEST(reuses_are_as_far_as_the_accesses_between_them)
{
	int bin = reuse_bin_of(2 * FURTHER);

	make_reuses(_i);
	collect();
	ck_assert_uint_eq(workload.thread[0].windows, 1 + _i);
	ck_assert_uint_ge(uses(0, WINDOW_LOADS, bin) +
				  uses(0, WINDOW_LOADS, bin - 1) +
				  uses(0, WINDOW_LOADS, bin + 1),
			  FURTHER_ROUNDS - 2);
	workload_release(&workload);
}
END_TEST

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
}

int main(void)
{
	Suite *s = suite_create("collect_quick");
	TCase *t = tcase_create("collect_quick");

	tcase_add_checked_fixture(t, begin, sandbox_teardown);
	tcase_add_test(
		t, uses_of_one_time_have_none_of_another_thread_between_them);
	tcase_add_loop_test(t, a_phase_begins_at_its_barrier, 0, 2);
	tcase_add_loop_test(t, reuses_are_as_far_as_the_accesses_between_them,
			    0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
