/* SPDX-License-Identifier: MIT */
/*
 * test_backdecode - instructions with known boundaries, decoded backwards
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/x86/decode/backdecode.h"
#include "src/x86/decode/decode.h"
#include "code_buffer.h"
#include "tests/run_suite.h"

/* The access of the last instruction; addresses are offsets in data. */
static const struct {
	const char *text;
	uint8_t len;
	uint8_t bytes[12];
	int error;
	int32_t addr;
	uint32_t bytes_accessed, flags;
} last[] = {
	{ "mov rax, [rbx+8]",
	  4,
	  { 0x48, 0x8b, 0x43, 8 },
	  0,
	  REG(3) + 8,
	  8,
	  ACCESS_LOAD },
	{ "mov [rbx], eax", 2, { 0x89, 3 }, 0, REG(3), 4, ACCESS_STORE },
	{ "mov al, [rsp+5]",
	  4,
	  { 0x8a, 0x44, 0x24, 5 },
	  0,
	  REG(4) + 5,
	  1,
	  ACCESS_LOAD },
	{ "add qword [rbx], 1",
	  4,
	  { 0x48, 0x83, 3, 1 },
	  0,
	  REG(3),
	  8,
	  ACCESS_LOAD | ACCESS_STORE },
	{ "lock xadd [rbx], rcx",
	  5,
	  { 0xf0, 0x48, 0x0f, 0xc1, 0x0b },
	  0,
	  REG(3),
	  8,
	  ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED },
	{ "movups xmm0, [rdi]",
	  3,
	  { 0x0f, 0x10, 7 },
	  0,
	  REG(7),
	  16,
	  ACCESS_LOAD },
	{ "mov rax, fs:[0x28]",
	  9,
	  { 0x64, 0x48, 0x8b, 4, 0x25, 0x28 },
	  0,
	  512 + 0x28,
	  8,
	  ACCESS_LOAD },
	{ "mov eax, [rip+16]",
	  6,
	  { 0x8b, 5, 16 },
	  0,
	  RIP + 16,
	  4,
	  ACCESS_LOAD },
	{ "push qword [rsp+8], as before the push",
	  4,
	  { 0xff, 0x74, 0x24, 8 },
	  0,
	  REG(4) + 16,
	  8,
	  ACCESS_LOAD },
	{ "lodsq, stepped", 2, { 0x48, 0xad }, 0, REG(6) - 8, 8, ACCESS_LOAD },
	{ "movsb, the load", 1, { 0xa4 }, 0, REG(6) - 1, 1, ACCESS_LOAD },
	{ "mov rax, [rax], overwritten",
	  3,
	  { 0x48, 0x8b, 0 },
	  -EAGAIN,
	  0,
	  0,
	  0 },
	{ "add rax, [rbx+rax], overwritten",
	  4,
	  { 0x48, 3, 4, 3 },
	  -EAGAIN,
	  0,
	  0,
	  0 },
	{ "gather, its mask is cleared",
	  6,
	  { 0xc4, 0xe2, 0x69, 0x90, 0x04, 0x0b },
	  -EAGAIN,
	  0,
	  0,
	  0 },
	{ "push rax, implicit alone", 1, { 0x50 }, -ENOENT, 0, 0, 0 },
	{ "pop rcx, implicit alone", 1, { 0x59 }, -ENOENT, 0, 0, 0 },
	{ "lea rax, [rbx]", 3, { 0x48, 0x8d, 3 }, -ENOENT, 0, 0, 0 },
	{ "add rax, rbx", 3, { 0x48, 1, 0xd8 }, -ENOENT, 0, 0, 0 },
	{ "nop dword [rax]", 3, { 0x0f, 0x1f, 0 }, -ENOENT, 0, 0, 0 },
	{ "call", 5, { 0xe8, 0, 1 }, -ENOENT, 0, 0, 0 },
	{ "je +16, not taken", 2, { 0x74, 16 }, -ENOENT, 0, 0, 0 },
	{ "jmp +16, never falls through", 2, { 0xeb, 16 }, -EAGAIN, 0, 0, 0 },
	{ "ret, never falls through", 1, { 0xc3 }, -EAGAIN, 0, 0, 0 },
};

