/* SPDX-License-Identifier: MIT */
/*
 * test_simulate - programs whose time follows from the machine by arithmetic
 */
#include "simulated_loops.h"
#include "tests/run_verb.h"

static uint64_t one_line(int i)
{
	return DATA;
}

static uint64_t new_lines(int i)
{
	return DATA + (uint64_t)i * LINE;
}

/* More lines than L2 has, fewer than the LLC, again and again. */
static uint64_t llc_lines(int i)
{
	return DATA + (uint64_t)(i % 5000) * LINE;
}

/* The same of L1D and L2. */
static uint64_t l2_lines(int i)
{
	return DATA + (uint64_t)(i % 1000) * LINE;
}

/* 4 lines more than a set of L1D has: they miss there, and hit in L2. */
static uint64_t one_set(int i)
{
	return DATA + (uint64_t)(i % 8) * 8192;
}

#define ADD_RAX   INSN("\x48\x01\xc0") /* add %rax,%rax */
#define LOAD_RAX  INSN("\x48\x8b\x00") /* mov (%rax),%rax */
#define LOAD_RCX  INSN("\x48\x8b\x08") /* mov (%rax),%rcx */
#define STORE_RCX INSN("\x48\x89\x08") /* mov %rcx,(%rax) */
#define MULSD(r)  INSN("\xf2\x0f\x59" r)
#define LEA_RCX   INSN("\x48\x8d\x48\x01") /* lea 1(%rax),%rcx */

START_TEST(dependent_additions_take_a_cycle_each)
{
	takes(&(struct loop){ .insn = { ADD_RAX, ADD_RAX } }, 2);
}
END_TEST

START_TEST(independent_additions_fill_the_three_ports)
{
	struct loop l = { .insn = { ADD_1("\xc0"), ADD_1("\xc1"), ADD_1("\xc2"),
				    ADD_1("\xc3"), ADD_1("\xc5"),
				    ADD_1("\xc6") } };

	takes(&l, 2);
	set("core.width=2"); /* now dispatch is the limit */
	takes(&l, 3);
	set("core.width=6");
	set("uop.alu=1 on 0,1,2,3,4,5");
	takes(&l, 1);
}
END_TEST

START_TEST(chains_of_floating_point_take_their_latencies)
{
	takes(&(struct loop){ .insn = { ADDSD("\xc0") } }, 3);
	takes(&(struct loop){ .insn = { MULSD("\xc0"), ADDSD("\xc0") } }, 8);
}
END_TEST

START_TEST(classes_with_one_port_in_common_take_turns)
{
	takes(&(struct loop){ .insn = { LEA_RCX, ADDSD("\xc1"), ADDSD("\xd1"),
					ADDSD("\xd9") } },
	      4);
	/* Those that may go elsewhere make room. */
	takes(&(struct loop){ .insn = { ADD_1("\xc0"), LEA_RCX,
					ADD_1("\xc2") } },
	      1);
}
END_TEST

START_TEST(the_divider_is_not_pipelined)
{
	set("uop.div64=10 on 0 busy 20");
	/* The next division needs the result of this one after 10 cycles. */
	takes(&(struct loop){ .insn = { DIV_RCX } }, 20);
	set("uop.div64=30 on 0 busy 20");
	takes(&(struct loop){ .insn = { DIV_RCX } }, 30);
}
END_TEST

START_TEST(a_pointer_chase_takes_the_latency_of_its_level)
{
	struct loop l = { .insn = { LOAD_RAX }, .address = one_line };

	takes(&l, 4);
	l.address = one_set;
	takes(&l, 1 + 8);
	l.address = new_lines;
	takes(&l, round(1 + 3 + 10 + 10 + (45 + 64 / 7.6) * 2.5));
}
END_TEST

START_TEST(a_pointer_chase_in_the_llc_takes_its_latency)
{
	struct loop l = { .insn = { LOAD_RAX }, .address = llc_lines };
	uint64_t three = cycles_of(&l, 15000), two = cycles_of(&l, 10000);

	ck_assert_double_eq_tol((double)(three - two) / 5000, 1 + 3 + 30, 0.34);
}
END_TEST

START_TEST(independent_loads_stream_at_the_bandwidth_of_memory)
{
	struct loop l = { .insn = { LOAD_RCX }, .address = new_lines };

	takes(&l, 64 / 7.6 * 2.5);
	set("memory.bandwidth_gbs=76"); /* now the MSHRs are the limit */
	takes(&l, round(24 + (45 + 64 / 76.0) * 2.5) / 10);
}
END_TEST

START_TEST(independent_hits_take_the_load_port_each)
{
	takes(&(struct loop){ .insn = { LOAD_RCX }, .address = one_line }, 1);
}
END_TEST

START_TEST(stores_that_miss_wait_for_mshrs)
{
	struct loop l = { .insn = { STORE_RCX },
			  .address = llc_lines,
			  .store = true };
	uint64_t three, two;

	takes(&(struct loop){ .insn = { STORE_RCX },
			      .address = one_line,
			      .store = true },
	      1);
	three = cycles_of(&l, 15000);
	two = cycles_of(&l, 10000);
	/* 34 cycles in the LLC, 10 at a time */
	ck_assert_double_eq_tol((double)(three - two) / 5000, 3.4, 0.034);
}
END_TEST

