/* SPDX-License-Identifier: MIT */
/*
 * test_turns - loops of threads that contend for a line, predicted and
 * simulated
 */
#include "predicted_loops.h"

static uint64_t first_word(int i)
{
	return DATA;
}

static uint64_t second_word(int i)
{
	return DATA + 8;
}

static const char store[] = "\x48\x89\x11"; /* mov %rdx,(%rcx) */
static const char add[] = "\x48\x01\x11";   /* add %rdx,(%rcx) */

/* From one core to the other. */
static double transfer(void)
{
	return machine.l1d.tag + machine.l2.tag + machine.llc.latency +
	       machine.transfer;
}

/* An instruction that loads a word and stores it again. */
static void make_add(uint64_t addr, int thread)
{
	if (!fake.blocks) {
		fake_trace_block(&fake, CODE);
		fake_trace_insn(&fake, add, 3);
	}
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, thread, 0);
		fake_trace_access(&fake, thread, 0, false, addr);
		fake_trace_access(&fake, thread, 0, true, addr);
	}
}

/* The same of a floating-point number, in three instructions. */
static void make_add_double(void)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\xf2\x0f\x10\x01", 4); /* movsd (%rcx),%xmm0 */
	fake_trace_insn(&fake, "\xf2\x0f\x58\xc1", 4); /* addsd %xmm1,%xmm0 */
	fake_trace_insn(&fake, "\xf2\x0f\x11\x01", 4); /* movsd %xmm0,(%rcx) */
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, 0, 0);
		fake_trace_access(&fake, 0, 0, false, DATA);
		fake_trace_access(&fake, 0, 2, true, DATA);
	}
}

/*
 * With a short issue queue. Simulated cores access lines in the order in which
 * they dispatch, so with a longer one they keep this line for longer.
 *
 * Each core gets the line once in two transfers, and does what waits for it.
 */
START_TEST(what_waits_is_done_when_the_line_comes)
{
	double waiting = 16;

	by_equation = false;
	set("coherence.in_turn=true");
	set("core.store_queue=16");
	set("core.issue_queue=4");
	make(&(struct loop){ store, 3, 1, first_word, true }, 0);
	make(&(struct loop){ store, 3, 1, second_word, true }, 1);
	ck_assert_double_eq_tol(cycles_of(0.1) / ROUNDS,
				2 * transfer() / waiting, 1);
}
END_TEST

START_TEST(a_line_alone_is_as_before)
{
	double before;

	by_equation = false;
	make(&(struct loop){ store, 3, 1, first_word, true }, 0);
	before = cycles_of(0.02);
	set("coherence.in_turn=true");
	ck_assert_double_eq(cycles_of(0.02), before);
}
END_TEST

/* The load takes a cycle, or that of L1D, and the addition another one. */
START_TEST(a_load_takes_what_a_store_holds)
{
	by_equation = false;
	make_add(DATA, 0);
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS,
				machine.l1d.latency + 1, 0.05);
	set("core.forwarding=1");
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS, 2, 0.05);
	set("core.forwarding_vector=9"); /* this one is an integer */
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS, 2, 0.05);
}
END_TEST

START_TEST(a_vector_register_waits_longer_for_what_a_store_holds)
{
	by_equation = false;
	make_add_double();
	set("core.vector_load_extra=3");
	set("core.forwarding=1");
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS,
				1 + 3 + machine.uop[UOP_FADD].latency, 0.05);
	set("core.forwarding_vector=5");
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS,
				1 + 3 + 5 + machine.uop[UOP_FADD].latency,
				0.05);
}
END_TEST

/*
 * Counters side by side: loads take what stores hold, stores wait. The load
 * that comes when none is held gets a shared line, when simulated, and the
 * store behind it needs no transfer then: that is not predicted.
 */
START_TEST(counters_that_share_a_line_wait_for_it)
{
	double each;

	by_equation = false;
	set("coherence.in_turn=true");
	set("core.forwarding=1");
	set("core.store_queue=16");
	set("core.issue_queue=4");
	make_add(DATA, 0);
	make_add(DATA + 8, 1);
	each = cycles_of(0.35) / ROUNDS;
	ck_assert_double_eq_tol(each, 2 * transfer() / 16, 1);
	set("coherence.in_turn=false");
	set("core.forwarding=0");
	ck_assert_double_gt(cycles_of(0.15) / ROUNDS, 5 * each);
}
END_TEST

/* 4 lines more than a set of L1D has: they miss there, and hit in L2. */
static uint64_t one_set(int i)
{
	return DATA + (uint64_t)(i % 8) * 8192;
}

START_TEST(misses_of_one_set_take_turns)
{
	by_equation = false;
	make(&(struct loop){ store, 3, 1, one_set, true }, 0);
	ck_assert_double_eq_tol(cycles_of(0.01) / ROUNDS, 1, 0.1);
	set("l1d.after_store=17");
	ck_assert_double_eq_tol(cycles_of(0.01) / ROUNDS, 17, 0.1);
	set("l1d.after_load=30"); /* of which there are none */
	ck_assert_double_eq_tol(cycles_of(0.01) / ROUNDS, 17, 0.1);
}
END_TEST

