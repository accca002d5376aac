/* SPDX-License-Identifier: MIT */
/*
 * test_interp_window - where a window ends, what is read, what is told
 *
 * Small pieces of code are assembled here, copied to where they are to run,
 * and interpreted. What their accesses are is known by construction.
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "src/x86/interp/interp.h"
#include "src/x86/interp/state.h"
#include "tests/run_suite.h"

#define CODE(name, text)                                                       \
	extern const uint8_t name[], name##_end[];                             \
	__asm__(".pushsection .rodata\n\t.intel_syntax noprefix\n" #name       \
		":\n\t" text "\n" #name "_end:\n\t.att_syntax\n\t.popsection")

enum {
	DATA_AT = 0x600000,
	DATA_BYTES = 8192,
};

/* Memory of a program that does not exist: reads are counted. */
struct program {
	uint8_t code[512];
	uint8_t data[DATA_BYTES];
	unsigned code_reads, data_reads;
};

static struct program program;
/* Each program has an address of its own: what was learnt of one is not used.
 */
static uint64_t code_at = 0x400000;
static struct interp interp;
static struct memory memory;
static struct cpu_state cpu;

static int program_read(void *ctx, uint64_t addr, void *buf, size_t n)
{
	struct program *p = ctx;

	if (addr >= code_at && addr + n <= code_at + sizeof(p->code)) {
		p->code_reads++;
		memcpy(buf, p->code + (addr - code_at), n);
		return 0;
	}
	if (addr >= DATA_AT && addr + n <= DATA_AT + DATA_BYTES) {
		p->data_reads++;
		memcpy(buf, p->data + (addr - DATA_AT), n);
		return 0;
	}
	return -EFAULT;
}

static void load_program(const uint8_t *begin, const uint8_t *end)
{
	code_at += 0x1040;
	memset(&program, 0, sizeof(program));
	memset(program.code, 0xcc, sizeof(program.code));
	memcpy(program.code, begin, end - begin);
	memory = (struct memory){ .read = program_read, .ctx = &program };
	memset(&cpu, 0, sizeof(cpu));
	cpu.rip = code_at;
	cpu.rflags = 0x202;
	cpu.gpr[GPR_RSP] = DATA_AT + 4096;
	cpu.gpr[GPR_RSI] = DATA_AT;
	cpu.gpr[GPR_RDI] = DATA_AT + 1024;
	cpu.gpr[GPR_RCX] = 1000;
}

#define LOAD_PROGRAM(name) load_program(name, name##_end)

static void put_word(unsigned at, uint64_t v)
{
	memcpy(program.data + at, &v, sizeof(v));
}

static enum interp_end begin_and_run(uint32_t stop_at)
{
	interp_begin(&interp, &cpu, &memory);
	return interp_run(&interp, stop_at);
}

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

CODE(long_round, "1: mov [rdi], rax; .rept 89; mov rax, [rsi]; .endr; jmp 1b");

START_TEST(a_round_longer_than_the_minimum_is_taken_whole)
{
	LOAD_PROGRAM(long_round);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 90);
}
END_TEST

/* A short closure below the minimum, then a way out that never returns. */
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

CODE(sum, "1: add rax, [rsi]; add rsi, 8; dec rcx; jnz 1b");

START_TEST(memory_that_nothing_depends_on_is_not_read)
{
	LOAD_PROGRAM(sum);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 24);
	ck_assert_uint_eq(program.data_reads, 0);
}
END_TEST

CODE(chase, "1: mov rsi, [rsi]; dec rcx; jnz 1b");

START_TEST(memory_that_an_address_depends_on_is_read_once_a_line)
{
	LOAD_PROGRAM(chase);
	for (unsigned i = 0; i < 64; i++)
		put_word(64 * i, DATA_AT + 64 * ((i + 1) % 4));
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(program.data_reads, 4);
	for (uint32_t i = 0; i < 24; i++)
		ck_assert_uint_eq(interp_access(&interp, i)->addr,
				  DATA_AT + 64 * (i % 4));
}
END_TEST

