/* SPDX-License-Identifier: MIT */
/*
 * test_progress_line - when the line appears, and what it says
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/base/progress.h"
#include "tests/run_suite.h"

#define MS UINT64_C(1000000)

static struct progress p;
static char *text;
static size_t bytes;

/* As on a terminal, of 1000 things to do. */
static FILE *begin(void)
{
	FILE *to = open_memstream(&text, &bytes);

	progress_begin(&p, stderr, "simulate", 1000);
	p.to = to;
	return to;
}

START_TEST(short_runs_say_nothing)
{
	FILE *to = begin();

	progress_add_at(&p, 500, PROGRESS_AFTER_MS * MS - 1);
	progress_end(&p);
	fclose(to);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(the_remaining_time_is_in_proportion_and_the_line_goes_at_the_end)
{
	FILE *to = begin();

	progress_add_at(&p, 200, 3000 * MS);
	progress_add_at(&p, 1, 3001 * MS); /* too soon for a new line */
	progress_add_at(&p, 549, 3500 * MS);
	progress_end(&p);
	fclose(to);
	ck_assert_str_eq(text, "\r\033[Ksimulate: 20 %, 12.0 s left"
			       "\r\033[Ksimulate: 75 %, 1.2 s left"
			       "\r\033[K");
	free(text);
}
END_TEST

START_TEST(more_than_was_announced_is_not_told)
{
	FILE *to = begin();

	progress_add_at(&p, 1001, 3000 * MS);
	fclose(to);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

START_TEST(what_is_no_terminal_sees_nothing)
{
	FILE *to = open_memstream(&text, &bytes);
	FILE *null = fopen("/dev/null", "w");

	progress_begin(&p, null, "simulate", 1000);
	ck_assert(!p.to);
	progress_add_at(&p, 500, 3000 * MS);
	progress_end(&p);
	fclose(null);
	fclose(to);
	ck_assert_str_eq(text, "");
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("progress_line");
	TCase *t = tcase_create("progress");

	tcase_add_test(t, short_runs_say_nothing);
	tcase_add_test(
		t,
		the_remaining_time_is_in_proportion_and_the_line_goes_at_the_end);
	tcase_add_test(t, more_than_was_announced_is_not_told);
	tcase_add_test(t, what_is_no_terminal_sees_nothing);
	suite_add_tcase(s, t);
	return run_suite(s);
}
