/* SPDX-License-Identifier: MIT */
/*
 * test_interp_window - where a window ends and what it costs
 */
#include <check.h>
#include <stdio.h>
#include <ucontext.h>

#include "window_program.h"
#include "tests/run_suite.h"

CODE(two_loads, "1: mov rax, [rsi]; mov rdx, [rdi]; dec rcx; jnz 1b; ud2");

START_TEST(window_closes_at_the_first_return_after_the_minimum)
{
	LOAD_PROGRAM(two_loads);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 24);
	ck_assert_uint_eq(interp_instructions(&interp), 48);
	ck_assert_uint_eq(interp_ip(&interp), code_at);
	for (uint32_t i = 0; i < 24; i++) {
		const struct access *a = interp_access(&interp, i);

		ck_assert_uint_eq(a->addr, i % 2 ? DATA_AT + 1024 : DATA_AT);
		ck_assert_uint_eq(a->ip, i % 2 ? code_at + 3 : code_at);
		ck_assert_uint_eq(a->len, 8);
		ck_assert_uint_eq(a->flags, ACCESS_LOAD);
	}
}
END_TEST

CODE(five_loads, "1: mov rax, [rsi]; mov rax, [rsi]; mov rax, [rsi]; "
		 "mov rax, [rsi]; mov rax, [rsi]; jmp 1b");

START_TEST(window_holds_whole_rounds_of_a_loop)
{
	LOAD_PROGRAM(five_loads);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 25);
}
END_TEST

CODE(one_load, "1: mov rax, [rsi]; .rept 49; inc rdx; .endr; jmp 1b");

START_TEST(window_closes_with_few_accesses_after_many_instructions)
{
	LOAD_PROGRAM(one_load);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 3);
	ck_assert_uint_eq(interp_instructions(&interp), 153);
}
END_TEST

START_TEST(limits_of_a_window_are_its_own)
{
	static const struct interp_limits few = {
		.accesses_min = 2,
		.instructions_min = 400,
		.accesses_max = 3,
		.instructions_max = 60,
	};

	LOAD_PROGRAM(two_loads);
	interp_begin(&interp, &cpu, &memory);
	interp_limit(&interp, &few);
	ck_assert_int_eq(interp_run(&interp, 0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 2);
	LOAD_PROGRAM(one_load);
	interp_begin(&interp, &cpu, &memory);
	interp_limit(&interp, &few);
	ck_assert_int_eq(interp_run(&interp, 0), INTERP_FULL);
	ck_assert_uint_eq(interp_count(&interp), 1);
	ck_assert_uint_eq(interp_instructions(&interp), 51);
}
END_TEST

CODE(long_round, "1: mov [rdi], rax; .rept 89; mov rax, [rsi]; .endr; jmp 1b");

START_TEST(a_round_longer_than_the_minimum_is_taken_whole)
{
	LOAD_PROGRAM(long_round);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 90);
}
END_TEST

/* A short loop that closes below the minimum, then one that never returns. */
CODE(leaves, "1: mov rax, [rsi]; dec rcx; jnz 1b; "
	     "2: mov rax, [rdi]; mov rax, [rdi]; jmp 2b");

START_TEST(full_window_is_cut_at_its_last_closure)
{
	LOAD_PROGRAM(leaves);
	cpu.gpr[GPR_RCX] = 10; /* returns to the start nine times */
	ck_assert_int_eq(begin_and_run(0), INTERP_FULL);
	ck_assert_uint_eq(interp_count(&interp), 9);
	ck_assert_uint_eq(interp_instructions(&interp), 27);
}
END_TEST

START_TEST(full_window_that_never_closed_has_all_its_accesses)
{
	LOAD_PROGRAM(leaves);
	cpu.gpr[GPR_RCX] = 1;
	ck_assert_int_eq(begin_and_run(0), INTERP_FULL);
	ck_assert_uint_eq(interp_count(&interp), WINDOW_ACCESSES_MAX);
}
END_TEST

CODE(no_access, "1: inc rax; inc rdx; jmp 1b");

START_TEST(window_without_accesses_ends_at_the_instruction_limit)
{
	LOAD_PROGRAM(no_access);
	ck_assert_int_eq(begin_and_run(0), INTERP_FULL);
	ck_assert_uint_eq(interp_count(&interp), 0);
	ck_assert_uint_eq(interp_instructions(&interp), 400);
}
END_TEST

START_TEST(stop_at_ends_on_the_wanted_access)
{
	LOAD_PROGRAM(two_loads);
	ck_assert_int_eq(begin_and_run(7), INTERP_REACHED);
	ck_assert_uint_eq(interp_count(&interp), 7);
	ck_assert_int_eq(interp_run(&interp, 9), INTERP_REACHED);
	ck_assert_uint_eq(interp_count(&interp), 9);
	ck_assert_uint_eq(interp_access(&interp, 8)->addr, DATA_AT);
}
END_TEST

CODE(calls, "push rax; call 1f; pop rdx; syscall; 1: mov [rdi], rax; ret");

START_TEST(implicit_stack_accesses_count_and_a_system_call_ends)
{
	static const struct {
		uint32_t offset, flags;
	} want[] = {
		{ 4096 - 8, ACCESS_STORE | ACCESS_IMPLICIT },
		{ 4096 - 16, ACCESS_STORE | ACCESS_IMPLICIT },
		{ 1024, ACCESS_STORE },
		{ 4096 - 16, ACCESS_LOAD | ACCESS_IMPLICIT },
		{ 4096 - 8, ACCESS_LOAD | ACCESS_IMPLICIT },
	};

	LOAD_PROGRAM(calls);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_count(&interp), 5);
	for (uint32_t i = 0; i < 5; i++) {
		const struct access *a = interp_access(&interp, i);

		ck_assert_uint_eq(a->addr, DATA_AT + want[i].offset);
		ck_assert_uint_eq(a->flags, want[i].flags);
	}
}
END_TEST

