/* SPDX-License-Identifier: MIT */
/*
 * test_uop - instructions as micro-operations
 *
 * A row is an instruction and what becomes of it: "load", "store" and the name
 * of the class of what it computes, in their order. Encodings were made by an
 * assembler.
 */
#include <stdio.h>
#include <string.h>

#include "analysis/model/uop.h"
#include "tests/run_suite.h"

static const struct {
	const char *text;
	unsigned char code[12];
	size_t bytes;
	const char *uops;
} row[] = {
	{ "mov (%rdi),%rax", { 0x48, 0x8b, 0x07 }, 3, "load" },
	{ "mov %rax,(%rdi)", { 0x48, 0x89, 0x07 }, 3, "store" },
	{ "mov %rax,%rdi", { 0x48, 0x89, 0xc7 }, 3, "alu" },
	{ "movzbl (%rdi),%eax", { 0x0f, 0xb6, 0x07 }, 3, "load" },
	{ "add (%rdi),%rax", { 0x48, 0x03, 0x07 }, 3, "load alu" },
	{ "add %rax,(%rdi)", { 0x48, 0x01, 0x07 }, 3, "load alu store" },
	{ "lock add %rax,(%rdi)",
	  { 0xf0, 0x48, 0x01, 0x07 },
	  4,
	  "load alu store!" },
	{ "xchg %rax,(%rdi)", { 0x48, 0x87, 0x07 }, 3, "load alu store!" },
	{ "mfence", { 0x0f, 0xae, 0xf0 }, 3, "fence!" },
	{ "cmp $1,%rax", { 0x48, 0x83, 0xf8, 0x01 }, 4, "alu" },
	{ "lea 8(%rdi),%rax", { 0x48, 0x8d, 0x47, 0x08 }, 4, "lea" },
	{ "imul %rdi,%rax", { 0x48, 0x0f, 0xaf, 0xc7 }, 4, "mul64" },
	{ "imul %edi,%eax", { 0x0f, 0xaf, 0xc7 }, 3, "mul32" },
	{ "div %rdi", { 0x48, 0xf7, 0xf7 }, 3, "div64" },
	{ "idiv %edi", { 0xf7, 0xff }, 2, "div32" },
	{ "jne .+2", { 0x75, 0x00 }, 2, "branch" },
	{ "jmp .+2", { 0xeb, 0x00 }, 2, "jump" },
	{ "call .+5", { 0xe8, 0, 0, 0, 0 }, 5, "jump store" },
	{ "call *(%rdi)", { 0xff, 0x17 }, 2, "load jump store" },
	{ "ret", { 0xc3 }, 1, "load jump" },
	{ "push %rax", { 0x50 }, 1, "store" },
	{ "pop %rax", { 0x58 }, 1, "load" },
	{ "push (%rdi)", { 0xff, 0x37 }, 2, "load store" },
	{ "nop", { 0x90 }, 1, "nop" },
	{ "endbr64", { 0xf3, 0x0f, 0x1e, 0xfa }, 4, "nop" },
	{ "addsd %xmm1,%xmm0", { 0xf2, 0x0f, 0x58, 0xc1 }, 4, "fadd" },
	{ "addsd (%rdi),%xmm0", { 0xf2, 0x0f, 0x58, 0x07 }, 4, "load fadd" },
	{ "mulsd %xmm1,%xmm0", { 0xf2, 0x0f, 0x59, 0xc1 }, 4, "fmul64" },
	{ "mulss %xmm1,%xmm0", { 0xf3, 0x0f, 0x59, 0xc1 }, 4, "fmul32" },
	{ "divpd %xmm1,%xmm0", { 0x66, 0x0f, 0x5e, 0xc1 }, 4, "fdiv64" },
	{ "sqrtss %xmm1,%xmm0", { 0xf3, 0x0f, 0x51, 0xc1 }, 4, "fsqrt32" },
	{ "ucomisd %xmm1,%xmm0", { 0x66, 0x0f, 0x2e, 0xc1 }, 4, "fcomp" },
	{ "cvtsi2sd %rax,%xmm0",
	  { 0xf2, 0x48, 0x0f, 0x2a, 0xc0 },
	  5,
	  "cvt_double" },
	{ "cvttsd2si %xmm0,%rax",
	  { 0xf2, 0x48, 0x0f, 0x2c, 0xc0 },
	  5,
	  "cvt_to_int" },
	{ "cvtss2sd %xmm1,%xmm0", { 0xf3, 0x0f, 0x5a, 0xc1 }, 4, "cvt_widen" },
	{ "movsd (%rdi),%xmm0", { 0xf2, 0x0f, 0x10, 0x07 }, 4, "load" },
	{ "movapd %xmm1,%xmm0", { 0x66, 0x0f, 0x28, 0xc1 }, 4, "vmove" },
	{ "movhps (%rdi),%xmm0", { 0x0f, 0x16, 0x07 }, 3, "load vmove" },
	{ "pxor %xmm1,%xmm0", { 0x66, 0x0f, 0xef, 0xc1 }, 4, "vmove" },
	{ "paddd %xmm1,%xmm0", { 0x66, 0x0f, 0xfe, 0xc1 }, 4, "vint" },
	{ "pmulld %xmm1,%xmm0", { 0x66, 0x0f, 0x38, 0x40, 0xc1 }, 5, "vmul" },
	{ "vaddpd %ymm2,%ymm1,%ymm0", { 0xc5, 0xf5, 0x58, 0xc2 }, 4, "fadd" },
	{ "vfmadd231pd %ymm2,%ymm1,%ymm0",
	  { 0xc4, 0xe2, 0xf5, 0xb8, 0xc2 },
	  5,
	  "fmul64" },
	/* AVX-512, which QEMU does not have */
	{ "vaddpd (%rdi),%zmm1,%zmm0{%k1}",
	  { 0x62, 0xf1, 0xf5, 0x49, 0x58, 0x07 },
	  6,
	  "load fadd" },
	{ "vmovdqu64 %zmm0,(%rdi)",
	  { 0x62, 0xf1, 0xfe, 0x48, 0x7f, 0x07 },
	  6,
	  "store" },
	{ "vpternlogd $1,%zmm2,%zmm1,%zmm0",
	  { 0x62, 0xf3, 0x75, 0x48, 0x25, 0xc2, 0x01 },
	  7,
	  "vint" },
	{ "aesenc %xmm1,%xmm0", { 0x66, 0x0f, 0x38, 0xdc, 0xc1 }, 5, "vmul" },
	{ "aesdeclast %xmm1,%xmm0",
	  { 0x66, 0x0f, 0x38, 0xdf, 0xc1 },
	  5,
	  "vmul" },
	{ "pclmulqdq $17,%xmm1,%xmm0",
	  { 0x66, 0x0f, 0x3a, 0x44, 0xc1, 0x11 },
	  6,
	  "vmul" },
	{ "aesimc %xmm1,%xmm0",
	  { 0x66, 0x0f, 0x38, 0xdb, 0xc1 },
	  5,
	  "unknown" },
	{ "cpuid", { 0x0f, 0xa2 }, 2, "unknown" },
	{ "(bad)", { 0x06 }, 1, "unknown" },
};

