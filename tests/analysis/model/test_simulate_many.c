/* SPDX-License-Identifier: MIT */
/*
 * test_simulate_many - several machines at a time give what each gives alone
 */
#include "analysis/model/simulate_many.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	ROUNDS = 2000,
	MACHINES = 6,
	CODE = 0x401000,
	DATA = 0x10000000,
};

static struct machine machine[MACHINES];
static struct fake_trace fake;
static char path[128], error[MACHINE_ERROR_BYTES];

/* Two threads load new lines and a line that both store to. */
static void begin(void)
{
	fake_trace_init(&fake);
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	for (int i = 0; i < MACHINES; i++) {
		ck_assert(!machine_read(&machine[i], "golden-c3", error));
		machine[i].l2.size <<= i % 3;
		machine[i].ghz += i / 3;
	}
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x08", 3); /* mov (%rax),%rcx */
	fake_trace_insn(&fake, "\x48\x89\x0a", 3); /* mov %rcx,(%rdx) */
	for (uint64_t i = 0; i < ROUNDS; i++)
		for (uint32_t thread = 0; thread < 2; thread++) {
			fake_trace_run(&fake, thread, 0);
			fake_trace_access(
				&fake, thread, 0, false,
				DATA + 64 * (2 * (i % 9000) + thread));
			fake_trace_access(&fake, thread, 1, true, DATA / 2);
		}
}

static void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static void open_it(struct trace *t)
{
	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(t, path, error), "%s", error);
}

static void assert_same(const struct simulated *a, const struct simulated *b)
{
	ck_assert_uint_eq(a->threads, 2);
	ck_assert_uint_eq(a->cycles, b->cycles);
	ck_assert_uint_eq(a->memory_reads, b->memory_reads);
	ck_assert_uint_eq(a->threads, b->threads);
	ck_assert_mem_eq(a->thread, b->thread, a->threads * sizeof(*a->thread));
}

START_TEST(results_do_not_depend_on_how_many_run_at_a_time)
{
	static const unsigned int jobs[] = { 1, 2, 5, 40 };
	struct simulated one[MACHINES], many[MACHINES];
	struct trace t;

	open_it(&t);
	for (int i = 0; i < MACHINES; i++)
		ck_assert(!simulate(&one[i], &t, &machine[i], error));
	ck_assert(one[0].cycles != one[3].cycles);
	for (size_t k = 0; k < sizeof(jobs) / sizeof(*jobs); k++) {
		ck_assert(!simulate_many(many, &t, machine, MACHINES, jobs[k],
					 NULL, error));
		for (int i = 0; i < MACHINES; i++) {
			assert_same(&one[i], &many[i]);
			simulated_release(&many[i]);
		}
	}
	for (int i = 0; i < MACHINES; i++)
		simulated_release(&one[i]);
	trace_close(&t);
}
END_TEST

START_TEST(a_trace_that_cannot_run_is_an_error_once)
{
	struct simulated many[MACHINES];
	struct trace t;

	fake_trace_event(&fake, 0, TRACE_JOIN, 1, 0);
	fake_trace_event(&fake, 1, TRACE_JOIN, 0, 0);
	open_it(&t);
	ck_assert(simulate_many(many, &t, machine, MACHINES, 3, NULL, error));
	ck_assert_msg(strstr(error, "deadlock") != NULL, "%s", error);
	trace_close(&t);
}
END_TEST

START_TEST(a_list_of_values_is_a_machine_for_each)
{
	struct verb v, other;

	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		 "--machine", "golden-c1", "--set", "l2.size=256K/512K",
		 "--set", "core.width=2/4/6", "--jobs", "3", path);
	ck_assert_msg(v.status == 0, "%s", v.err);
	ASSERT_SAYS(v.out, "golden-c3 l2.size=256K core.width=2");
	ASSERT_SAYS(v.out, "golden-c1 l2.size=512K core.width=6");
	other = VERB(cmd_simulate, "simulate", "--machine", "golden-c3",
		     "--machine", "golden-c1", "--set", "l2.size=256K/512K",
		     "--set", "core.width=2/4/6", "--jobs", "1", path);
	ck_assert_str_eq(v.out, other.out);
	verb_free(&v);
	verb_free(&other);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c3", "--set",
		 "l2.size=256K/5", path);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "l2.size=5");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simulate_many");
	TCase *t = tcase_create("simulate_many");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, results_do_not_depend_on_how_many_run_at_a_time);
	tcase_add_test(t, a_trace_that_cannot_run_is_an_error_once);
	tcase_add_test(t, a_list_of_values_is_a_machine_for_each);
	suite_add_tcase(s, t);
	return run_suite(s);
}
