/* SPDX-License-Identifier: MIT */
/*
 * test_reg_value - what is said of values against the values themselves
 *
 * Registers of a program that is drawn at random hold numbers. Beside each the
 * test keeps what reg_value says of it, and after each operation the number has
 * to be one of those that this allows.
 */
#include <check.h>
#include <stdlib.h>

#include "analysis/symbols/reg_value.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

enum {
	REGISTERS = 6,
	STEPS = 200,
	UNKNOWNS = STEPS + 1
};

static const struct data_type object = { .name = "object", .size = 24 };
static int64_t unknown[UNKNOWNS];

/* True if @v may be @number. */
static bool allows(const struct reg_value *v, int64_t number)
{
	int64_t rest = number - v->at;

	if (v->unknown)
		return rest == v->stride * unknown[v->unknown];
	return v->stride ? rest % v->stride == 0 : !rest;
}

struct reg {
	struct reg_value said;
	int64_t number;
};

static struct reg operate(struct rng *rng, struct reg x, struct reg y)
{
	static const int64_t factors[] = { -1, 0, 1, 2, 4, 8, 3, 88 };
	int64_t n = factors[rng_below(rng, 8)];

	switch (rng_below(rng, 5)) {
	case 0:
		return (struct reg){ reg_value_add(x.said, y.said),
				     x.number + y.number };
	case 1:
		return (struct reg){ reg_value_subtract(x.said, y.said),
				     x.number - y.number };
	case 2:
		return (struct reg){ reg_value_multiply(x.said, n),
				     x.number * n };
	case 3:
		return (struct reg){ reg_value_either(x.said, y.said),
				     rng_below(rng, 2) ? x.number : y.number };
	default:
		return (struct reg){ reg_value_cut(x.said, 4),
				     (int32_t)x.number };
	}
}

START_TEST(a_value_is_one_of_those_that_are_said)
{
	struct reg reg[REGISTERS];
	struct rng rng;
	int known = 0;

	rng_seed(&rng, 5, _i);
	for (int i = 0; i < REGISTERS; i++)
		reg[i] = (struct reg){ reg_value_number(8 * i), 8 * i };
	for (uint32_t i = 1; i < UNKNOWNS; i++) {
		struct reg *to = &reg[rng_below(&rng, REGISTERS)];

		unknown[i] = (int64_t)rng_below(&rng, 1000) - 500;
		if (rng_below(&rng, 3))
			*to = operate(&rng, reg[rng_below(&rng, REGISTERS)],
				      reg[rng_below(&rng, REGISTERS)]);
		else
			*to = (struct reg){ { .stride = 1, .unknown = i },
					    unknown[i] };
		if (llabs(to->number) > INT32_MAX)
			*to = (struct reg){ reg_value_number(7), 7 };
		ck_assert(allows(&to->said, to->number));
		known += to->said.stride != 1 || to->said.unknown;
	}
	ck_assert_int_gt(known, STEPS / 8);
}
END_TEST

static struct reg_value any(uint32_t number)
{
	return (struct reg_value){ .stride = 1, .unknown = number };
}

START_TEST(an_index_times_the_size_leads_to_the_same_place)
{
	struct reg_value p = reg_value_pointer(&object, 8), i = any(1), sum;

	/* 24 i = 8 (4 i - i) */
	sum = reg_value_subtract(reg_value_multiply(i, 4), i);
	sum = reg_value_add(p, reg_value_multiply(sum, 8));
	ck_assert(reg_value_is_place(&sum));
	ck_assert_ptr_eq(sum.type, &object);
	ck_assert_int_eq(sum.at, 8);
}
END_TEST

START_TEST(another_number_leads_to_a_place_that_is_not_known)
{
	struct reg_value p = reg_value_pointer(&object, 8), sum;

	sum = reg_value_add(p, any(1));
	ck_assert(!reg_value_is_place(&sum));
	sum = reg_value_add(p, reg_value_multiply(any(1), 8));
	ck_assert(!reg_value_is_place(&sum));
	/* Two numbers, each any number. */
	sum = reg_value_subtract(reg_value_multiply(any(1), 25), any(2));
	sum = reg_value_add(p, sum);
	ck_assert(!reg_value_is_place(&sum));
}
END_TEST

START_TEST(a_null_pointer_is_not_followed)
{
	struct reg_value p = reg_value_pointer(&object, 0), v;

	v = reg_value_either(reg_value_number(0), p);
	ck_assert(reg_value_is_place(&v));
	v = reg_value_either(reg_value_number(8), p);
	ck_assert(!reg_value_is_place(&v));
	v = reg_value_either(p, reg_value_pointer(&object, 8));
	ck_assert(!reg_value_is_place(&v));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reg_value");
	TCase *t = tcase_create("reg_value");

	tcase_add_loop_test(t, a_value_is_one_of_those_that_are_said, 0, 200);
	tcase_add_test(t, an_index_times_the_size_leads_to_the_same_place);
	tcase_add_test(t, another_number_leads_to_a_place_that_is_not_known);
	tcase_add_test(t, a_null_pointer_is_not_followed);
	suite_add_tcase(suite, t);
	return run_suite(suite);
}