static void describe(const struct uop_insn *insn, char *to)
{
	*to = '\0';
	for (int i = 0; i < insn->uops; i++) {
		const struct uop *u = &insn->uop[i];

		to += sprintf(to, "%s%s%s", i ? " " : "",
			      uop_class_names[u->class],
			      u->flags & UOP_IS_BARRIER ? "!" : "");
	}
}

START_TEST(an_instruction_is_split_as_the_table_says)
{
	char text[200];
	struct uop_insn insn;

	uop_decode(row[_i].code, row[_i].bytes, &insn);
	describe(&insn, text);
	ck_assert_msg(!strcmp(text, row[_i].uops), "%s: %s, not %s",
		      row[_i].text, text, row[_i].uops);
	ck_assert_int_eq(insn.known, strcmp(row[_i].uops, "unknown") != 0);
}
END_TEST

static bool reads_of(const struct uop *u, const struct uop *from)
{
	for (int i = 0; i < u->sources; i++)
		for (int k = 0; k < from->results; k++)
			if (u->source[i] == from->result[k])
				return true;
	return false;
}

START_TEST(a_store_waits_for_the_operation_and_that_for_the_load)
{
	struct uop_insn insn;

	uop_decode((const unsigned char[]){ 0x48, 0x01, 0x07 }, 3, &insn);
	ck_assert(reads_of(&insn.uop[1], &insn.uop[0]));
	ck_assert(reads_of(&insn.uop[2], &insn.uop[1]));
	ck_assert(!reads_of(&insn.uop[0], &insn.uop[1]));
}
END_TEST

