/* SPDX-License-Identifier: MIT */
/*
 * test_student - quantiles against published tables
 */
#include "analysis/base/student.h"
#include "tests/run_suite.h"

START_TEST(quantiles_are_those_of_the_tables)
{
	/* Abramowitz and Stegun, table 26.10; Student, Metron 5, 1925. */
	static const struct {
		unsigned int df;
		double t;
	} rows[] = { { 1, 12.706 }, { 2, 4.303 },  { 3, 3.182 }, { 4, 2.776 },
		     { 5, 2.571 },  { 8, 2.306 },  { 9, 2.262 }, { 30, 2.042 },
		     { 0, 1.960 },  { 120, 1.980 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		ck_assert_double_eq_tol(student_quantile(0.025, rows[i].df),
					rows[i].t, 0.0006);
	ck_assert_double_eq_tol(student_quantile(0.005, 1), 63.657, 0.001);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("student");
	TCase *t = tcase_create("student");

	tcase_add_test(t, quantiles_are_those_of_the_tables);
	suite_add_tcase(s, t);
	return run_suite(s);
}
