/* SPDX-License-Identifier: MIT */
/*
 * test_levels - which lines a shared cache holds
 */
#include "predicted_loops.h"

enum {
	SHARED_LINES = 8192, /* of the last cache here */
	PARTS = 2,           /* threads, which use a half each */
};
static int apart; /* lines from one to the next */

/* A thread goes through its lines again and again. */
static void make_thread(int thread)
{
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t line = (uint64_t)(i % (SHARED_LINES / PARTS)) * PARTS;

		fake_trace_run(&fake, thread, 0);
		fake_trace_access(&fake, thread, 0, false,
				  DATA + (line + (uint64_t)thread) * LINE *
						  (uint64_t)apart);
	}
}

static double by_lines_apart(int lines)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x8b\x00", 3); /* mov (%rax),%rax */
	apart = lines;
	for (int t = 0; t < PARTS; t++)
		make_thread(t);
	set("l1d.size=16K");
	set("l2.size=64K");
	set("l2.ways=4");
	set("llc.size=512K");
	set("llc.ways=4");
	by_equation = false;
	return cycles_of(0.06) / ROUNDS;
}

/* Their lines just fit, so only the first use of each comes from memory. */
START_TEST(threads_that_fill_a_shared_cache_hit_it)
{
	ck_assert_double_lt(by_lines_apart(1), 60);
}
END_TEST

/* Every second set is empty: each use evicts a line that comes again. */
START_TEST(lines_of_threads_conflict_in_the_sets_of_a_shared_cache)
{
	ck_assert_double_gt(by_lines_apart(2), 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("levels");
	TCase *t = tcase_create("levels");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, threads_that_fill_a_shared_cache_hit_it);
	tcase_add_test(t,
		       lines_of_threads_conflict_in_the_sets_of_a_shared_cache);
	suite_add_tcase(s, t);
	return run_suite(s);
}
