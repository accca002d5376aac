/* SPDX-License-Identifier: MIT */
/*
 * test_mapping - which thread report --mapping puts on which core
 */
#include "tests/fake/fake_profile.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

#define LINE UINT64_C(0x7f0000001000)

static struct fake fake;

/* Threads 0 and 3 share, and 1 and 2; the two of a pair share a cache. */
START_TEST(threads_that_share_are_mapped_to_cores_that_are_near)
{
	static const char machine[] = "--mapping=package:2 l3:1 core:2 pu:1";
	unsigned int core[4];
	struct verb v;
	char *row;

	fake_begin(&fake);
	for (int i = 0; i < 4; i++)
		fake_thread(&fake, "busy");
	fake_thread(&fake, "idle")->cpu_ns = 1000;
	fake_pair(&fake, 0, 3, LINE, LINE, 77);
	fake_pair(&fake, 1, 2, LINE, LINE, 55);
	fake_end(&fake);
	v = VERB(cmd_report, "report", machine, fake.dir);
	ck_assert_int_eq(v.status, 0);
	row = strstr(v.out, "cpu\n");
	for (int i = 0; i < 4; i++) {
		ck_assert_ptr_nonnull(row);
		row = strchr(row, '\n') + 1;
		ck_assert_int_eq(sscanf(row, "%*u %*u busy %u", &core[i]), 1);
	}
	ck_assert_uint_eq(core[0] / 2, core[3] / 2);
	ck_assert_uint_eq(core[1] / 2, core[2] / 2);
	ck_assert_uint_ne(core[0] / 2, core[1] / 2);
	ck_assert_ptr_null(strstr(v.out, "idle"));
	ASSERT_SAYS(v.out, "OMP_PLACES='{");
	ASSERT_SAYS(v.out, "taskset -cp ");
	ASSERT_SAYS(v.out, "hwloc-bind --tid ");
	verb_free(&v);
	v = VERB(cmd_report, "report", "--mapping=frob:2", fake.dir);
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "lstopo");
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("mapping");
	TCase *t = tcase_create("mapping");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, threads_that_share_are_mapped_to_cores_that_are_near);
	suite_add_tcase(s, t);
	return run_suite(s);
}
