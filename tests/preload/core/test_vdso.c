/* SPDX-License-Identifier: MIT */
/*
 * test_vdso - the kernel's clock, read without the C library
 */
#include <check.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/seccomp.h>

#include "preload/core/vdso.h"
#include "tests/run_suite.h"

static uint64_t ns(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * 1000000000 + ts->tv_nsec;
}

static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME,
				    CLOCK_MONOTONIC_COARSE };

/* Before vdso_init it is a system call, and as good. */
START_TEST(time_lies_between_two_system_calls)
{
	struct timespec before, is, after;

	for (int i = 0; i < 1000; i++) {
		if (i == 500)
			vdso_init();
		syscall(SYS_clock_gettime, clocks[_i], &before);
		ck_assert_int_eq(vdso_clock_gettime(clocks[_i], &is), 0);
		syscall(SYS_clock_gettime, clocks[_i], &after);
		ck_assert_uint_le(ns(&before), ns(&is));
		ck_assert_uint_le(ns(&is), ns(&after));
	}
}
END_TEST

/* How a child ends in which a system call is deadly: 0 if it made none. */
static int status_without_calls(int (*get)(clockid_t, struct timespec *))
{
	struct timespec ts;
	int status;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		for (int i = 0; i < 100; i++)
			get(CLOCK_MONOTONIC, &ts);
		syscall(SYS_exit, 0);
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

START_TEST(no_system_call_is_made_where_the_c_library_makes_none)
{
	vdso_init();
	ck_assert_int_eq(status_without_calls(vdso_clock_gettime),
			 status_without_calls(clock_gettime));
}
END_TEST

START_TEST(its_code_is_known)
{
	uint64_t image = getauxval(AT_SYSINFO_EHDR);

	vdso_init();
	ck_assert(vdso_has(image) == (image != 0));
	ck_assert(!vdso_has((uint64_t)(uintptr_t)vdso_init));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("vdso");
	TCase *t = tcase_create("vdso");

	tcase_add_loop_test(t, time_lies_between_two_system_calls, 0, 3);
	tcase_add_test(t,
		       no_system_call_is_made_where_the_c_library_makes_none);
	tcase_add_test(t, its_code_is_known);
	suite_add_tcase(s, t);
	return run_suite(s);
}
