/* SPDX-License-Identifier: MIT */
/*
 * test_backdecode_trap - the access that a watchpoint fired on
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/x86/decode/backdecode.h"
#include "src/base/rng.h"
#include "code_buffer.h"
#include "tests/run_suite.h"

static int trapped(uint32_t offset, uint32_t len, bool stores_only,
		   struct access *a)
{
	return backdecode_trapped(&cpu, &mem, (uint64_t)data + offset, len,
				  stores_only, a);
}

/* The access that trapped on @watch bytes at @offset of data. */
static const struct {
	const char *text;
	uint8_t len;
	uint8_t bytes[12];
	uint32_t offset, watch;
	bool stores_only;
	int error;
	uint32_t addr, bytes_accessed, flags;
} traps[] = {
	{ "mov [rbx], rax",
	  3,
	  { 0x48, 0x89, 3 },
	  REG(3),
	  8,
	  true,
	  0,
	  REG(3),
	  8,
	  ACCESS_STORE },
	{ "mov [rbx], rax, a byte of it watched",
	  3,
	  { 0x48, 0x89, 3 },
	  REG(3) + 7,
	  1,
	  false,
	  0,
	  REG(3),
	  8,
	  ACCESS_STORE },
	{ "mov [rbx], rax, beside it",
	  3,
	  { 0x48, 0x89, 3 },
	  REG(3) + 8,
	  8,
	  false,
	  -EAGAIN,
	  0,
	  0,
	  0 },
	{ "mov rax, [rbx], stores watched",
	  3,
	  { 0x48, 0x8b, 3 },
	  REG(3),
	  8,
	  true,
	  -EAGAIN,
	  0,
	  0,
	  0 },
	{ "movsq, the load",
	  2,
	  { 0x48, 0xa5 },
	  REG(6) - 8,
	  8,
	  false,
	  0,
	  REG(6) - 8,
	  8,
	  ACCESS_LOAD },
	{ "movsq, the store",
	  2,
	  { 0x48, 0xa5 },
	  REG(7) - 8,
	  8,
	  false,
	  0,
	  REG(7) - 8,
	  8,
	  ACCESS_STORE },
	{ "rep stosd, the last one",
	  2,
	  { 0xf3, 0xab },
	  REG(7) - 4,
	  4,
	  true,
	  0,
	  REG(7) - 4,
	  4,
	  ACCESS_STORE },
	{ "push rax",
	  1,
	  { 0x50 },
	  REG(4),
	  8,
	  true,
	  0,
	  REG(4),
	  8,
	  ACCESS_STORE | ACCESS_IMPLICIT },
	{ "pop rcx",
	  1,
	  { 0x59 },
	  REG(4) - 8,
	  8,
	  false,
	  0,
	  REG(4) - 8,
	  8,
	  ACCESS_LOAD | ACCESS_IMPLICIT },
	{ "lock inc dword [rbx]",
	  3,
	  { 0xf0, 0xff, 3 },
	  REG(3),
	  4,
	  true,
	  0,
	  REG(3),
	  4,
	  ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED },
	{ "xchg [rbx], rax",
	  3,
	  { 0x48, 0x87, 3 },
	  REG(3),
	  8,
	  true,
	  0,
	  REG(3),
	  8,
	  ACCESS_LOAD | ACCESS_STORE | ACCESS_LOCKED },
};

START_TEST(trap_is_explained_by_the_instruction_before)
{
	struct access a = { 0 };
	int err;

	set_up();
	put_before(traps[_i].bytes, traps[_i].len, 0);
	cpu.gpr[GPR_RCX] = 0; /* the last repetition is done */
	err = trapped(traps[_i].offset, traps[_i].watch, traps[_i].stores_only,
		      &a);
	ck_assert_msg(err == traps[_i].error, "%s: %d", traps[_i].text, err);
	if (err)
		return;
	ck_assert_msg(a.ip == cpu.rip - traps[_i].len, "%s: ip",
		      traps[_i].text);
	ck_assert_msg(a.addr == (uint64_t)data + traps[_i].addr &&
			      a.len == traps[_i].bytes_accessed &&
			      a.flags == traps[_i].flags,
		      "%s: offset %ju length %u flags %u", traps[_i].text,
		      (uintmax_t)(a.addr - (uint64_t)data), a.len, a.flags);
}
END_TEST

