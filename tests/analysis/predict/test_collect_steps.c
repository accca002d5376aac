/* SPDX-License-Identifier: MIT */
/*
 * test_collect_steps - which instructions a profile has in micro-traces
 */
#include "analysis/predict/workload.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	ROUNDS = 500, /* as many as the thread has micro-traces */
	BLOCK = 100,  /* instructions */
	ADDS = 30,    /* blocks of a round, and then */
	MULTIPLIES = 10,
};

static char path[128], error[WORKLOAD_ERROR_BYTES];

static void add_block(struct fake_trace *t, uint64_t ip, const char *code,
		      size_t bytes)
{
	fake_trace_block(t, ip);
	for (int i = 0; i < BLOCK; i++)
		fake_trace_insn(t, code, bytes);
}

static void make_rounds(void)
{
	struct fake_trace t;

	fake_trace_init(&t);
	add_block(&t, 0x401000, "\x48\x01\xc0", 3);     /* add %rax,%rax */
	add_block(&t, 0x402000, "\x48\x0f\xaf\xc1", 4); /* imul %rcx,%rax */
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < ADDS + MULTIPLIES; k++)
			fake_trace_run(&t, 0, k >= ADDS);
	fake_trace_write(&t, path);
	fake_trace_release(&t);
}

START_TEST(micro_traces_of_equal_rounds_are_not_at_the_same_place_of_all)
{
	struct workload w;
	struct trace trace;
	double multiplies = 0, share;

	make_rounds();
	ck_assert_msg(!trace_open(&trace, path, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &trace, 0, error), "%s", error);
	ck_assert_uint_eq(w.interval, (ADDS + MULTIPLIES) * BLOCK);
	ck_assert_uint_ge(w.thread[0].micros, ROUNDS - 1);
	ck_assert_uint_le(w.thread[0].micros, ROUNDS);
	for (size_t i = 0; i < w.thread[0].uops; i++)
		multiplies += w.thread[0].uop[i].class == UOP_MUL64;
	share = multiplies / (double)w.thread[0].uops;
	ck_assert_double_gt(share, 0.20);
	ck_assert_double_lt(share, 0.30);
	workload_release(&w);
	trace_close(&trace);
}
END_TEST

static void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
}

int main(void)
{
	Suite *s = suite_create("collect_steps");
	TCase *t = tcase_create("collect_steps");

	tcase_add_checked_fixture(t, begin, sandbox_teardown);
	tcase_add_test(
		t, micro_traces_of_equal_rounds_are_not_at_the_same_place_of_all);
	suite_add_tcase(s, t);
	return run_suite(s);
}
