/* SPDX-License-Identifier: MIT */
/*
 * test_workload_file - how long a profile may be
 */
#include "analysis/predict/workload_codec.h"
#include "analysis/predict/workload_file.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

/* Read a file whose header says so, and that has a wrong check sum. */
static void is_refused(uint64_t bytes, const char *why)
{
	struct workload_header h = { .magic = WORKLOAD_MAGIC,
				     .version = WORKLOAD_VERSION,
				     .header_bytes = sizeof(h),
				     .bytes = bytes,
				     .stored = sizeof(h) };
	char path[128], error[WORKLOAD_ERROR_BYTES] = "";
	struct workload w;
	FILE *f;

	snprintf(path, sizeof(path), "%s/profile", sandbox);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < 2; i++)
		ck_assert_uint_eq(fwrite(&h, sizeof(h), 1, f), 1);
	fclose(f);
	ck_assert(workload_file_read(&w, path, error));
	ck_assert_msg(strstr(error, why), "%s", error);
}

START_TEST(a_profile_may_have_millions_of_events)
{
	is_refused(200000000, "check sum");
	is_refused(UINT64_C(1) << 30, "check sum");
	is_refused((UINT64_C(1) << 30) + 1, "impossible length");
	is_refused(UINT64_MAX, "impossible length");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("workload_file");
	TCase *t = tcase_create("workload_file");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, a_profile_may_have_millions_of_events);
	suite_add_tcase(s, t);
	return run_suite(s);
}
