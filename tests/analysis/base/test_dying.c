/* SPDX-License-Identifier: MIT */
/*
 * test_dying - a verb that dies says why, and its memory is not asked for
 *
 * Under AddressSanitizer the check at exit found the text that a verb was using
 * when it died, or not, by what the compiler had left in registers.
 */
#include <check.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/base/util.h"
#include "tests/run_suite.h"

static char *volatile held;

/* The exit status of a child that loses 39 bytes and then calls @leave. */
static int status_of(void (*leave)(void))
{
	pid_t pid = fork();
	int status;

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		held = xasprintf("%38s", "lost");
		held = NULL;
		leave();
		_exit(99);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void die_as_three(void)
{
	die_status = 3;
	die("cannot write a file");
}

static void die_as_five(void)
{
	die_as(5, "cannot write a file");
}

START_TEST(a_verb_that_dies_keeps_its_status)
{
	ck_assert_int_eq(status_of(die_as_three), 3);
	ck_assert_int_eq(status_of(die_as_five), 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("dying");
	TCase *tc = tcase_create("dying");

	tcase_add_test(tc, a_verb_that_dies_keeps_its_status);
	suite_add_tcase(s, tc);
	return run_suite(s);
}
