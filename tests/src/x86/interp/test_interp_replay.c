/* SPDX-License-Identifier: MIT */
/*
 * test_interp_replay - what a thread has when it comes to an access ahead
 */
#include <check.h>
#include <stdio.h>
#include <ucontext.h>

#include "window_program.h"
#include "tests/run_suite.h"

enum {
	STACK = DATA_AT + 4096,
};

static uint64_t word_at(uint64_t addr)
{
	uint64_t v = 0;

	ck_assert_int_eq(interp_read(&interp, addr, &v, sizeof(v)), 0);
	return v;
}

static uint64_t rsp_at(uint32_t access)
{
	uint64_t gpr[16];
	uint32_t known;

	begin_and_run(0); /* a window is replayed once */
	ck_assert(interp_replay(&interp, access));
	known = interp_registers(&interp, gpr);
	ck_assert(known >> GPR_RSP & 1);
	return gpr[GPR_RSP];
}

/* Bytes: 1 push, 2 call (5), 6 pop, 7 ud2, 9 mov, 13 push, 14 pop, 15 ret */
CODE(calls, "push rbx; call 1f; pop rbx; ud2; "
	    "1: mov rax, [rsp]; push rdi; pop rdx; ret");

START_TEST(each_access_has_its_stack_and_return_address)
{
	LOAD_PROGRAM(calls);
	cpu.gpr[GPR_RSP] = STACK;
	cpu.gpr[GPR_RBX] = 77;
	cpu.gpr[GPR_RDI] = 99;
	begin_and_run(0);
	ck_assert_uint_eq(interp_count(&interp), 7);
	ck_assert_uint_eq(rsp_at(0), STACK);     /* push rbx */
	ck_assert_uint_eq(rsp_at(1), STACK - 8); /* call */
	ck_assert_uint_eq(word_at(STACK - 8), 77);
	ck_assert_uint_eq(rsp_at(2), STACK - 16); /* mov */
	ck_assert_uint_eq(word_at(STACK - 16), code_at + 6);
	ck_assert_uint_eq(rsp_at(3), STACK - 16); /* push rdi */
	ck_assert_uint_eq(rsp_at(4), STACK - 24); /* pop rdx */
	ck_assert_uint_eq(word_at(STACK - 24), 99);
	ck_assert_uint_eq(rsp_at(5), STACK - 16); /* ret */
	ck_assert_uint_eq(rsp_at(6), STACK - 8);  /* pop rbx */
	/* Backwards, as chance has it. */
	ck_assert_uint_eq(rsp_at(2), STACK - 16);
	ck_assert_uint_eq(rsp_at(0), STACK);
}
END_TEST

CODE(saved, "mov rbp, [rsi]; push rbp; mov rax, [rdi]; ud2");

START_TEST(loads_that_the_window_left_unread_are_read_on_demand)
{
	uint64_t gpr[16], v = 1234, word;

	LOAD_PROGRAM(saved);
	cpu.gpr[GPR_RSP] = STACK;
	memcpy(program.data, &v, sizeof(v)); /* rsi points here */
	begin_and_run(0);
	ck_assert_uint_eq(interp_count(&interp), 3);
	ck_assert(interp_replay(&interp, 2));
	ck_assert(!(interp_registers(&interp, gpr) >> GPR_RBP & 1));
	ck_assert_int_eq(interp_read(&interp, STACK - 8, &word, 8), -EFAULT);
	ck_assert_int_eq(interp_read(&interp, STACK - 15, &word, 8), -EFAULT);
	ck_assert_uint_eq(word_at(STACK - 16), 0);
	ck_assert_uint_eq(word_at(STACK), 0);
	ck_assert_uint_eq(gpr[GPR_RSP], STACK - 8);
	ck_assert(interp_replay_all(&interp));
	ck_assert(interp_registers(&interp, gpr) >> GPR_RBP & 1);
	ck_assert_uint_eq(gpr[GPR_RBP], 1234);
	ck_assert_uint_eq(word_at(STACK - 8), 1234);
	ck_assert_uint_eq(gpr[GPR_RSP], STACK - 8);
}
END_TEST

/* What one window wanted for a call path, the next one does not need. */
START_TEST(a_replay_teaches_nothing_about_later_windows)
{
	LOAD_PROGRAM(saved);
	cpu.gpr[GPR_RSP] = STACK;
	begin_and_run(0);
	ck_assert(interp_replay(&interp, 2));
	ck_assert_uint_eq(program.data_reads, 0);
	ck_assert(interp_replay_all(&interp));
	ck_assert_uint_gt(program.data_reads, 0);
	program.data_reads = 0;
	begin_and_run(0);
	ck_assert_uint_eq(interp_count(&interp), 3);
	ck_assert_uint_eq(program.data_reads, 0);
}
END_TEST

START_TEST(an_access_that_is_not_in_the_window_is_refused)
{
	LOAD_PROGRAM(calls);
	cpu.gpr[GPR_RSP] = STACK;
	begin_and_run(0);
	ck_assert(!interp_replay(&interp, interp_count(&interp)));
	ck_assert(!interp_replay_all(&interp));
	ck_assert_int_eq(interp_read(&interp, 8, &(uint64_t){ 0 }, 8), -EFAULT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_replay");
	TCase *c = tcase_create("interp_replay");

	tcase_add_test(c, each_access_has_its_stack_and_return_address);
	tcase_add_test(c, loads_that_the_window_left_unread_are_read_on_demand);
	tcase_add_test(c, a_replay_teaches_nothing_about_later_windows);
	tcase_add_test(c, an_access_that_is_not_in_the_window_is_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