CODE(copy, "1: rep movsb; mov ecx, 5; mov [rdi], rax; jmp 1b");

START_TEST(each_repetition_of_a_string_move_is_two_accesses)
{
	LOAD_PROGRAM(copy);
	cpu.gpr[GPR_RCX] = 3;
	ck_assert_int_eq(begin_and_run(7), INTERP_REACHED);
	for (uint32_t i = 0; i < 6; i++) {
		const struct access *a = interp_access(&interp, i);
		bool is_load = a->flags & ACCESS_LOAD;

		ck_assert_uint_eq(a->len, 1);
		ck_assert_uint_eq(a->ip, code_at);
		ck_assert_uint_eq(a->addr,
				  DATA_AT + (is_load ? 0 : 1024) + i / 2);
	}
	ck_assert_uint_eq(interp_access(&interp, 6)->addr, DATA_AT + 1027);
}
END_TEST

CODE(rounding, "addsd xmm0, xmm1; cvttsd2si rax, xmm0; "
	       "mov rax, [rsi+rax*8]; syscall");

/* What needs most stack: decoding, permutations, calls of the reader. */
CODE(deep, "vpermt2d zmm1, zmm2, [rsi+61]; vpermi2q zmm1, zmm2, zmm3; "
	   "vpternlogd zmm1, zmm2, zmm3, 0x96; vpcmpub k1, zmm1, [rsi], 2; "
	   "vmovdqu8 [rdi+63], zmm1; kmovq rax, k1; test rax, rax; jne 1f; "
	   "1: call [rsi]; ud2");

static uint32_t own_mxcsr(void)
{
	uint32_t mxcsr;

	__asm__ volatile("stmxcsr %0" : "=m"(mxcsr));
	return mxcsr;
}

START_TEST(floating_point_uses_the_programs_rounding_and_leaves_ours)
{
	static uint8_t fxsave[512] __attribute__((aligned(16)));
	static const double one = 1, tiny = -1e-300;
	uint32_t up = 0x1f80 | 2 << 13, down = 0x1f80 | 1 << 13;
	uint32_t before = own_mxcsr();

	LOAD_PROGRAM(rounding);
	memcpy(fxsave + 160, &one, 8);
	memcpy(fxsave + 176, &tiny, 8);
	cpu.fxsave = fxsave;
	memcpy(fxsave + 24, &up, 4);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 8);
	memcpy(fxsave + 24, &down, 4);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT);
	ck_assert_uint_eq(own_mxcsr(), before);
	cpu.fxsave = NULL;
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
}
END_TEST

/* Sanitizers make larger frames than ours. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum {
	STACK_LIMIT = 64 * 1024
};
#else
enum {
	STACK_LIMIT = 4 * 1024
};
#endif

static ucontext_t caller, painted;

static void interpret_deep(void)
{
	LOAD_PROGRAM(deep);
	begin_and_run(0);
}

START_TEST(a_handler_needs_little_stack_for_it)
{
	static uint8_t stack[128 * 1024];
	volatile size_t untouched = 0;

	/* Not measured: the dynamic linker needs stack at the first call. */
	interpret_deep();
	memset(stack, 0xa5, sizeof(stack));
	ck_assert_int_eq(getcontext(&painted), 0);
	painted.uc_stack.ss_sp = stack;
	painted.uc_stack.ss_size = sizeof(stack);
	painted.uc_link = &caller;
	makecontext(&painted, interpret_deep, 0);
	ck_assert_int_eq(swapcontext(&caller, &painted), 0);
	while (stack[untouched] == 0xa5)
		untouched++;
	printf("%zu bytes of stack\n", sizeof(stack) - untouched);
	ck_assert_uint_gt(interp_count(&interp), 0);
	ck_assert_uint_lt(sizeof(stack) - untouched, STACK_LIMIT);
}
END_TEST

START_TEST(an_interpreter_is_small)
{
	/* Of these, eight blocks of data are 2 KiB. */
	ck_assert_uint_le(interp_bytes, 20 * 1024);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_window");
	TCase *c = tcase_create("window");

	tcase_add_test(c, window_closes_at_the_first_return_after_the_minimum);
	tcase_add_test(c, window_holds_whole_rounds_of_a_loop);
	tcase_add_test(c,
		       window_closes_with_few_accesses_after_many_instructions);
	tcase_add_test(c, limits_of_a_window_are_its_own);
	tcase_add_test(c, a_round_longer_than_the_minimum_is_taken_whole);
	tcase_add_test(c, full_window_is_cut_at_its_last_closure);
	tcase_add_test(c, full_window_that_never_closed_has_all_its_accesses);
	tcase_add_test(c,
		       window_without_accesses_ends_at_the_instruction_limit);
	tcase_add_test(c, stop_at_ends_on_the_wanted_access);
	tcase_add_test(c, implicit_stack_accesses_count_and_a_system_call_ends);
	tcase_add_test(c, each_repetition_of_a_string_move_is_two_accesses);
	tcase_add_test(
		c, floating_point_uses_the_programs_rounding_and_leaves_ours);
	tcase_add_test(c, a_handler_needs_little_stack_for_it);
	tcase_add_test(c, an_interpreter_is_small);
	suite_add_tcase(s, c);
	return run_suite(s);
}
