/* SPDX-License-Identifier: MIT */
/*
 * test_sharing_probe - the probe measures what can be true, or nothing
 *
 * How long it finds accesses to take depends on the machine, and is not tested.
 */
#include <check.h>
#include <limits.h>
#include <sched.h>
#include <unistd.h>

#include "analysis/record/sharing_probe.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

static void stay_on_one(void)
{
	cpu_set_t all;
	int cpu = 0;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(all), &all), 0);
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&all);
	CPU_SET(cpu, &all);
	ck_assert_int_eq(sched_setaffinity(0, sizeof(all), &all), 0);
}

START_TEST(one_processor_shares_no_line)
{
	struct sharing_cost c;

	stay_on_one();
	ck_assert(!sharing_probe(&c));
}
END_TEST

START_TEST(the_processors_of_the_caller_stay_the_same)
{
	struct sharing_cost c;
	cpu_set_t before, after;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(before), &before), 0);
	sharing_probe(&c);
	ck_assert_int_eq(sched_getaffinity(0, sizeof(after), &after), 0);
	ck_assert(CPU_EQUAL(&before, &after));
}
END_TEST

/* On a busy machine there may be no result, which is right too. */
START_TEST(what_is_measured_is_in_order_and_can_be_written_and_read)
{
	struct sharing_cost c, again;
	char path[PATH_MAX], wanted[128];
	int dirfd;

	if (!sharing_probe(&c))
		return;
	ck_assert_double_gt(c.round_trip_ns, 0);
	for (int i = 0; i < COST_KINDS; i++) {
		ck_assert_double_gt(c.alone[i].low, 0);
		ck_assert_double_le(c.alone[i].low, c.alone[i].middle);
		ck_assert_double_le(c.alone[i].middle, c.alone[i].high);
	}
	snprintf(wanted, sizeof(wanted), "%s/out", sandbox);
	dirfd = outdir_create(wanted, "probe", path, sizeof(path));
	ck_assert_int_ge(dirfd, 0);
	ck_assert_int_eq(sharing_cost_write(&c, dirfd), 0);
	close(dirfd);
	ck_assert(sharing_cost_read(&again, path));
	for (int i = 0; i < COST_KINDS; i++)
		ck_assert_double_eq_tol(again.alone[i].middle,
					c.alone[i].middle, 0.001);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sharing_probe");
	TCase *t = tcase_create("sharing_probe");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 120);
	tcase_add_test(t, one_processor_shares_no_line);
	tcase_add_test(t, the_processors_of_the_caller_stay_the_same);
	tcase_add_test(
		t, what_is_measured_is_in_order_and_can_be_written_and_read);
	suite_add_tcase(s, t);
	return run_suite(s);
}