START_TEST(stalled_access_is_that_of_the_instruction_before)
{
	struct access a = { 0 };
	int err;

	set_up();
	put_before(last[_i].bytes, last[_i].len, 0);
	err = backdecode_stalled(&cpu, &mem, &a);
	ck_assert_msg(err == last[_i].error, "%s: %d", last[_i].text, err);
	if (err)
		return;
	ck_assert_msg(a.ip == cpu.rip - last[_i].len, "%s: ip", last[_i].text);
	ck_assert_msg(
		a.addr == (last[_i].addr >= RIP
				   ? cpu.rip + 16
				   : (uint64_t)data + (uint64_t)last[_i].addr),
		"%s: address", last[_i].text);
	ck_assert_msg(a.len == last[_i].bytes_accessed &&
			      a.flags == last[_i].flags,
		      "%s: length %u flags %u", last[_i].text, a.len, a.flags);
}
END_TEST

enum {
	VISITS = 20
};

/* Places of a branch to the program counter, relative to it. */
static const struct {
	int32_t at;
	bool wide;
	uint8_t opcode[2];
} branches[] = {
	{ 0, false, { 0x75 } },        { 20, false, { 0x75 } },
	{ 126, false, { 0xeb } },      { -30, false, { 0x74 } },
	{ -60, false, { 0xeb } },      { -110, false, { 0x72 } },
	{ 300, true, { 0xe9 } },       { -1000, true, { 0xe9 } },
	{ 900, true, { 0x0f, 0x85 } }, { -500, true, { 0x0f, 0x8c } },
	{ 3000, true, { 0xe9 } },
};

START_TEST(branch_target_has_no_instruction_before)
{
	int32_t at = branches[_i].at;
	uint8_t *p = code + HERE + at;
	bool two = branches[_i].opcode[0] == 0x0f;
	struct access a;
	int32_t distance;

	set_up();
	put_before(load, sizeof(load), 0);
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	set_up();
	put_before(load, sizeof(load), 0);
	/* Another address, because answers about the first are cached. */
	memmove(code + 16, code, CODE_BYTES - 16);
	p += 16;
	cpu.rip += 16;
	memcpy(p, branches[_i].opcode, two ? 2 : 1);
	if (branches[_i].wide) {
		distance = -at - (two ? 6 : 5);
		memcpy(p + (two ? 2 : 1), &distance, 4);
	} else {
		p[1] = (uint8_t)(-at - 2);
	}
	for (int i = 0; at > 1024 && i < VISITS; i++)
		backdecode_stalled(&cpu, &mem, &a);
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), -EAGAIN);
}
END_TEST

START_TEST(function_entry_and_string_repetition_have_none_either)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	static const uint8_t rep_movsb[] = { 0xf3, 0xa4 };
	struct access a;

	set_up();
	put_before(load, sizeof(load), 0);
	memcpy(code + HERE, endbr64, sizeof(endbr64));
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), -EAGAIN);
	set_up();
	put_before(load, sizeof(load), 0);
	memcpy(code + HERE, rep_movsb, sizeof(rep_movsb));
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), -EAGAIN);
}
END_TEST

START_TEST(code_that_changed_is_decoded_anew)
{
	static const uint8_t store[] = { 0x89, 0x4b, 4 }; /* mov [rbx+4], ecx */
	struct access a;

	set_up();
	put_before(load, sizeof(load), 0);
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip - 4);
	memset(code + HERE - 4, NOP, 4);
	put_before(store, sizeof(store), 0);
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip - 3);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(3) + 4);
}
END_TEST

START_TEST(unreadable_code_before_is_not_needed)
{
	struct access a;

	set_up();
	readable_low = address_of(2 * PAGE);
	/* 24 bytes into the only readable page */
	memset(code, 0, 2 * PAGE);
	cpu.rip = readable_low + 24;
	memcpy(code + 2 * PAGE + 20, load, sizeof(load));
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip - 4);
	/* nothing before it can be read */
	cpu.rip = readable_low;
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), -EAGAIN);
	/* nor the instruction itself */
	cpu.rip = readable_low - 64;
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), -EAGAIN);
}
END_TEST

START_TEST(known_address_costs_few_reads)
{
	struct access a;

	set_up();
	put_before(load, sizeof(load), 0);
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	for (int i = 0; i < VISITS; i++) {
		/* each request searches one more ring for branches */
		reads = 0;
		ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
		ck_assert_uint_le(reads, 16);
	}
	reads = 0;
	ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	ck_assert_uint_le(reads, 3);
}
END_TEST

