/* SPDX-License-Identifier: MIT */
/*
 * test_branches - branches put at known distances, and a slow second search
 */
#include <check.h>

#include "src/base/rng.h"
#include "src/x86/decode/branches.h"
#include "src/x86/decode/decode.h"
#include "code_buffer.h"
#include "tests/run_suite.h"

enum {
	RINGS = 4,
	CALLER = 64, /* bytes before, whose short branches are the caller's */
};

static const uint8_t long_forms[][2] = { { 0xe9 },
					 { 0x0f, 0x80 },
					 { 0x0f, 0x8f } };
static const uint8_t short_opcodes[] = { 0x70, 0x7f, 0xe0, 0xe3, 0xeb };

/* @_i: whether plain loads are safe. */
static void set_up_code(int direct)
{
	set_up();
	if (direct) {
		mem.direct_low = readable_low;
		mem.direct_high = readable_high;
	}
}

/* In how many rings is a branch to the program counter found? */
static unsigned rings(void)
{
	unsigned n = 0;

	for (uint32_t r = 0; r < RINGS; r++)
		n += branches_in_ring(&mem, cpu.rip, r);
	return n;
}

START_TEST(long_branch_is_found_wherever_it_is)
{
	set_up_code(_i & 1);
	for (int at = HERE - 3000; at < HERE + 3000; at++) {
		const uint8_t *form = long_forms[_i / 2];
		int opcode = form[1] ? 2 : 1;
		int32_t distance = HERE - (at + opcode + 4);

		/* It may not lie over the address, nor begin there. */
		if (at > HERE - opcode - 4 && at <= HERE)
			continue;
		memcpy(code + at, form, opcode);
		memcpy(code + at + opcode, &distance, 4);
		ck_assert_uint_ge(rings(), 1);
		code[at + opcode]++; /* one byte further */
		ck_assert_uint_eq(rings(), 0);
		memset(code + at, NOP, opcode + 4);
	}
}
END_TEST

START_TEST(short_branch_from_before_is_found)
{
	set_up_code(_i & 1);
	for (int back = 2; back <= 160; back++) {
		uint8_t *at = code + HERE - back;
		bool reaches = back - 2 < 128;

		at[0] = short_opcodes[_i / 2];
		at[1] = back - 2;
		ck_assert_uint_eq(rings() > 0, reaches && back > CALLER);
		ck_assert(branches_may_lead_to_end(code + HERE - CALLER,
						   CALLER) == (back <= CALLER));
		at[1]++;
		ck_assert_uint_eq(rings(), 0);
		at[0] = at[1] = NOP;
	}
}
END_TEST

START_TEST(short_branch_from_behind_leads_back)
{
	set_up_code(_i & 1);
	ck_assert(!branches_back(&mem, cpu.rip));
	for (int at = HERE; at < HERE + 127; at++) {
		code[at] = short_opcodes[_i / 2];
		code[at + 1] = HERE - (at + 2);
		ck_assert(branches_back(&mem, cpu.rip));
		code[at + 1]++;
		ck_assert(!branches_back(&mem, cpu.rip));
		code[at] = code[at + 1] = NOP;
	}
	/* The same bytes inside of an instruction: mov eax, imm32. */
	code[HERE] = 0xb8;
	code[HERE + 1] = 0xeb;
	code[HERE + 2] = (uint8_t)-3;
	ck_assert(!branches_back(&mem, cpu.rip));
}
END_TEST

/* As the header says it, byte by byte. */
static bool slow_search(uint64_t ip, uint32_t ring)
{
	for (uint32_t i = 0; i + 6 <= CODE_BYTES; i++) {
		int64_t far = (int64_t)(address_of(i) - ip);
		const uint8_t *b = code + i;
		int opcode = b[0] == 0xe9 ? 1 : 2;
		int32_t d;

		if (b[0] != 0xe9 && (b[0] != 0x0f || b[1] >> 4 != 8))
			continue;
		memcpy(&d, b + opcode, sizeof(d));
		if (address_of(i) + opcode + 4 + (int64_t)d != ip)
			continue;
		far = far < 0 ? -far : far;
		if (far / BRANCHES_RING == ring && far % BRANCHES_RING > 8 &&
		    far % BRANCHES_RING < BRANCHES_RING - 8)
			return true;
	}
	return false;
}

START_TEST(random_code_with_many_branches)
{
	struct rng rng;
	unsigned found = 0;

	rng_seed(&rng, 5, 0);
	set_up_code(_i);
	for (int i = 0; i < CODE_BYTES - 6; i++)
		code[i] = (uint8_t)rng_below(&rng, 256);
	for (int i = 0; i < CODE_BYTES - 6; i += 6) {
		int32_t d = (int32_t)rng_below(&rng, 8000) - 4000;

		memcpy(code + i, (const uint8_t[]){ 0x0f, 0x84 }, 2);
		memcpy(code + i + 2, &d, 4);
	}
	for (uint64_t ip = address_of(6000); ip < address_of(8000); ip++)
		for (uint32_t r = 0; r < RINGS; r++)
			if (slow_search(ip, r)) {
				ck_assert(branches_in_ring(&mem, ip, r));
				found++;
			}
	ck_assert_uint_gt(found, 200);
}
END_TEST

START_TEST(executed_instruction_before_is_remembered)
{
	struct insn insn;
	int err;

	set_up_code(1);
	put_before(load, sizeof(load), 0);
	ck_assert_uint_eq(decode_length_before(&mem, cpu.rip), 0);
	decode_at(&mem, cpu.rip - sizeof(load), &insn, &err);
	ck_assert_uint_eq(decode_length_before(&mem, cpu.rip), sizeof(load));
	/* its last three bytes are an instruction, too: mov eax, [rbx+8] */
	decode_at(&mem, cpu.rip - sizeof(load) + 1, &insn, &err);
	ck_assert_uint_eq(decode_length_before(&mem, cpu.rip), 0);
	/* other code by now */
	code[HERE - sizeof(load)] = NOP;
	ck_assert_uint_eq(decode_length_before(&mem, cpu.rip),
			  sizeof(load) - 1);
	code[HERE - 1]++;
	ck_assert_uint_eq(decode_length_before(&mem, cpu.rip), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("branches");
	TCase *t = tcase_create("branches");

	tcase_add_loop_test(t, long_branch_is_found_wherever_it_is, 0, 6);
	tcase_add_loop_test(t, short_branch_from_before_is_found, 0, 10);
	tcase_add_loop_test(t, short_branch_from_behind_leads_back, 0, 10);
	tcase_add_loop_test(t, random_code_with_many_branches, 0, 2);
	tcase_add_test(t, executed_instruction_before_is_remembered);
	suite_add_tcase(s, t);
	return run_suite(s);
}