START_TEST(trap_inside_a_repetition_is_explained)
{
	static const uint8_t rep_movsb[] = { 0xf3, 0xa4 };
	struct access a;

	set_up();
	memcpy(code + HERE, rep_movsb, sizeof(rep_movsb));
	ck_assert_int_eq(trapped(REG(7) - 1, 1, true, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(7) - 1);
	ck_assert_uint_eq(a.flags, ACCESS_STORE);
	/* backwards: the element above */
	cpu.rflags |= 0x400;
	ck_assert_int_eq(trapped(REG(6) + 1, 1, false, &a), 0);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(6) + 1);
	ck_assert_uint_eq(a.flags, ACCESS_LOAD);
}
END_TEST

/* Calls that lead to the program counter, made at offset 256 of the code. */
static const struct {
	uint8_t len;
	uint8_t bytes[8];
	bool relative; /* its last four bytes are the distance */
} calls[] = {
	{ 5, { 0xe8 }, true },
	{ 2, { 0xff, 0xd0 }, false },       /* call rax */
	{ 3, { 0xff, 0x53, 0x10 }, false }, /* call [rbx+16] */
};

static uint64_t call_here(int i)
{
	uint64_t back = address_of(256) + calls[i].len;
	int32_t distance = (int32_t)(cpu.rip - back);

	memcpy(code + 256, calls[i].bytes, calls[i].len);
	if (calls[i].relative)
		memcpy(code + 256 + calls[i].len - 4, &distance, 4);
	cpu.gpr[GPR_RAX] = cpu.rip;
	memcpy(data + REG(3) + 16, &cpu.rip, 8);
	return back;
}

START_TEST(trap_on_a_pushed_return_address_is_the_call)
{
	struct access a;
	uint64_t back;

	set_up();
	put_before(load, sizeof(load), 0);
	back = call_here(_i);
	memcpy(data + REG(4), &back, 8);
	ck_assert_int_eq(trapped(REG(4), 8, true, &a), 0);
	ck_assert_uint_eq(a.ip, address_of(256));
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(4));
	ck_assert_uint_eq(a.flags, ACCESS_STORE | ACCESS_IMPLICIT);
	if (calls[_i].bytes[1] == 0x53) {
		ck_assert_int_eq(trapped(REG(3) + 16, 8, false, &a), 0);
		ck_assert_uint_eq(a.addr, (uint64_t)data + REG(3) + 16);
		ck_assert_uint_eq(a.flags, ACCESS_LOAD);
	}
	/* The same return address, but that call went elsewhere. */
	if (calls[_i].relative) {
		code[257] ^= 1;
		ck_assert_int_eq(trapped(REG(4), 8, true, &a), -EAGAIN);
	}
	memset(code + 256, NOP, 8);
	ck_assert_int_eq(trapped(REG(4), 8, true, &a), -EAGAIN);
}
END_TEST

START_TEST(trap_on_a_popped_return_address_is_the_return)
{
	static const uint8_t call[] = { 0xe8, 0, 1, 0, 0 };
	struct access a;

	set_up();
	put_before(call, sizeof(call), 0);
	ck_assert_int_eq(trapped(REG(4) - 8, 8, false, &a), -EAGAIN);
	memcpy(data + REG(4) - 8, &cpu.rip, 8);
	ck_assert_int_eq(trapped(REG(4) - 8, 8, false, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip - sizeof(call));
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(4) - 8);
	ck_assert_uint_eq(a.flags, ACCESS_LOAD | ACCESS_IMPLICIT);
	ck_assert_int_eq(trapped(REG(4) - 8, 8, true, &a), -EAGAIN);
}
END_TEST

/* A call into another library goes to a jump through memory. */
static const struct {
	uint8_t len;
	uint8_t bytes[12];
	uint32_t jump; /* from its start */
	bool leads_here;
} stubs[] = {
	{ 3, { 0xff, 0x63, 0x10 }, 0, true }, /* jmp [rbx+16] */
	{ 7, { 0xf3, 0x0f, 0x1e, 0xfa, 0xff, 0x63, 0x10 }, 4, true },
	{ 8, { 0xf3, 0x0f, 0x1e, 0xfa, 0xf2, 0xff, 0x63, 0x10 }, 4, true },
	{ 3, { 0xff, 0x63, 0x18 }, 0, false },       /* another word */
	{ 4, { 0x48, 0x8b, 0x43, 0x10 }, 0, false }, /* mov rax, [rbx+16] */
	{ 3, { 0xff, 0x53, 0x10 }, 0, false },       /* call [rbx+16] */
};