/* More lines than L1D has, fewer than L2, in all sets. */
static uint64_t all_sets(int i)
{
	return DATA + (uint64_t)(i % 1000) * LINE;
}

/* Two columns: every third store goes to the second one. */
static uint64_t two_columns(int i)
{
	return one_set(i) + (i % 3 ? 0 : LINE);
}

/* A store, and additions that each need the one before. */
static void make_stores(uint64_t (*address)(int i), int additions)
{
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, store, 3);
	for (int i = 0; i < additions; i++)
		fake_trace_insn(&fake, "\x48\x83\xc0\x01", 4); /* add $1,%rax */
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, 0, 0);
		fake_trace_access(&fake, 0, 0, true, address(i));
	}
}

/*
 * The stores of a micro-trace leave a queue unfilled for long, or all the time;
 * in the program it is full.
 */
static const struct {
	const char *queue;
	int additions, after_store;
} filling[] = {
	{ "core.store_queue=64", 6, 17 },   { "core.store_queue=64", 9, 17 },
	{ "core.store_queue=64", 12, 17 },  { "core.store_queue=130", 6, 17 },
	{ "core.store_queue=104", 16, 30 }, { "core.store_queue=104", 21, 30 },
};

START_TEST(a_queue_of_stores_that_fills_was_full_before)
{
	char gap[40];

	by_equation = false;
	set(filling[_i].queue);
	snprintf(gap, sizeof(gap), "l1d.after_store=%d",
		 filling[_i].after_store);
	set(gap);
	make_stores(one_set, filling[_i].additions);
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS,
				filling[_i].after_store, 0.5);
}
END_TEST

START_TEST(stores_to_another_column_do_not_empty_it)
{
	by_equation = false;
	set("core.store_queue=64");
	set("l1d.after_store=17");
	make_stores(two_columns, 6);
	cycles_of(0.02);
}
END_TEST

/* Columns of 16 lines one after the other, more than L1D holds. */
static uint64_t next_columns(int i)
{
	return DATA + (uint64_t)(i % 16) * 8192 +
	       (uint64_t)(i / 16 % 64) * LINE;
}

/*
 * The first stores come from memory, and their queue is full. Those cycles are
 * no more than those lines, of which few micro-traces have many.
 */
START_TEST(a_queue_is_full_of_lines_from_memory_for_as_long_as_they_come)
{
	by_equation = false;
	make_stores(next_columns, _i);
	cycles_of(0.05);
	set("core.store_queue=64");
	cycles_of(0.05);
}
END_TEST

/* The same, eight stores to each line: these all miss. */
static uint64_t next_wide_columns(int i)
{
	return next_columns(i / 128 * 16 + i % 16) + (uint64_t)(i / 16 % 8) * 8;
}

/*
 * The set that comes next is free, whatever waits for those before. A
 * micro-trace has more stores than a column here, or it says nothing of that.
 */
START_TEST(a_column_behind_another_finds_its_set_free)
{
	by_equation = false;
	set("core.store_queue=64");
	set("l1d.after_store=17");
	make_stores(next_wide_columns, _i);
	cycles_of(0.05);
}
END_TEST

static const char load[] = "\x48\x8b\x11"; /* mov (%rcx),%rdx */

START_TEST(loads_of_one_set_take_turns)
{
	by_equation = false;
	set("l1d.after_load=10");
	make(&(struct loop){ load, 3, 1, one_set, false }, 0);
	ck_assert_double_eq_tol(cycles_of(0.02) / ROUNDS, 10, 0.2);
}
END_TEST

/* What the first round takes, from memory, is not what this is about. */
START_TEST(misses_of_other_sets_do_not_wait)
{
	const double any = 1.5;
	double before;

	by_equation = false;
	make(&(struct loop){ _i ? store : load, 3, 1, all_sets, _i }, 0);
	before = cycles_of(any);
	set("l1d.after_load=10");
	set("l1d.after_store=17");
	ck_assert_double_eq_tol(cycles_of(any), before, before / 100);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("turns");
	TCase *t = tcase_create("turns");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, what_waits_is_done_when_the_line_comes);
	tcase_add_test(t, a_line_alone_is_as_before);
	tcase_add_test(t, misses_of_one_set_take_turns);
	tcase_add_test(t, a_load_takes_what_a_store_holds);
	tcase_add_test(t,
		       a_vector_register_waits_longer_for_what_a_store_holds);
	tcase_add_test(t, counters_that_share_a_line_wait_for_it);
	tcase_add_loop_test(t, a_queue_of_stores_that_fills_was_full_before, 0,
			    sizeof(filling) / sizeof(*filling));
	tcase_add_test(t, stores_to_another_column_do_not_empty_it);
	tcase_add_loop_test(
		t,
		a_queue_is_full_of_lines_from_memory_for_as_long_as_they_come,
		0, 5);
	tcase_add_loop_test(t, a_column_behind_another_finds_its_set_free, 0,
			    6);
	tcase_add_test(t, loads_of_one_set_take_turns);
	tcase_add_loop_test(t, misses_of_other_sets_do_not_wait, 0, 2);
	suite_add_tcase(s, t);
	return run_suite(s);
}