START_TEST(flags_are_a_register)
{
	struct uop_insn cmp, jne, mov;

	uop_decode((const unsigned char[]){ 0x48, 0x39, 0xc7 }, 3, &cmp);
	uop_decode((const unsigned char[]){ 0x75, 0x00 }, 2, &jne);
	uop_decode((const unsigned char[]){ 0x48, 0x89, 0xc7 }, 3, &mov);
	ck_assert(reads_of(&jne.uop[0], &cmp.uop[0]));
	ck_assert(!reads_of(&jne.uop[0], &mov.uop[0]));
	ck_assert(jne.uop[0].flags & UOP_IS_BRANCH);
}
END_TEST

START_TEST(a_part_of_a_register_is_the_register)
{
	struct uop_insn low, whole;

	uop_decode((const unsigned char[]){ 0xb0, 0x01 }, 2, &low); /* %al */
	uop_decode((const unsigned char[]){ 0x48, 0x89, 0xc7 }, 3, &whole);
	ck_assert(reads_of(&whole.uop[0], &low.uop[0]));
}
END_TEST

/* As in the reference; core.zero_idioms says whether it waits for that. */
START_TEST(a_zeroing_idiom_depends_on_its_register)
{
	struct uop_insn xor, mov;

	uop_decode((const unsigned char[]){ 0x31, 0xc0 }, 2, &xor);
	uop_decode((const unsigned char[]){ 0xb8, 1, 0, 0, 0 }, 5, &mov);
	ck_assert(reads_of(&xor.uop[0], &mov.uop[0]));
}
END_TEST

