/* SPDX-License-Identifier: MIT */
/*
 * test_sampled - the access that a hardware sample reports
 *
 * The instructions are encoded by hand, from the processor manuals.
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "src/x86/decode/sampled.h"
#include "tests/run_suite.h"

#define CODE 0x401000ull
#define ADDR 0x7f0000001230ull
#define L    ACCESS_LOAD
#define S    ACCESS_STORE

static const struct sampled {
	const char *text;
	uint8_t bytes[16];
	uint32_t wanted, len; /* as the sample says */
	int result;
	uint32_t bytes_accessed, flags;
} sampled[] = {
	{ "mov (%rdi),%rax", { 0x48, 0x8b, 0x07 }, L, 0, 0, 8, L },
	{ "mov %eax,(%rdi)", { 0x89, 0x07 }, S, 0, 0, 4, S },
	{ "movb $1,(%rdi)", { 0xc6, 0x07, 0x01 }, S, 0, 0, 1, S },
	{ "add %eax,(%rdi)", { 0x01, 0x07 }, L, 0, 0, 4, L },
	{ "add %eax,(%rdi)", { 0x01, 0x07 }, S, 0, 0, 4, L | S },
	{ "lock incq (%rdi)", { 0xf0, 0x48, 0xff, 0x07 }, L, 0, 0, 8, L },
	{ "lock incq (%rdi)",
	  { 0xf0, 0x48, 0xff, 0x07 },
	  S,
	  0,
	  0,
	  8,
	  L | S | ACCESS_LOCKED },
	{ "xchg %rax,(%rdi)",
	  { 0x48, 0x87, 0x07 },
	  S,
	  0,
	  0,
	  8,
	  L | S | ACCESS_LOCKED },
	{ "lock incq, as IBS says",
	  { 0xf0, 0x48, 0xff, 0x07 },
	  L | S,
	  8,
	  0,
	  8,
	  L | S | ACCESS_LOCKED },
	{ "push %rax", { 0x50 }, S, 0, 0, 8, S | ACCESS_IMPLICIT },
	{ "push (%rdi), its load", { 0xff, 0x37 }, L, 0, 0, 8, L },
	{ "push (%rdi), its store",
	  { 0xff, 0x37 },
	  S,
	  0,
	  0,
	  8,
	  S | ACCESS_IMPLICIT },
	{ "pop (%rdi), its load",
	  { 0x8f, 0x07 },
	  L,
	  0,
	  0,
	  8,
	  L | ACCESS_IMPLICIT },
	{ "pop (%rdi), its store", { 0x8f, 0x07 }, S, 0, 0, 8, S },
	{ "call *(%rdi), its load", { 0xff, 0x17 }, L, 0, 0, 8, L },
	{ "ret", { 0xc3 }, L, 0, 0, 8, L | ACCESS_IMPLICIT },
	{ "movsb, its load", { 0xa4 }, L, 0, 0, 1, L },
	{ "movsb, its store", { 0xa4 }, S, 0, 0, 1, S },
	{ "rep movsq", { 0xf3, 0x48, 0xa5 }, S, 0, 0, 8, S },
	{ "vmovdqu (%rdi),%ymm0", { 0xc5, 0xfe, 0x6f, 0x07 }, L, 0, 0, 32, L },
	{ "the same, two halves", { 0xc5, 0xfe, 0x6f, 0x07 }, L, 16, 0, 16, L },
	{ "nop", { 0x90 }, L, 0, -ENOENT, 1, L },
	{ "lea (%rdi),%rax", { 0x48, 0x8d, 0x07 }, L, 0, -ENOENT, 1, L },
	{ "prefetchnta (%rdi)", { 0x0f, 0x18, 0x07 }, L, 0, -ENOENT, 1, L },
	{ "a load that was sampled as a store",
	  { 0x48, 0x8b, 0x07 },
	  S,
	  0,
	  -ENOENT,
	  1,
	  S },
	{ "no instruction", { 0x06 }, L, 0, -EILSEQ, 1, L },
	{ "no instruction, width known", { 0x06 }, L, 4, -EILSEQ, 4, L },
};
enum {
	SAMPLED = sizeof(sampled) / sizeof(sampled[0])
};

static int read_code(void *ctx, uint64_t addr, void *buf, size_t n)
{
	const uint8_t *code = ctx;

	for (size_t i = 0; i < n; i++) {
		if (addr + i < CODE || addr + i >= CODE + 16)
			return -EFAULT;
		((uint8_t *)buf)[i] = code[addr + i - CODE];
	}
	return 0;
}

START_TEST(the_instruction_tells_width_and_kind)
{
	const struct sampled *s = &sampled[_i];
	uint8_t code[16];
	struct memory mem = { .read = read_code, .ctx = code };
	struct access a;

	memset(code, 0x90, sizeof(code));
	memcpy(code, s->bytes, sizeof(s->bytes));
	ck_assert_msg(decode_sampled(&mem, CODE, ADDR, s->wanted, s->len, &a) ==
			      s->result,
		      "%s", s->text);
	ck_assert_uint_eq(a.addr, ADDR);
	ck_assert_uint_eq(a.ip, CODE);
	ck_assert_msg(a.len == s->bytes_accessed, "%s: %u bytes", s->text,
		      a.len);
	ck_assert_msg(a.flags == s->flags, "%s: flags %#x", s->text, a.flags);
}
END_TEST

START_TEST(code_that_is_gone_is_unreadable)
{
	uint8_t code[16] = { 0 };
	struct memory mem = { .read = read_code, .ctx = code };
	struct access a;

	ck_assert_int_eq(decode_sampled(&mem, CODE + 4096, ADDR, L, 0, &a),
			 -EFAULT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decode_sampled");
	TCase *tc = tcase_create("decode_sampled");

	tcase_add_loop_test(tc, the_instruction_tells_width_and_kind, 0,
			    SAMPLED);
	tcase_add_test(tc, code_that_is_gone_is_unreadable);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
