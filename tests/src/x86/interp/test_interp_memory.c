/* SPDX-License-Identifier: MIT */
/*
 * test_interp_memory - reads of memory, and values that are not known
 */
#include <check.h>

#include "window_program.h"
#include "tests/run_suite.h"

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

START_TEST(memory_that_an_address_depends_on_is_read_once_a_block)
{
	const unsigned block = MEMORY_READ_MAX;

	LOAD_PROGRAM(chase);
	for (unsigned i = 0; i < 4; i++)
		put_word(block * i, DATA_AT + block * ((i + 1) % 4));
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(program.data_reads, 4);
	for (uint32_t i = 0; i < 24; i++)
		ck_assert_uint_eq(interp_access(&interp, i)->addr,
				  DATA_AT + block * (i % 4));
}
END_TEST

/* Tables and structures often lie a power of two apart. */
START_TEST(blocks_a_power_of_two_apart_are_read_once)
{
	const unsigned apart = 8 * MEMORY_READ_MAX;

	LOAD_PROGRAM(chase);
	for (unsigned i = 0; i < 3; i++)
		put_word(apart * i, DATA_AT + apart * ((i + 1) % 3));
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 24);
	ck_assert_uint_eq(program.data_reads, 3);
}
END_TEST

CODE(mixed, "1: add rax, [rdi]; mov rdx, [rsi]; add rsi, rdx; "
	    "cmp qword ptr [rsi], 0; jne 1b; ud2");

START_TEST(only_what_is_demanded_is_read)
{
	LOAD_PROGRAM(mixed);
	for (unsigned i = 0; i < 128; i++)
		put_word(8 * i, 8);
	cpu.gpr[GPR_RSI] = DATA_AT + MEMORY_READ_MAX - 64;
	cpu.gpr[GPR_RDI] = DATA_AT + 4096; /* the sum's block */
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(interp_count(&interp), 24);
	/* eight steps of 8 bytes and the next word: blocks 0 and 1 */
	ck_assert_uint_eq(program.data_reads, 2);
	ck_assert_uint_eq(interp_access(&interp, 22)->addr,
			  DATA_AT + MEMORY_READ_MAX - 8);
}
END_TEST

CODE(many_loads, ".rept 55; add rax, [rdi]; .endr; "
		 ".rept 5; mov rsi, [rsi]; .endr; mov rdx, [rsi]; syscall");

/* Which loads are demanded together does not depend on their addresses. */
START_TEST(of_many_loads_only_what_is_demanded_is_read)
{
	LOAD_PROGRAM(many_loads);
	put_word(0, DATA_AT);
	cpu.gpr[GPR_RSI] = DATA_AT;
	cpu.gpr[GPR_RDI] = DATA_AT + 4096;
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_count(&interp), 61);
	ck_assert_uint_eq(program.data_reads, 1);
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

/* Loads from two directly readable places, and one that is not. */
CODE(three_chains, "1: mov rsi, [rsi]; mov rdi, [rdi]; mov rsp, [rsp]; jmp 1b");

START_TEST(data_that_is_mapped_for_certain_is_not_read_by_system_calls)
{
	static uint64_t constants[2], stack[2];

	LOAD_PROGRAM(three_chains);
	put_word(0, DATA_AT);
	constants[0] = (uint64_t)constants;
	stack[1] = (uint64_t)&stack[1];
	cpu.gpr[GPR_RDI] = (uint64_t)constants;
	cpu.gpr[GPR_RSP] = (uint64_t)&stack[1];
	memory.data[0] = (struct memory_range){
		(uint64_t)constants, (uint64_t)constants + sizeof(constants)
	};
	memory.data[1] =
		(struct memory_range){ (uint64_t)stack,
				       (uint64_t)stack + sizeof(stack) };
	ck_assert_int_eq(begin_and_run(0), INTERP_CLOSED);
	ck_assert_uint_eq(program.data_reads, 1);
	/* One byte less, and the system call does not find the word. */
	memory.data[1].high--;
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
	ck_assert_uint_eq(interp_count(&interp), 5); /* the second round's */
}
END_TEST

CODE(a_load, "mov rax, [rsi]; ud2");

START_TEST(changed_code_is_decoded_anew)
{
	LOAD_PROGRAM(a_load);
	ck_assert_int_eq(begin_and_run(1), INTERP_REACHED);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT);
	program.code[2] = 0x07; /* now mov rax, [rdi] */
	ck_assert_int_eq(begin_and_run(1), INTERP_REACHED);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 1024);
}
END_TEST

CODE(thread_pointer, "mov rax, fs:[0]; mov rdx, [rsi]; ud2");
CODE(gs_pointer, "mov rax, gs:[0]; mov rdx, [rsi]; ud2");

