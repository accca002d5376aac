/* SPDX-License-Identifier: MIT */
/*
 * test_closest - which word a mistyped one was meant to be
 */
#include <check.h>
#include <string.h>

#include "analysis/base/closest.h"
#include "tests/run_suite.h"

static const char *const words[] = { "record",    "report", "diff",
				     "export",    "doctor", "simulate",
				     "predict",   "sweep",  "call-paths",
				     "no-symbols" };

static const char *meant_by(const char *typed)
{
	struct closest c = { .typed = typed };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		closest_try(&c, words[i]);
	return c.word ? c.word : "";
}

static const struct {
	const char *typed, *meant;
} rows[] = {
	{ "recrod", "record" },    /* exchanged */
	{ "reprot", "report" },    /* and not export, two steps away */
	{ "docter", "doctor" },    /* changed */
	{ "simlate", "simulate" }, /* left out */
	{ "sweeep", "sweep" },     /* too many */
	{ "sim", "simulate" },     /* begun */
	{ "call-path", "call-paths" },
	{ "nosymbols", "no-symbols" },
	{ "frobnicate", "" },
	{ "x", "" },
	{ "", "" },
	{ "recordrecordrecordrecordrecordrecordrecordrecord", "" },
};

START_TEST(a_slip_is_mended_and_another_word_is_not)
{
	ck_assert_str_eq(meant_by(rows[_i].typed), rows[_i].meant);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("closest");
	TCase *tc = tcase_create("closest");

	tcase_add_loop_test(tc, a_slip_is_mended_and_another_word_is_not, 0,
			    sizeof(rows) / sizeof(rows[0]));
	suite_add_tcase(s, tc);
	return run_suite(s);
}