START_TEST(trap_on_where_a_jump_went_is_the_jump_that_was_called)
{
	static const uint8_t call[] = { 0xe8, 59, 0, 0, 0 };
	uint64_t back = address_of(256) + sizeof(call);
	struct access a;

	set_up();
	memcpy(code + 256, call, sizeof(call));
	memcpy(code + 320, stubs[_i].bytes, stubs[_i].len);
	memcpy(data + REG(3) + 16, &cpu.rip, 8);
	ck_assert_int_eq(trapped(REG(3) + 16, 8, false, &a), -EAGAIN);
	memcpy(data + REG(4), &back, 8);
	if (!stubs[_i].leads_here) {
		ck_assert_int_eq(trapped(REG(3) + 16, 8, false, &a), -EAGAIN);
		return;
	}
	ck_assert_int_eq(trapped(REG(3) + 16, 8, false, &a), 0);
	ck_assert_uint_eq(a.ip, address_of(320) + stubs[_i].jump);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(3) + 16);
	ck_assert_uint_eq(a.len, 8);
	ck_assert_uint_eq(a.flags, ACCESS_LOAD);
	ck_assert_int_eq(trapped(REG(3) + 24, 8, false, &a), -EAGAIN);
	ck_assert_int_eq(trapped(REG(3) + 16, 8, true, &a), -EAGAIN);
}
END_TEST

START_TEST(overwritten_address_is_told_by_the_value_if_only_one_has_it)
{
	static const uint8_t chase[] = { 0x48, 0x8b, 0x40, 8 };
	uint64_t value = 0x1122334455667788;
	struct access a;

	set_up();
	put_before(chase, sizeof(chase), 0); /* mov rax, [rax+8] */
	cpu.gpr[GPR_RAX] = value;
	ck_assert_int_eq(trapped(64, 8, false, &a), -EAGAIN);
	memcpy(data + 61, &value, 8);
	ck_assert_int_eq(trapped(64, 8, false, &a), 0);
	ck_assert_uint_eq(a.addr, (uint64_t)data + 61);
	ck_assert_uint_eq(a.len, 8);
	ck_assert_uint_eq(a.ip, cpu.rip - sizeof(chase));
}
END_TEST

/* Loads of zeros from among zeros, 8 bytes of which are watched. */
static const struct {
	const char *text;
	uint8_t len;
	uint8_t bytes[8];
	uint32_t told; /* bytes accessed, 0: the address is unknown */
} zeros[] = {
	{ "mov rax, [rax+8]", 4, { 0x48, 0x8b, 0x40, 8 }, 0 },
	{ "mov rax, [rax+rsi*8]", 4, { 0x48, 0x8b, 0x04, 0xf0 }, 0 },
	{ "mov rax, [rsi+rax*8]", 4, { 0x48, 0x8b, 0x04, 0xc6 }, 8 },
	{ "mov rax, [rax+rax]", 4, { 0x48, 0x8b, 0x04, 0x00 }, 0 },
	{ "mov rax, [rax+rax*2]", 4, { 0x48, 0x8b, 0x04, 0x40 }, 0 },
	{ "mov eax, [rax]", 2, { 0x8b, 0x00 }, 0 },
	{ "movsxd rax, dword [rbx+rax*8]", 4, { 0x48, 0x63, 0x04, 0xc3 }, 4 },
	{ "movzx eax, byte [rdi+rax]", 4, { 0x0f, 0xb6, 0x04, 0x07 }, 0 },
	{ "movsx eax, word [rax]", 3, { 0x0f, 0xbf, 0x00 }, 0 },
};

START_TEST(overwritten_address_among_zeros_is_what_is_watched)
{
	struct access a;

	set_up();
	put_before(zeros[_i].bytes, zeros[_i].len, 0);
	cpu.gpr[GPR_RAX] = 0;
	ck_assert_int_eq(trapped(64, 8, false, &a), 0);
	ck_assert_msg(a.ip == cpu.rip - zeros[_i].len, "%s", zeros[_i].text);
	ck_assert_uint_eq(a.addr, (uint64_t)data + 64);
	ck_assert_uint_eq(a.flags, ACCESS_LOAD);
	ck_assert_msg(a.len == (zeros[_i].told ? zeros[_i].told : 8),
		      "%s: %u bytes", zeros[_i].text, a.len);
	/* It loaded something else. */
	cpu.gpr[GPR_RAX] = 1;
	ck_assert_int_eq(trapped(64, 8, false, &a), -EAGAIN);
	/* It stored nothing. */
	cpu.gpr[GPR_RAX] = 0;
	ck_assert_int_eq(trapped(64, 8, true, &a), -EAGAIN);
}
END_TEST

