/* SPDX-License-Identifier: MIT */
/*
 * test_record_letters - each option of record is one option
 *
 * Options with one letter would set each other's variable.
 */
#include "analysis/record/options.c"
#include "tests/run_suite.h"

static int options_of(int letter)
{
	int n = 0;

	for (const struct option *o = long_options; o->name; o++)
		n += o->val == letter;
	return n;
}

static const struct option_twin *twin_of(int letter, int *n)
{
	const struct option_twin *found = NULL;

	*n = 0;
	for (int i = 0; i < TWINS; i++)
		if (twins[i].letter == letter) {
			found = &twins[i];
			++*n;
		}
	return found;
}

START_TEST(no_two_long_options_have_one_letter)
{
	for (const struct option *o = long_options; o->name; o++)
		ck_assert_msg(options_of(o->val) == 1, "--%s: '%c'", o->name,
			      o->val);
}
END_TEST

START_TEST(each_long_option_has_one_variable)
{
	for (const struct option *o = long_options; o->name; o++) {
		const struct option_twin *t;
		int n;

		t = twin_of(o->val, &n);
		if (o->val == 'h') { /* --help sets none */
			ck_assert_int_eq(n, 0);
			continue;
		}
		ck_assert_msg(n == 1, "--%s: %d variables", o->name, n);
		ck_assert_msg(!t->fixed == (o->has_arg == required_argument),
			      "--%s", o->name);
		if (t->name[1] == '-')
			ck_assert_str_eq(t->name + 2, o->name);
	}
}
END_TEST

START_TEST(each_variable_has_one_option)
{
	for (int i = 0; i < TWINS; i++) {
		ck_assert_msg(options_of(twins[i].letter) == 1, "%s",
			      twins[i].name);
		for (int k = 0; k < i; k++)
			ck_assert_str_ne(twins[i].twin, twins[k].twin);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("record_letters");
	TCase *c = tcase_create("letters");

	tcase_add_test(c, no_two_long_options_have_one_letter);
	tcase_add_test(c, each_long_option_has_one_variable);
	tcase_add_test(c, each_variable_has_one_option);
	suite_add_tcase(s, c);
	return run_suite(s);
}
