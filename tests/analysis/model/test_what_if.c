/* SPDX-License-Identifier: MIT */
/*
 * test_what_if - programs that one part of the machine holds up gain most where
 * that part is better
 */
#include <math.h>

#include "analysis/model/what_if.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	ROUNDS = 3000,
	CODE = 0x401000,
	DATA = 0x10000000,
};

static struct machine machine;
static struct fake_trace fake;
static struct what_if w;
static char path[128], error[MACHINE_ERROR_BYTES];

static void begin(void)
{
	fake_trace_init(&fake);
	ck_assert(!machine_read(&machine, "golden-c3", error));
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
}

static void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static void ask(void)
{
	struct trace t;

	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!what_if(&w, &t, &machine, 2, error), "%s", error);
	trace_close(&t);
	for (size_t i = 2; i < w.rows; i++)
		ck_assert(w.row[i - 1].gain >= w.row[i].gain);
}

static double gain_of(const char *change)
{
	for (size_t i = 0; i < w.rows; i++)
		if (!strcmp(w.row[i].change, change))
			return w.row[i].gain;
	ck_abort_msg("no row '%s'", change);
}

/* Rounds of one instruction that loads a new line. */
static void loads(const char *code)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, code, 3);
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, 0, 0);
		fake_trace_access(&fake, 0, 0, false, DATA + 64 * (uint64_t)i);
	}
}

START_TEST(a_chain_of_misses_needs_a_shorter_latency)
{
	loads("\x48\x8b\x00"); /* mov (%rax),%rax */
	ask();
	ck_assert_str_eq(w.row[0].change, "as it is");
	/* 45 of the 158 / 2.5 ns are the memory's; half of them go */
	ck_assert_double_eq_tol(gain_of("half the memory latency"),
				22.5 / (158 / 2.5), 0.02);
	ck_assert_double_eq_tol(gain_of("twice the memory bandwidth"),
				64 / 7.6 / 2 / (158 / 2.5), 0.03);
	ck_assert_double_eq_tol(gain_of("twice the ROB and queues"), 0, 0.01);
	ck_assert(gain_of("half the memory latency") >
		  gain_of("twice the memory bandwidth"));
}
END_TEST

START_TEST(a_stream_of_misses_needs_bandwidth)
{
	loads("\x48\x8b\x08"); /* mov (%rax),%rcx */
	ask();
	ck_assert_double_gt(gain_of("twice the memory bandwidth"), 0.3);
	ck_assert_double_eq_tol(gain_of("perfect branch prediction"), 0, 0.01);
	ck_assert(gain_of("twice the memory bandwidth") >
		  gain_of("half the memory latency"));
}
END_TEST

START_TEST(a_chain_of_additions_needs_a_faster_clock)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	for (int i = 0; i < ROUNDS * 4; i++)
		fake_trace_run(&fake, 0, 0);
	ask();
	ck_assert_str_eq(w.row[1].change, "twice the frequency");
	ck_assert_double_eq_tol(w.row[1].gain, 0.5, 0.02);
	ck_assert_double_eq_tol(gain_of("twice the core.width"), 0, 0.01);
}
END_TEST

START_TEST(more_cores_are_asked_for_only_if_threads_queue)
{
	machine.cores = 1;
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\xc0", 3);
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, 0, 0);
		fake_trace_run(&fake, 1, 0);
	}
	ask();
	ck_assert_double_eq_tol(gain_of("twice the cores"), 0.5, 0.05);
	machine.cores = 2;
	ask();
	for (size_t i = 0; i < w.rows; i++)
		ck_assert_str_ne(w.row[i].change, "twice the cores");
}
END_TEST

/* Two threads store to the words @apart bytes apart. */
static void stores(uint64_t apart)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x89\x08", 3); /* mov %rcx,(%rax) */
	for (int i = 0; i < ROUNDS; i++)
		for (int k = 0; k < 2; k++) {
			fake_trace_run(&fake, k, 0);
			fake_trace_access(&fake, k, 0, true,
					  DATA + apart * (uint64_t)k);
		}
}

START_TEST(words_of_one_line_gain_what_two_lines_take)
{
	static const char change[] = "no avoidable sharing";
	double shared, gain, alone;

	stores(8);
	ask();
	shared = w.row[0].ns;
	gain = gain_of(change);
	fake_trace_release(&fake);
	fake_trace_init(&fake);
	stores(64);
	ask();
	alone = w.row[0].ns;
	ck_assert_double_gt(gain, 0.5);
	ck_assert_double_eq_tol(gain, 1 - alone / shared, 1e-9);
	for (size_t i = 0; i < w.rows; i++)
		ck_assert_str_ne(w.row[i].change, change);
	/* Both store to the same word: nothing avoids that. */
	fake_trace_release(&fake);
	fake_trace_init(&fake);
	stores(0);
	ask();
	for (size_t i = 0; i < w.rows; i++)
		ck_assert_str_ne(w.row[i].change, change);
}
END_TEST

START_TEST(a_change_that_does_not_fit_is_left_out)
{
	machine.l2.size = machine.llc.size = 256 * 1024;
	machine.llc.ways = machine.l2.ways;
	loads("\x48\x8b\x00");
	ask();
	for (size_t i = 0; i < w.rows; i++)
		ck_assert_str_ne(w.row[i].change, "twice the l2.size");
}
END_TEST

START_TEST(the_verb_prints_a_ranked_list)
{
	json_error_t e;
	struct verb v;
	json_t *j;

	loads("\x48\x8b\x00");
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--what-if", "--machine",
		 "golden-c3", path);
	ck_assert_msg(v.status == 0, "%s", v.err);
	ASSERT_SAYS(v.out, "half the memory latency");
	verb_free(&v);
	v = VERB(cmd_simulate, "simulate", "--what-if", "--json", "--machine",
		 "golden-c3", path);
	j = json_loads(v.out, JSON_REJECT_DUPLICATES, &e);
	ck_assert_msg(j != NULL, "%s", e.text);
	ck_assert_str_eq(text_at(j, "what_if.0.change"), "as it is");
	at(j, "what_if.1.gain");
	at(j, "what_if.1.stack_ns.dram");
	json_decref(j);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("what_if");
	TCase *t = tcase_create("what_if");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, a_chain_of_misses_needs_a_shorter_latency);
	tcase_add_test(t, a_stream_of_misses_needs_bandwidth);
	tcase_add_test(t, a_chain_of_additions_needs_a_faster_clock);
	tcase_add_test(t, more_cores_are_asked_for_only_if_threads_queue);
	tcase_add_test(t, words_of_one_line_gain_what_two_lines_take);
	tcase_add_test(t, a_change_that_does_not_fit_is_left_out);
	tcase_add_test(t, the_verb_prints_a_ranked_list);
	suite_add_tcase(s, t);
	return run_suite(s);
}