/* A known address has precedence over a load that could be from anywhere. */
START_TEST(load_from_anywhere_explains_what_nothing_else_does)
{
	static const uint8_t byte[] = { 0x0f, 0xb6, 0x00 };
	struct access a;
	uint64_t back;

	set_up();
	put_before(byte, sizeof(byte), 0); /* movzx eax, byte [rax] */
	back = call_here(0);
	cpu.gpr[GPR_RAX] = 0;
	memcpy(data + REG(4), &back, 8); /* its upper two bytes are 0 */
	ck_assert_int_eq(trapped(REG(4), 8, false, &a), 0);
	ck_assert_uint_eq(a.ip, address_of(256));
	memset(code + 256, NOP, 8);
	ck_assert_int_eq(trapped(REG(4), 8, false, &a), 0);
	ck_assert_uint_eq(a.ip, cpu.rip - sizeof(byte));
	/* A jump through the watched word leads here from an unknown place. */
	ck_assert_int_eq(trapped(REG(3) + 16, 8, false, &a), -EAGAIN);
}
END_TEST

START_TEST(scale_of_an_overwritten_index_excludes_addresses)
{
	static const uint8_t indexed[] = { 0x48, 0x8b, 0x04, 0xc3 };
	struct access a;

	set_up();
	put_before(indexed, sizeof(indexed), 0); /* mov rax, [rbx+rax*8] */
	cpu.gpr[GPR_RAX] = 0;
	ck_assert_int_eq(trapped(REG(3) + 40, 8, false, &a), 0);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(3) + 40);
	ck_assert_int_eq(trapped(REG(3) + 44, 4, false, &a), 0);
	ck_assert_uint_eq(a.addr, (uint64_t)data + REG(3) + 40);
}
END_TEST

START_TEST(answer_always_touches_what_is_watched)
{
	struct rng rng;
	unsigned answers = 0;

	rng_seed(&rng, 1, 0);
	set_up();
	for (int i = 0; i < 20000; i++) {
		struct access a = { 0 }, w = { .len = 8 };

		for (int j = 0; j < 96; j++)
			code[HERE - 80 + j] = (uint8_t)rng_next(&rng);
		for (int j = 0; j < 16; j++)
			cpu.gpr[j] = (uint64_t)data +
				     rng_below(&rng, DATA_BYTES - 64);
		w.addr = (uint64_t)data + 8 * rng_below(&rng, 100);
		if (backdecode_trapped(&cpu, &mem, w.addr, 8, i & 1, &a)) {
			backdecode_stalled(&cpu, &mem, &a);
			continue;
		}
		answers++;
		ck_assert(access_overlaps(&a, &w));
		if (i & 1)
			ck_assert(a.flags & ACCESS_STORE);
	}
	ck_assert_uint_gt(answers, 10);
}
END_TEST

static Suite *suite(void)
{
	Suite *s = suite_create("backdecode_trap");
	TCase *t = tcase_create("trapped");

	tcase_add_loop_test(t, trap_is_explained_by_the_instruction_before, 0,
			    sizeof(traps) / sizeof(traps[0]));
	tcase_add_test(t, trap_inside_a_repetition_is_explained);
	tcase_add_loop_test(t, trap_on_a_pushed_return_address_is_the_call, 0,
			    sizeof(calls) / sizeof(calls[0]));
	tcase_add_test(t, trap_on_a_popped_return_address_is_the_return);
	tcase_add_loop_test(
		t, trap_on_where_a_jump_went_is_the_jump_that_was_called, 0,
		sizeof(stubs) / sizeof(stubs[0]));
	tcase_add_test(
		t, overwritten_address_is_told_by_the_value_if_only_one_has_it);
	tcase_add_loop_test(t,
			    overwritten_address_among_zeros_is_what_is_watched,
			    0, sizeof(zeros) / sizeof(zeros[0]));
	tcase_add_test(t, load_from_anywhere_explains_what_nothing_else_does);
	tcase_add_test(t, scale_of_an_overwritten_index_excludes_addresses);
	tcase_add_test(t, answer_always_touches_what_is_watched);
	suite_add_tcase(s, t);
	return s;
}

int main(void)
{
	return run_suite(suite());
}