START_TEST(nothing_is_read_around_code_that_is_all_direct)
{
	struct access a;

	set_up();
	put_before(load, sizeof(load), 0);
	mem.direct_low = readable_low;
	mem.direct_high = readable_high;
	mem.direct_is_all = true;
	reads = 0;
	for (int i = 0; i < VISITS; i++)
		ck_assert_int_eq(backdecode_stalled(&cpu, &mem, &a), 0);
	ck_assert_uint_eq(reads, 0);
}
END_TEST

/* A branch at the very end of the code that can be read. */
START_TEST(a_branch_is_found_up_to_where_code_ends)
{
	const uint8_t jump[] = { 0xe9, 0, 0, 0, 0 };
	int32_t distance = HERE - 3 * PAGE;
	struct access a;
	int err = 0;

	for (int direct = 0; direct < 2; direct++) {
		set_up();
		readable_high = address_of(3 * PAGE);
		put_before(load, sizeof(load), 0);
		memcpy(code + 3 * PAGE - 5, jump, sizeof(jump));
		memcpy(code + 3 * PAGE - 4, &distance, sizeof(distance));
		/* Other answers for the address were found without it. */
		code[HERE - 50] = (uint8_t)(0x91 + direct);
		mem.direct_low = direct ? readable_low : 0;
		mem.direct_high = direct ? readable_high : 0;
		mem.direct_is_all = direct;
		for (int i = 0; i < VISITS && !err; i++)
			err = backdecode_stalled(&cpu, &mem, &a);
		ck_assert_int_eq(err, -EAGAIN);
		err = 0;
	}
}
END_TEST

/* Compiled code; decoding from its first byte gives the boundaries. */
__attribute__((noinline, noclone)) static uint64_t compiled(uint64_t *p, long n)
{
	static uint64_t table[64];
	uint64_t sum = 0;

	for (long i = 0; i < n; i++) {
		uint64_t v = p[i & 63];

		table[v & 63] += v * 3 + (uint64_t)i;
		p[(v >> 6) & 63] ^= table[i & 63];
		if (v & 1)
			sum += table[(v >> 12) & 63] / (v | 1);
		((uint8_t *)p)[v & 511] += (uint8_t)sum;
		((uint16_t *)p)[sum & 255] = (uint16_t)(v >> 3);
		sum += ((int32_t *)table)[sum & 127] > 0 ? p[1] : p[2];
	}
	return sum;
}

START_TEST(boundaries_of_compiled_code_are_never_mistaken)
{
	uint64_t start = (uint64_t)&compiled, ip = start, words[64] = { 1 };
	unsigned right = 0, unknown = 0, wrong = 0;
	struct insn insn;
	struct access a;

	ck_assert_uint_ne(compiled(words, 1000), 1);
	set_up();
	readable_low = start & -(uint64_t)PAGE;
	readable_high = readable_low + 2 * PAGE;
	for (int i = 0; i < 60; i++) {
		ck_assert_int_eq(decode_bytes((const void *)ip, 15, ip, &insn),
				 0);
		ip += insn.len;
		cpu.rip = ip;
		switch (backdecode_stalled(&cpu, &mem, &a)) {
		case 0:
			*(a.ip == ip - insn.len ? &right : &wrong) += 1;
			break;
		case -EAGAIN:
			unknown++;
			break;
		}
		if (insn.flow == FLOW_RET)
			break;
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_ge(right, 3);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("backdecode");
	TCase *t = tcase_create("stalled");

	tcase_add_loop_test(t, stalled_access_is_that_of_the_instruction_before,
			    0, sizeof(last) / sizeof(last[0]));
	tcase_add_loop_test(t, branch_target_has_no_instruction_before, 0,
			    sizeof(branches) / sizeof(branches[0]));
	tcase_add_test(t,
		       function_entry_and_string_repetition_have_none_either);
	tcase_add_test(t, code_that_changed_is_decoded_anew);
	tcase_add_test(t, unreadable_code_before_is_not_needed);
	tcase_add_test(t, known_address_costs_few_reads);
	tcase_add_test(t, nothing_is_read_around_code_that_is_all_direct);
	tcase_add_test(t, a_branch_is_found_up_to_where_code_ends);
	tcase_add_test(t, boundaries_of_compiled_code_are_never_mistaken);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
