/* SPDX-License-Identifier: MIT */
/*
 * test_cfi - rows of .eh_frame, made by hand, and damaged
 */
#include <check.h>
#include <stdlib.h>

#include "made_frames.h"
#include "src/base/rng.h"
#include "src/unwind/expression.h"
#include "tests/run_suite.h"

static struct made made;

static int row_at(unsigned function, uint64_t offset, struct cfi_row *row)
{
	return cfi_find(&made.reader, &made.module,
			made_code(function) + offset, row);
}

#define FRAMES(n, letters, ...)                                                \
	do {                                                                   \
		static const uint8_t program_[] = { __VA_ARGS__ };             \
		made_frames(&made, n, program_, sizeof(program_), letters);    \
	} while (0)

/* push %rbp; mov %rsp, %rbp; push %rbx; ...; pop; ret */
#define PROLOGUE                                                               \
	0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x41, 0x83, 3, 0x02, 20, 0x0c, \
		7, 8

static void is(const struct cfi_row *r, unsigned base, int offset)
{
	ck_assert_uint_eq(r->cfa.rule, RULE_VAL_OFFSET);
	ck_assert_uint_eq(r->cfa.base, base);
	ck_assert_int_eq(r->cfa.value, offset);
	ck_assert_uint_eq(r->reg[FRAME_PC].rule, RULE_OFFSET);
	ck_assert_int_eq(r->reg[FRAME_PC].value, -8);
}

START_TEST(each_instruction_has_the_row_that_holds_before_it)
{
	struct cfi_row r;

	FRAMES(3, "zR", PROLOGUE);
	ck_assert_int_eq(row_at(1, 0, &r), 0);
	is(&r, FRAME_RSP, 8);
	ck_assert_uint_eq(r.reg[FRAME_RBP].rule, RULE_SAME);
	ck_assert_uint_eq(r.start, made_code(1));
	ck_assert_int_eq(row_at(1, 1, &r), 0);
	is(&r, FRAME_RSP, 16);
	ck_assert_uint_eq(r.reg[FRAME_RBP].rule, RULE_OFFSET);
	ck_assert_int_eq(r.reg[FRAME_RBP].value, -16);
	ck_assert_int_eq(row_at(1, 4, &r), 0);
	is(&r, FRAME_RBP, 16);
	ck_assert_uint_eq(r.reg[FRAME_RBX].rule, RULE_SAME);
	ck_assert_int_eq(row_at(1, 24, &r), 0);
	is(&r, FRAME_RBP, 16);
	ck_assert_int_eq(r.reg[FRAME_RBX].value, -24);
	ck_assert_int_eq(row_at(1, 25, &r), 0);
	is(&r, FRAME_RSP, 8);
	ck_assert(!r.signal);
}
END_TEST

START_TEST(code_between_functions_and_outside_has_no_row)
{
	struct cfi_row r;

	FRAMES(100, "zR", PROLOGUE);
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_int_eq(row_at(i, 0, &r), 0);
		ck_assert_uint_eq(r.start, made_code(i));
		ck_assert_int_eq(row_at(i, MADE_FUNCTION_BYTES - 1, &r), 0);
		ck_assert_int_eq(row_at(i, MADE_FUNCTION_BYTES, &r), -ENOENT);
	}
	ck_assert_int_eq(cfi_find(&made.reader, &made.module, MADE_BASE, &r),
			 -ENOENT);
	ck_assert_int_eq(row_at(0, UINT64_MAX, &r), -ENOENT);
	made.module.index = 0;
	ck_assert_int_eq(row_at(0, 0, &r), -ENOENT);
	made.module.index = 8; /* not readable */
	ck_assert_int_eq(row_at(0, 0, &r), -ENOENT);
}
END_TEST

