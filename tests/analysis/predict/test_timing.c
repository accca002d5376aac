/* SPDX-License-Identifier: MIT */
/*
 * test_timing - micro-operations that wait for each other in a micro-trace
 */
#include "predicted_loops.h"

/*
 * Each round loads a word, multiplies it and stores it; the next round takes
 * the next word. No load waits for the store to the same line before it.
 */
START_TEST(a_load_does_not_wait_for_a_store_that_hits_the_line)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x11", 3);     /* mov (%rcx),%rdx */
	fake_trace_insn(&fake, "\x48\x0f\xaf\xd2", 4); /* imul %rdx,%rdx */
	fake_trace_insn(&fake, "\x48\x89\x11", 3);     /* mov %rdx,(%rcx) */
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t word = DATA + (uint64_t)i % (4 * L1_LINES) * 8;

		fake_trace_run(&fake, 0, 0);
		fake_trace_access(&fake, 0, 0, false, word);
		fake_trace_access(&fake, 0, 2, true, word);
	}
	by_equation = false;
	ck_assert_double_lt(cycles_of(0.05) / ROUNDS, 1.5);
}
END_TEST

/* mul (3 cycles), then xor of the register with itself. */
static double multiplications(void)
{
	fake_trace_release(&fake);
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x0f\xaf\xd2", 4); /* imul %rdx,%rdx */
	fake_trace_insn(&fake, "\x31\xd2", 2);         /* xor %edx,%edx */
	for (int i = 0; i < ROUNDS; i++)
		fake_trace_run(&fake, 0, 0);
	return cycles_of(0.01) / ROUNDS;
}

/* By the equation too, which says the same. */
START_TEST(a_zero_idiom_is_predicted_as_it_is_simulated)
{
	ck_assert_double_eq_tol(multiplications(), 4, 0.04);
	set("core.zero_idioms=true");
	ck_assert_double_eq_tol(multiplications(), 1, 0.01);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("timing");
	TCase *t = tcase_create("timing");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, a_load_does_not_wait_for_a_store_that_hits_the_line);
	tcase_add_test(t, a_zero_idiom_is_predicted_as_it_is_simulated);
	suite_add_tcase(s, t);
	return run_suite(s);
}