/* Operations on one register that set all of it to 0, and some that do not. */
static const struct {
	const char *text;
	unsigned char code[8];
	size_t bytes;
	bool zero;
} idiom[] = {
	{ "xor %eax,%eax", { 0x31, 0xc0 }, 2, true },
	{ "xor %rax,%rax", { 0x48, 0x31, 0xc0 }, 3, true },
	{ "xor %eax,%eax, the other form", { 0x33, 0xc0 }, 2, true },
	{ "sub %r9d,%r9d", { 0x45, 0x29, 0xc9 }, 3, true },
	{ "xor %ecx,%eax", { 0x31, 0xc8 }, 2, false },
	{ "xor %al,%al", { 0x30, 0xc0 }, 2, false }, /* the rest stays */
	{ "xor %ax,%ax", { 0x66, 0x31, 0xc0 }, 3, false },
	{ "xor %eax,(%rax)", { 0x31, 0x00 }, 2, false },
	{ "xor (%rax),%eax", { 0x33, 0x00 }, 2, false },
	{ "xor $0,%eax", { 0x83, 0xf0, 0x00 }, 3, false },
	{ "sbb %eax,%eax", { 0x19, 0xc0 }, 2, false }, /* the carry */
	{ "and %eax,%eax", { 0x21, 0xc0 }, 2, false },
	{ "cmp %eax,%eax", { 0x39, 0xc0 }, 2, false },
	{ "pxor %xmm0,%xmm0", { 0x66, 0x0f, 0xef, 0xc0 }, 4, true },
	{ "pxor %xmm1,%xmm0", { 0x66, 0x0f, 0xef, 0xc1 }, 4, false },
	{ "pxor %mm0,%mm0", { 0x0f, 0xef, 0xc0 }, 3, false },
	{ "xorps %xmm3,%xmm3", { 0x0f, 0x57, 0xdb }, 3, true },
	{ "xorpd %xmm3,%xmm3", { 0x66, 0x0f, 0x57, 0xdb }, 4, true },
	{ "psubq %xmm2,%xmm2", { 0x66, 0x0f, 0xfb, 0xd2 }, 4, true },
	{ "pcmpgtd %xmm2,%xmm2", { 0x66, 0x0f, 0x66, 0xd2 }, 4, true },
	{ "pcmpeqd %xmm2,%xmm2", { 0x66, 0x0f, 0x76, 0xd2 }, 4, false },
	{ "subsd %xmm2,%xmm2", { 0xf2, 0x0f, 0x5c, 0xd2 }, 4, false },
	{ "vpxor %xmm0,%xmm0,%xmm0", { 0xc5, 0xf9, 0xef, 0xc0 }, 4, true },
	{ "vpxor %ymm1,%ymm1,%ymm0", { 0xc5, 0xf5, 0xef, 0xc1 }, 4, true },
	{ "vpxor %ymm1,%ymm2,%ymm0", { 0xc5, 0xed, 0xef, 0xc1 }, 4, false },
	{ "vxorps %xmm1,%xmm1,%xmm0", { 0xc5, 0xf0, 0x57, 0xc1 }, 4, true },
	{ "vpxord %zmm0,%zmm0,%zmm0",
	  { 0x62, 0xf1, 0x7d, 0x48, 0xef, 0xc0 },
	  6,
	  true },
	{ "vpcmpgtd %zmm0,%zmm0,%k0",
	  { 0x62, 0xf1, 0x7d, 0x48, 0x66, 0xc0 },
	  6,
	  false },
	{ "vpcmpgtd %zmm0,%zmm0,%k1",
	  { 0x62, 0xf1, 0x7d, 0x48, 0x66, 0xc8 },
	  6,
	  false },
	{ "vpxord %zmm0,%zmm0,%zmm0{%k1}",
	  { 0x62, 0xf1, 0x7d, 0x49, 0xef, 0xc0 },
	  6,
	  false },
};

START_TEST(what_sets_a_register_to_zero_is_marked)
{
	struct uop_insn insn;

	uop_decode(idiom[_i].code, idiom[_i].bytes, &insn);
	for (int i = 0; i < insn.uops; i++)
		ck_assert_msg(!(insn.uop[i].flags & UOP_IS_ZERO) ==
				      !idiom[_i].zero,
			      "%s", idiom[_i].text);
}
END_TEST

/* No sequence of bytes may crash the decoder or overflow its tables. */
START_TEST(any_bytes_become_something)
{
	uint64_t x = 88172645463325252u;
	unsigned char code[15];
	struct uop_insn insn;

	for (int n = 0; n < 20000; n++) {
		int largest = 0;

		for (size_t i = 0; i < sizeof(code); i++) {
			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			code[i] = (unsigned char)x;
		}
		uop_decode(code, 1 + x % 15, &insn);
		ck_assert_uint_ge(insn.uops, 1);
		ck_assert_uint_le(insn.uops, UOPS_MAX);
		for (int i = 0; i < insn.uops && i < UOPS_MAX; i++)
			for (int k = 0; k < insn.uop[i].sources; k++)
				if (insn.uop[i].source[k] > largest)
					largest = insn.uop[i].source[k];
		ck_assert_int_lt(largest, UOP_REGISTERS);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("uop");
	TCase *t = tcase_create("uop");

	tcase_add_loop_test(t, an_instruction_is_split_as_the_table_says, 0,
			    sizeof(row) / sizeof(*row));
	tcase_add_test(t,
		       a_store_waits_for_the_operation_and_that_for_the_load);
	tcase_add_test(t, flags_are_a_register);
	tcase_add_test(t, a_part_of_a_register_is_the_register);
	tcase_add_test(t, a_zeroing_idiom_depends_on_its_register);
	tcase_add_loop_test(t, what_sets_a_register_to_zero_is_marked, 0,
			    sizeof(idiom) / sizeof(idiom[0]));
	tcase_add_test(t, any_bytes_become_something);
	suite_add_tcase(s, t);
	return run_suite(s);
}