START_TEST(a_remembered_row_comes_back_with_its_cfa)
{
	struct cfi_row r;

	FRAMES(1, "zR", 0x41, 0x0e, 16, 0x86, 2, 0x41, 0x0a, 0x41, 0xc6, 0x0e,
	       8, 0x41, 0x0b);
	ck_assert_int_eq(row_at(0, 3, &r), 0);
	is(&r, FRAME_RSP, 8);
	ck_assert_uint_eq(r.reg[FRAME_RBP].rule, RULE_SAME);
	ck_assert_int_eq(row_at(0, 4, &r), 0);
	is(&r, FRAME_RSP, 16);
	ck_assert_int_eq(r.reg[FRAME_RBP].value, -16);
}
END_TEST

START_TEST(every_kind_of_rule_is_told)
{
	struct cfi_row r;

	FRAMES(1, "zRS", 0x05, 3, 4, 0x11, 12, 0x7d, 0x09, 13, 14, 0x07, 16,
	       0x14, 14, 1, 0x15, 15, 0x7f, 0x10, 6, 2, 0x77, 8, 0x16, 0, 2,
	       0x77, 16, 0x2e, 8, 0x05, 33, 4);
	ck_assert_int_eq(row_at(0, 0, &r), 0);
	ck_assert(r.signal);
	ck_assert_uint_eq(r.reg[3].rule, RULE_OFFSET);
	ck_assert_int_eq(r.reg[3].value, -32);
	ck_assert_int_eq(r.reg[12].value, 24);
	ck_assert_uint_eq(r.reg[13].rule, RULE_REGISTER);
	ck_assert_int_eq(r.reg[13].value, 14);
	ck_assert_uint_eq(r.reg[FRAME_PC].rule, RULE_UNDEFINED);
	ck_assert_uint_eq(r.reg[14].rule, RULE_VAL_OFFSET);
	ck_assert_int_eq(r.reg[14].value, -8);
	ck_assert_int_eq(r.reg[15].value, 8);
	ck_assert_uint_eq(r.reg[6].rule, RULE_EXPRESSION);
	ck_assert_uint_eq(r.reg[0].rule, RULE_VAL_EXPRESSION);
}
END_TEST

/* What ld writes for a procedure linkage table. */
START_TEST(the_expression_of_a_linkage_table_gives_its_cfa)
{
	struct cfi_row r;
	struct unwind_registers regs = { .known = 0 };
	uint64_t cfa;

	FRAMES(1, "zR", 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a,
	       0x33, 0x24, 0x22);
	ck_assert_int_eq(row_at(0, 32, &r), 0);
	ck_assert_uint_eq(r.cfa.rule, RULE_VAL_EXPRESSION);
	register_set(&regs, FRAME_RSP, 1000);
	for (uint64_t pc = 0; pc < 32; pc++) {
		register_set(&regs, FRAME_PC, 0x4000 + pc);
		ck_assert_int_eq(expression_value(cfi_expression(&made.reader,
								 &r, &r.cfa),
						  &regs, &made.reader, NULL,
						  &cfa),
				 0);
		ck_assert_uint_eq(cfa, 1008 + (pc % 16 >= 11 ? 8 : 0));
	}
}
END_TEST

START_TEST(what_is_not_understood_is_refused)
{
	struct cfi_row r;

	FRAMES(1, "zR", 0x3f); /* no such instruction */
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0b); /* nothing is remembered */
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a);
	ck_assert_int_eq(row_at(0, 0, &r), 0);
	FRAMES(1, "zR", 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a);
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80,
	       0x80, 0x80, 0x01); /* a number without an end */
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0e, 0xff, 0xff, 0xff, 0xff, 0x7f);
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0c, 40, 8); /* CFA in a register that is none */
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zR", 0x0f, 0xff, 0x01, 0x77); /* behind the end */
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "eh", PROLOGUE);
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
	FRAMES(1, "zRRRRRRRRRRRR", PROLOGUE);
	ck_assert_int_eq(row_at(0, 0, &r), -EINVAL);
}
END_TEST