START_TEST(misses_of_one_set_take_turns)
{
	struct loop stores = { .insn = { STORE_RCX },
			       .address = one_set,
			       .store = true };
	struct loop loads = { .insn = { LOAD_RCX }, .address = one_set };

	takes(&stores, 1);
	takes(&loads, 1);
	set("l1d.after_store=17");
	takes(&stores, 17);
	takes(&loads, 1);
	set("l1d.after_load=10");
	takes(&loads, 10);
	/* Each set for itself. */
	stores.address = loads.address = l2_lines;
	takes(&stores, 1);
	takes(&loads, 1);
}
END_TEST

/* A conditional branch whose outcomes follow @taken(i); cycles a branch. */
static double branches(bool (*taken)(int i), uint64_t *mispredicted)
{
	double cycles[2];

	for (int k = 0; k < 2; k++) {
		struct simulated s;

		fake_trace_release(&fake);
		fake_trace_init(&fake);
		fake_trace_block(&fake, CODE); /* jne over 2 bytes */
		fake_trace_insn(&fake, "\x75\x02", 2);
		fake_trace_block(&fake, CODE + 2);
		fake_trace_insn(&fake, "\xeb\xfc", 2); /* jmp back */
		fake_trace_block(&fake, CODE + 4);
		fake_trace_insn(&fake, "\xeb\xfa", 2);
		for (int i = 0; i < (k + 1) * N; i++) {
			fake_trace_run(&fake, 0, 0);
			fake_trace_run(&fake, 0, taken(i) ? 2 : 1);
		}
		s = run();
		cycles[k] = (double)s.cycles;
		*mispredicted = s.thread[0].counts.mispredicted;
		simulated_release(&s);
	}
	return (cycles[1] - cycles[0]) / N;
}

static bool every_other(int i)
{
	return i & 1;
}

static bool every_fifth(int i)
{
	return i % 5 == 0;
}

START_TEST(a_branch_that_is_always_mispredicted_takes_the_refill)
{
	uint64_t wrong;

	set("core.predictor=one_bit");
	/* dispatched refill - 2 cycles after the last one's issue, issued in
	 * the next */
	ck_assert_double_eq_tol(branches(every_other, &wrong), 8 - 2 + 1, 0.07);
	ck_assert_uint_eq(wrong, 2 * N - 1);
	set("core.refill=20");
	ck_assert_double_eq_tol(branches(every_other, &wrong), 20 - 2 + 1,
				0.19);
}
END_TEST

START_TEST(predictors_learn_patterns_that_they_can_hold)
{
	static const char *const able[] = { "core.predictor=tournament",
					    "core.predictor=pentium_m" };
	uint64_t wrong;

	for (int i = 0; i < 2; i++) {
		set(able[i]);
		branches(every_fifth, &wrong);
		ck_assert_uint_lt(wrong, N / 50);
	}
	set("core.predictor=one_bit");
	branches(every_fifth, &wrong);
	ck_assert_int_le(labs((long)wrong - 2 * (2 * N / 5)), 2);
	set("core.predictor=perfect");
	/* port 5 is the branch's alone; a jump goes beside it */
	ck_assert_double_eq_tol(branches(every_fifth, &wrong), 1, 0.01);
	ck_assert_uint_eq(wrong, 0);
}
END_TEST

/* Threads add to words of one line: each addition fetches it from the other. */
static uint64_t two_threads(int rounds, uint64_t apart, uint64_t *transfers)
{
	struct simulated s;
	uint64_t cycles;

	fake_trace_release(&fake);
	fake_trace_init(&fake);
	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x48\x01\x08", 3); /* add %rcx,(%rax) */
	for (int thread = 0; thread < 2; thread++)
		for (int i = 0; i < rounds; i++) {
			uint64_t addr = DATA + (uint64_t)thread * apart;

			fake_trace_run(&fake, thread, 0);
			fake_trace_access(&fake, thread, 0, false, addr);
			fake_trace_access(&fake, thread, 0, true, addr);
		}
	s = run();
	cycles = s.cycles;
	*transfers =
		s.thread[0].caches.transfers + s.thread[1].caches.transfers;
	simulated_release(&s);
	return cycles;
}

START_TEST(two_threads_on_one_line_take_a_transfer_each_time)
{
	uint64_t transfers;
	double took = (double)(two_threads(2 * N, 8, &transfers) -
			       two_threads(N, 8, &transfers)) /
		      N;

	/* to the LLC, from the other core, the addition */
	ck_assert_double_eq_tol(took, 1 + 3 + 30 + 50 + 1, 0.85);
	/* A thread may add twice before the other has the line. */
	ck_assert_uint_ge(transfers, 2 * N * 95 / 100);
	took = (double)(two_threads(2 * N, LINE, &transfers) -
			two_threads(N, LINE, &transfers)) /
	       N;
	ck_assert_double_eq_tol(took, 4 + 1, 0.05);
	ck_assert_uint_eq(transfers, 0);
}
END_TEST