CODE(mixed, "1: add rax, [rdi]; mov rdx, [rsi]; add rsi, rdx; "
	    "cmp qword ptr [rsi], 0; jne 1b; ud2");

START_TEST(only_what_is_demanded_is_read)
{
	LOAD_PROGRAM(mixed);
	for (unsigned i = 0; i < 128; i++)
		put_word(8 * i, 8);
	cpu.gpr[GPR_RDI] = DATA_AT + 4096; /* the sum's line */
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 24);
	/* eight steps of 8 bytes and the word beyond: lines 0 and 1 */
	ck_assert_uint_eq(program.data_reads, 2);
	ck_assert_uint_eq(interp_access(&interp, 22)->addr, DATA_AT + 56);
}
END_TEST

CODE(forward, "mov [rdi], rsi; mov dword ptr [rdi+4], 0; mov rax, [rdi]; "
	      "mov rdx, [rax+16]; syscall");

START_TEST(a_load_sees_the_stores_before_it)
{
	LOAD_PROGRAM(forward);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_count(&interp), 4);
	ck_assert_uint_eq(interp_access(&interp, 3)->addr, DATA_AT + 16);
}
END_TEST

CODE(partly, "mov rax, [rdi]; mov word ptr [rdi+1], 0x6000; "
	     "mov rax, [rdi]; mov rdx, [rax]; syscall");

START_TEST(a_load_joins_memory_and_a_narrower_store)
{
	LOAD_PROGRAM(partly);
	put_word(1024, 0x0000000000aaaa10);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_access(&interp, 3)->addr, DATA_AT + 16);
}
END_TEST

CODE(blocked, "1: mov rax, [rsi]; rdtsc; mov rdx, [rsi+8]; mov rdx, [rax]; "
	      "jmp 1b");

START_TEST(an_unknown_address_ends_and_resuming_goes_on)
{
	uint32_t count;

	LOAD_PROGRAM(blocked);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
	ck_assert_uint_eq(interp_count(&interp), 2);
	ck_assert_uint_eq(interp_ip(&interp), code_at + 9);
	ck_assert(!interp_first_visit(&interp, &count));

	cpu.rip = code_at + 9;
	cpu.gpr[GPR_RAX] = DATA_AT + 512;
	interp_resume(&interp, &cpu, &memory);
	ck_assert_int_eq(interp_run(&interp, 0), INTERP_UNKNOWN_ADDRESS);
	ck_assert_uint_eq(interp_count(&interp), 5);
	ck_assert_uint_eq(interp_access(&interp, 2)->addr, DATA_AT + 512);
	ck_assert_uint_eq(interp_ip(&interp), code_at + 9);
	ck_assert(interp_first_visit(&interp, &count));
	ck_assert_uint_eq(count, 2);
}
END_TEST

CODE(unknown_branch, "mov rax, [rsi]; rdtsc; test eax, eax; je 1f; 1: nop");

START_TEST(a_branch_on_an_unknown_ends_with_the_path_unknown)
{
	LOAD_PROGRAM(unknown_branch);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_PATH);
	ck_assert_uint_eq(interp_count(&interp), 1);
}
END_TEST

CODE(wild, "mov rax, [rsi]; mov rbx, [rax]; mov rdx, [rbx]; nop");

START_TEST(an_address_out_of_unreadable_memory_is_unknown)
{
	LOAD_PROGRAM(wild);
	put_word(0, 0xdead0000);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
	ck_assert_uint_eq(interp_count(&interp), 2);
}
END_TEST

CODE(far_away, "mov rax, [rsi]; mov edx, 0x12345678; jmp rdx");
CODE(nonsense, "mov rax, [rsi]; .byte 0x06");
CODE(writes_code, "mov byte ptr [rdi], 0x90; nop; nop; nop");