/* Bytes of @from in which some bits, bytes or numbers are others. */
static void damage(struct made *to, const struct made *from, struct rng *rng)
{
	static const uint8_t nasty[] = {
		0, 0x7f, 0x80, 0xff, 0x0f, 0x10, 0x16
	};
	int n = 1 + (int)rng_below(rng, 4);

	*to = *from;
	to->memory.ctx = to;
	reader_begin(&to->reader, &to->memory, 256);
	for (int i = 0; i < n; i++) {
		uint64_t at = rng_below(rng, from->used);

		if (rng_below(rng, 2))
			to->byte[at] = nasty[rng_below(rng, sizeof(nasty))];
		else
			to->byte[at] ^= 1u << rng_below(rng, 8);
	}
}

START_TEST(damaged_bytes_end_soon_and_harm_nothing)
{
	static struct made bad;
	struct unwind_registers regs = { .known = 0x1ffff };
	struct rng rng;
	uint64_t reads = 0, value;
	unsigned found = 0;

	FRAMES(8, "zR", PROLOGUE, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b,
	       0x2a, 0x33, 0x24, 0x22, 0x10, 6, 5, 0x06, 0x12, 0x2f, 0xfb,
	       0xff);
	rng_seed(&rng, 1, 0);
	for (int i = 0; i < 200000; i++) {
		struct cfi_row r;

		damage(&bad, &made, &rng);
		if (!cfi_find(&bad.reader, &bad.module,
			      made_code((unsigned)i % 8) + 40, &r)) {
			found++;
			if (r.cfa.rule == RULE_VAL_EXPRESSION)
				expression_value(
					cfi_expression(&bad.reader, &r, &r.cfa),
					&regs, &bad.reader, NULL, &value);
			for (int k = 0; k < UNWIND_REGISTERS; k++)
				if (r.reg[k].rule == RULE_EXPRESSION)
					expression_value(
						cfi_expression(&bad.reader, &r,
							       &r.reg[k]),
						&regs, &bad.reader, NULL,
						&value);
		}
		reads = bad.reads > reads ? bad.reads : reads;
	}
	ck_assert_uint_gt(found, 20000);
	/* Every step reads at most once, and steps are limited. */
	ck_assert_uint_lt(reads, 30000);
}
END_TEST

static int compute(const uint8_t *code, size_t n, uint64_t *value)
{
	struct unwind_registers regs = { .known = 0 };
	struct walk w = { .reader = &made.reader,
			  .at = MADE_BASE,
			  .end = MADE_BASE + n };

	memset(&made, 0, sizeof(made));
	made.memory = (struct unwind_memory){ made_read, &made };
	reader_begin(&made.reader, &made.memory, 64);
	memcpy(made.byte, code, n);
	register_set(&regs, FRAME_RSP, MADE_BASE);
	register_set(&regs, FRAME_RBP, 7);
	return expression_value(w, &regs, &made.reader, NULL, value);
}

#define VALUE(want, ...)                                                       \
	do {                                                                   \
		static const uint8_t code_[] = { __VA_ARGS__ };                \
		uint64_t value_ = 0;                                           \
		ck_assert_int_eq(compute(code_, sizeof(code_), &value_), 0);   \
		ck_assert_uint_eq(value_, (uint64_t)(want));                   \
	} while (0)

#define REFUSED(...)                                                           \
	do {                                                                   \
		static const uint8_t code_[] = { __VA_ARGS__ };                \
		uint64_t value_;                                               \
		ck_assert_int_eq(compute(code_, sizeof(code_), &value_),       \
				 -EINVAL);                                     \
	} while (0)