START_TEST(a_prefetcher_hides_half_of_a_slow_stream)
{
	struct loop l = { .insn = { LOAD_RAX }, .address = new_lines };

	/* Every other line is in L2 when it is asked for. */
	set("core.prefetcher=adjacent_line");
	takes(&l, (158 + 9) / 2.0);
}
END_TEST

START_TEST(a_smaller_window_overlaps_fewer_misses)
{
	struct loop l = { .insn = { LOAD_RCX, ADD_RAX, ADD_RAX, ADD_RAX },
			  .address = new_lines };

	/* 8 micro-operations hold 2 loads; the next enters when the first has
	 * left */
	set("core.issue_queue=8");
	set("core.rob=8");
	takes(&l, (158 + 3) / 2.0);
}
END_TEST

START_TEST(a_missing_class_is_counted_by_mnemonic)
{
	struct simulated s;

	fake_trace_block(&fake, CODE);
	fake_trace_insn(&fake, "\x0f\xa2", 2); /* cpuid */
	fake_trace_insn(&fake, "\x90", 1);
	for (int i = 0; i < 10; i++)
		fake_trace_run(&fake, 0, 0);
	s = run();
	ck_assert_uint_eq(s.unknowns, 1);
	ck_assert_str_eq(s.unknown[0].mnemonic, "cpuid");
	ck_assert_uint_eq(s.unknown[0].count, 10);
	ck_assert_uint_eq(s.instructions, 20);
	simulated_release(&s);
}
END_TEST

START_TEST(the_verb_prints_an_object_for_each_machine)
{
	json_error_t e;
	struct verb v;
	json_t *j;

	make_block(&(struct loop){ .insn = { ADD_RAX } });
	for (int i = 0; i < 100; i++)
		fake_trace_run(&fake, 0, 0);
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--json", "--machine", "golden-c1",
		 "--machine", "golden-c3", path);
	ck_assert_msg(v.status == 0, "%s", v.err);
	ck_assert_int_eq(verb_lines(v.out), 2);
	*strchr(v.out, '\n') = '\0';
	j = json_loads(v.out, JSON_REJECT_DUPLICATES, &e);
	ck_assert_msg(j != NULL, "%s", e.text);
	ck_assert_str_eq(text_at(j, "machine"), "golden-c1");
	ck_assert_int_eq(int_at(j, "instructions"), 100);
	ck_assert_int_eq(int_at(j, "threads.0.instructions"), 100);
	ck_assert_int_eq(int_at(j, "caches.0.misses"), 1);
	ck_assert_int_eq(int_at(j, "memory.reads"), 1);
	at(j, "threads.0.stack.sync");
	at(j, "branches.conditional");
	at(j, "coherence.transfers");
	at(j, "time_ns");
	json_decref(j);
	verb_free(&v);
}
END_TEST

START_TEST(no_machine_is_refused_and_more_threads_than_cores_are_not)
{
	struct verb v;

	make_block(&(struct loop){ .insn = { ADD_RAX } });
	for (int i = 0; i < 5; i++)
		fake_trace_run(&fake, i, 0);
	fake_trace_write(&fake, path);
	v = VERB(cmd_simulate, "simulate", "--machine", "golden-c1", path);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
	v = VERB(cmd_simulate, "simulate", path);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "say on which machine");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("simulate");
	TCase *t = tcase_create("simulate");

	tcase_add_checked_fixture(t, begin, end);
	tcase_set_timeout(t, 300);
	tcase_add_test(t, dependent_additions_take_a_cycle_each);
	tcase_add_test(t, independent_additions_fill_the_three_ports);
	tcase_add_test(t, chains_of_floating_point_take_their_latencies);
	tcase_add_test(t, classes_with_one_port_in_common_take_turns);
	tcase_add_test(t, the_divider_is_not_pipelined);
	tcase_add_test(t, a_pointer_chase_takes_the_latency_of_its_level);
	tcase_add_test(t, a_pointer_chase_in_the_llc_takes_its_latency);
	tcase_add_test(t, independent_loads_stream_at_the_bandwidth_of_memory);
	tcase_add_test(t, independent_hits_take_the_load_port_each);
	tcase_add_test(t, stores_that_miss_wait_for_mshrs);
	tcase_add_test(t, misses_of_one_set_take_turns);
	tcase_add_test(t,
		       a_branch_that_is_always_mispredicted_takes_the_refill);
	tcase_add_test(t, predictors_learn_patterns_that_they_can_hold);
	tcase_add_test(t, two_threads_on_one_line_take_a_transfer_each_time);
	tcase_add_test(t, a_prefetcher_hides_half_of_a_slow_stream);
	tcase_add_test(t, a_smaller_window_overlaps_fewer_misses);
	tcase_add_test(t, a_missing_class_is_counted_by_mnemonic);
	tcase_add_test(t, the_verb_prints_an_object_for_each_machine);
	tcase_add_test(
		t, no_machine_is_refused_and_more_threads_than_cores_are_not);
	suite_add_tcase(s, t);
	return run_suite(s);
}