START_TEST(code_that_cannot_be_had_ends_the_window)
{
	LOAD_PROGRAM(far_away);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNREADABLE);
	ck_assert_uint_eq(interp_ip(&interp), 0x12345678);
	LOAD_PROGRAM(nonsense);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNDECODED);
	ck_assert_uint_eq(interp_count(&interp), 1);
	LOAD_PROGRAM(writes_code);
	cpu.gpr[GPR_RDI] = code_at + 4;
	ck_assert_int_eq(begin_and_run(0), INTERP_UNDECODED);
	ck_assert_uint_eq(interp_ip(&interp), code_at + 4);
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

START_TEST(code_on_the_direct_page_is_not_read_by_system_calls)
{
	LOAD_PROGRAM(sum);
	cpu.rip = (uint64_t)program.code;
	memory.direct_low = (uint64_t)program.code;
	memory.direct_high = memory.direct_low + sizeof(program.code);
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(program.code_reads + program.data_reads, 0);
}
END_TEST

START_TEST(changed_code_is_decoded_anew)
{
	LOAD_PROGRAM(five_loads);
	ck_assert_int_eq(begin_and_run(1), INTERP_REACHED);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT);
	program.code[2] = 0x07; /* now mov rax, [rdi] */
	ck_assert_int_eq(begin_and_run(1), INTERP_REACHED);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 1024);
}
END_TEST

CODE(rounding, "addsd xmm0, xmm1; cvttsd2si rax, xmm0; "
	       "mov rax, [rsi+rax*8]; syscall");

/* What needs most: decoding anew, permutations, calls into the reader. */
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

/* Sanitizers make frames that say nothing about ours. */
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

	/* The dynamic linker's own needs, at a first call, are not counted. */
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
	ck_assert_uint_le(interp_bytes, 20 * 1024);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_window");
	TCase *c = tcase_create("window");

	tcase_add_test(c, window_closes_at_the_first_return_after_the_minimum);
	tcase_add_test(c, window_holds_whole_rounds_of_a_loop);
	tcase_add_test(c, a_round_longer_than_the_minimum_is_taken_whole);
	tcase_add_test(c, full_window_is_cut_at_its_last_closure);
	tcase_add_test(c, full_window_that_never_closed_has_all_its_accesses);
	tcase_add_test(c,
		       window_without_accesses_ends_at_the_instruction_limit);
	tcase_add_test(c, stop_at_ends_on_the_wanted_access);
	tcase_add_test(c, implicit_stack_accesses_count_and_a_system_call_ends);
	tcase_add_test(c, memory_that_nothing_depends_on_is_not_read);
	tcase_add_test(c,
		       memory_that_an_address_depends_on_is_read_once_a_line);
	tcase_add_test(c, only_what_is_demanded_is_read);
	tcase_add_test(c, a_load_sees_the_stores_before_it);
	tcase_add_test(c, a_load_joins_memory_and_a_narrower_store);
	tcase_add_test(c, an_unknown_address_ends_and_resuming_goes_on);
	tcase_add_test(c, a_branch_on_an_unknown_ends_with_the_path_unknown);
	tcase_add_test(c, an_address_out_of_unreadable_memory_is_unknown);
	tcase_add_test(c, code_that_cannot_be_had_ends_the_window);
	tcase_add_test(c, each_repetition_of_a_string_move_is_two_accesses);
	tcase_add_test(c, code_on_the_direct_page_is_not_read_by_system_calls);
	tcase_add_test(c, changed_code_is_decoded_anew);
	tcase_add_test(
		c, floating_point_uses_the_programs_rounding_and_leaves_ours);
	tcase_add_test(c, a_handler_needs_little_stack_for_it);
	tcase_add_test(c, an_interpreter_is_small);
	suite_add_tcase(s, c);
	return run_suite(s);
}