START_TEST(operations_compute_what_dwarf_says)
{
	VALUE(31, 0x4f);
	VALUE(200, 0x08, 200);
	VALUE(-56, 0x09, 200);
	VALUE(0x1234, 0x0a, 0x34, 0x12);
	VALUE(-2, 0x0b, 0xfe, 0xff);
	VALUE(-2, 0x0d, 0xfe, 0xff, 0xff, 0xff);
	VALUE(300, 0x10, 0xac, 0x02);
	VALUE(-300, 0x11, 0xd4, 0x7d);
	VALUE(6, 0x32, 0x12, 0x22, 0x12, 0x31, 0x22, 0x13, 0x32, 0x22);
	VALUE(2, 0x32, 0x33, 0x14, 0x1c, 0x1c, 0x33, 0x22, 0x15, 0, 0x13, 0x32,
	      0x1c);
	VALUE(1, 0x32, 0x33, 0x16, 0x1c);
	VALUE(3, 0x31, 0x32, 0x33, 0x17, 0x13, 0x13); /* top becomes third */
	VALUE(5, 0x35, 0x1f, 0x19);
	VALUE(-1, 0x30, 0x20);
	VALUE(4, 0x36, 0x3c, 0x1a);
	VALUE(14, 0x36, 0x3c, 0x21);
	VALUE(10, 0x36, 0x3c, 0x27);
	VALUE(-3, 0x36, 0x1f, 0x32, 0x1b);
	VALUE(1, 0x37, 0x33, 0x1d);
	VALUE(21, 0x37, 0x33, 0x1e);
	VALUE(40, 0x35, 0x33, 0x24);
	VALUE(-1, 0x34, 0x1f, 0x35, 0x26);
	VALUE(0, 0x34, 0x08, 64, 0x25);
	VALUE(12, 0x76, 5);               /* rbp + 5 */
	VALUE(6, 0x92, 6, 0x7f);          /* rbp - 1 */
	VALUE(1, 0x31, 0x32, 0x2d);       /* 1 < 2 */
	VALUE(0, 0x31, 0x32, 0x2a);       /* 1 >= 2 */
	VALUE(2, 0x32, 0x2f, 1, 0, 0x33); /* skip */
	VALUE(2, 0x32, 0x31, 0x28, 1, 0, 0x33);
	VALUE(0x0677, 0x77, 0, 0x94, 2, 0x0a, 0, 0, 0x22, 0x30, 0x22, 0x0a,
	      0x00, 0x06, 0x21, 0x0a, 0xff, 0xff, 0x1a, 0x08, 0x77, 0x21);
}
END_TEST

START_TEST(operations_that_make_no_sense_are_refused)
{
	REFUSED(0x22);             /* nothing to add */
	REFUSED(0x13, 0x31);       /* nothing to drop */
	REFUSED(0x31, 0x30, 0x1b); /* by zero */
	REFUSED(0x31, 0x30, 0x1d);
	REFUSED(0x73, 0); /* rbx is not known */
	REFUSED(0x90, 17, 0);
	REFUSED(0x30, 0x06); /* address 0 */
	REFUSED(0x77, 0, 0x94, 9);
	REFUSED(0x31, 0x2f, 0xfc, 0xff); /* for ever */
	REFUSED(0x2f, 0xf0, 0xff);       /* before the beginning */
	REFUSED(0x2f, 100, 0);
	REFUSED(0x0a, 1); /* cut */
	REFUSED(0x15, 200);
	REFUSED(0xe0);
	REFUSED(0x31, 0x2f, 0xfd, 0xff, 0x31);
	REFUSED(0x30, 0x20, 0x12, 0x31, 0x3f, 0x08, 63, 0x24, 0x16, 0x13, 0x16,
		0x1b, 0x22, 0x22, 0x22, 0x22);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cfi");
	TCase *c = tcase_create("cfi");

	tcase_set_timeout(c, 300);
	tcase_add_test(c, each_instruction_has_the_row_that_holds_before_it);
	tcase_add_test(c, code_between_functions_and_outside_has_no_row);
	tcase_add_test(c, a_remembered_row_comes_back_with_its_cfa);
	tcase_add_test(c, every_kind_of_rule_is_told);
	tcase_add_test(c, the_expression_of_a_linkage_table_gives_its_cfa);
	tcase_add_test(c, what_is_not_understood_is_refused);
	tcase_add_test(c, damaged_bytes_end_soon_and_harm_nothing);
	tcase_add_test(c, operations_compute_what_dwarf_says);
	tcase_add_test(c, operations_that_make_no_sense_are_refused);
	suite_add_tcase(s, c);
	return run_suite(s);
}