static bool *const base_known[] = { &cpu.fs_known, &cpu.gs_known };
static uint64_t *const segment_base[] = { &cpu.fs_base, &cpu.gs_base };

static void load_segment_program(int gs)
{
	if (gs)
		LOAD_PROGRAM(gs_pointer);
	else
		LOAD_PROGRAM(thread_pointer);
}

START_TEST(an_unknown_segment_base_is_an_unknown_address)
{
	load_segment_program(_i);
	*base_known[!_i] = true;
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
	ck_assert_uint_eq(interp_count(&interp), 0);
	ck_assert_uint_eq(interp_ip(&interp), code_at);
}
END_TEST

START_TEST(a_known_segment_base_is_added)
{
	load_segment_program(_i);
	*base_known[_i] = true;
	*segment_base[_i] = DATA_AT + 256;
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_count(&interp), 2);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 256);
}
END_TEST

static int gs_reads;

static uint64_t read_gs(void)
{
	gs_reads++;
	return DATA_AT + 256;
}

START_TEST(the_gs_base_is_read_only_where_it_is_needed)
{
	gs_reads = 0;
	load_segment_program(0);
	cpu.fs_known = true;
	cpu.read_gs_base = read_gs;
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_int_eq(gs_reads, 0);
	load_segment_program(1);
	cpu.read_gs_base = read_gs;
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_int_eq(gs_reads, 1);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 256);
}
END_TEST

CODE(lea_fs, "lea rax, fs:[rsi+8]; mov rdx, [rax]; ud2");

START_TEST(lea_needs_no_segment_base)
{
	LOAD_PROGRAM(lea_fs);
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_count(&interp), 1);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 8);
}
END_TEST

CODE(through_rdfsbase, "rdfsbase rax; mov rdx, [rax]; ud2");
CODE(through_rdgsbase, "rdgsbase rax; mov rdx, [rax]; ud2");

START_TEST(what_rdfsbase_gives_is_as_known_as_the_base)
{
	if (_i / 2)
		LOAD_PROGRAM(through_rdgsbase);
	else
		LOAD_PROGRAM(through_rdfsbase);
	*base_known[_i / 2] = _i % 2;
	*segment_base[_i / 2] = DATA_AT + 64;
	if (!(_i % 2)) {
		ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_ADDRESS);
		return;
	}
	ck_assert_int_eq(begin_and_run(0), INTERP_SYSCALL);
	ck_assert_uint_eq(interp_access(&interp, 0)->addr, DATA_AT + 64);
}
END_TEST

CODE(branch_on_base, "mov rcx, [rsi]; rdfsbase rax; test rax, rax; jz 1f; "
		     "mov rdx, [rdi]; 1: ud2");

START_TEST(a_branch_on_an_unknown_segment_base_ends_the_path)
{
	LOAD_PROGRAM(branch_on_base);
	ck_assert_int_eq(begin_and_run(0), INTERP_UNKNOWN_PATH);
	ck_assert_uint_eq(interp_count(&interp), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("interp_memory");
	TCase *c = tcase_create("memory");

	tcase_add_test(c, memory_that_nothing_depends_on_is_not_read);
	tcase_add_test(c,
		       memory_that_an_address_depends_on_is_read_once_a_block);
	tcase_add_test(
		c, data_that_is_mapped_for_certain_is_not_read_by_system_calls);
	tcase_add_test(c, blocks_a_power_of_two_apart_are_read_once);
	tcase_add_test(c, only_what_is_demanded_is_read);
	tcase_add_test(c, of_many_loads_only_what_is_demanded_is_read);
	tcase_add_test(c, a_load_sees_the_stores_before_it);
	tcase_add_test(c, a_load_joins_memory_and_a_narrower_store);
	tcase_add_test(c, an_unknown_address_ends_and_resuming_goes_on);
	tcase_add_test(c, a_branch_on_an_unknown_ends_with_the_path_unknown);
	tcase_add_test(c, an_address_out_of_unreadable_memory_is_unknown);
	tcase_add_test(c, code_that_cannot_be_had_ends_the_window);
	tcase_add_test(c, code_on_the_direct_page_is_not_read_by_system_calls);
	tcase_add_test(c, changed_code_is_decoded_anew);
	tcase_add_loop_test(c, an_unknown_segment_base_is_an_unknown_address, 0,
			    2);
	tcase_add_loop_test(c, a_known_segment_base_is_added, 0, 2);
	tcase_add_test(c, the_gs_base_is_read_only_where_it_is_needed);
	tcase_add_test(c, lea_needs_no_segment_base);
	tcase_add_loop_test(c, what_rdfsbase_gives_is_as_known_as_the_base, 0,
			    4);
	tcase_add_test(c, a_branch_on_an_unknown_segment_base_ends_the_path);
	suite_add_tcase(s, c);
	return run_suite(s);
}
