/* SPDX-License-Identifier: MIT */
/*
 * test_workload_file - how long a profile may be, and a disk that is full
 */
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

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

/* A file that is half written would be taken for a damaged profile. */
START_TEST(a_profile_that_does_not_fit_is_removed)
{
	char path[128], error[WORKLOAD_ERROR_BYTES] = "";
	struct rlimit all, little = { .rlim_cur = 1 };
	struct workload w = { 0 };

	snprintf(path, sizeof(path), "%s/profile", sandbox);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	little.rlim_max = all.rlim_max;
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
	ck_assert_int_eq(workload_file_write(&w, path, error), -EFBIG);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &all), 0);
	ck_assert_str_eq(error, strerror(EFBIG));
	ck_assert_int_ne(access(path, F_OK), 0);

	ck_assert_int_eq(workload_file_write(&w, path, error), 0);
	ck_assert_int_eq(workload_file_write(&w, path, error), -EEXIST);
	ck_assert_int_eq(access(path, F_OK), 0); /* it was there before */
}
END_TEST

START_TEST(a_file_says_whether_the_profile_is_quick)
{
	char path[128], error[WORKLOAD_ERROR_BYTES] = "";
	struct workload_thread thread = { .starts = true };
	struct workload w = { .thread = &thread, .threads = 1 }, read;

	for (int quick = 0; quick < 2; quick++) {
		snprintf(path, sizeof(path), "%s/%d", sandbox, quick);
		w.quick = quick;
		ck_assert_int_eq(workload_file_write(&w, path, error), 0);
		ck_assert_msg(!workload_file_read(&read, path, error), "%s",
			      error);
		ck_assert_int_eq(read.quick, quick);
		workload_release(&read);
	}
}
END_TEST

/* Not as if all lines were in one set. */
START_TEST(older_profiles_do_not_know_sets)
{
	struct window window = { .instructions = 1 };
	struct micro_trace micro = { .instructions = 1, .uops = 1 };
	struct micro_uop uop = { .access = 1 };
	struct micro_access access = { .set = 77 };
	struct workload_thread thread = { .starts = true,
					  .instructions = 1,
					  .window = &window,
					  .windows = 1,
					  .micro = &micro,
					  .micros = 1,
					  .uop = &uop,
					  .uops = 1,
					  .access = &access,
					  .accesses = 1 };

	for (uint32_t v = WORKLOAD_UNSHARED; v <= WORKLOAD_VERSION; v++) {
		struct workload w = { .thread = &thread, .threads = 1 };
		struct workload_codec c = { .version = v }, d;
		struct workload read = { 0 };

		workload_codec_run(&c, &w);
		d = (struct workload_codec){
			.reads = true, .version = v, .bytes = c.bytes, .n = c.n
		};
		workload_codec_run(&d, &read);
		ck_assert_msg(!d.wrong, "%s", d.wrong);
		ck_assert_uint_eq(read.thread[0].access[0].set,
				  v == WORKLOAD_VERSION ? 77 : MICRO_SETS);
		workload_release(&read);
		free(c.bytes);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("workload_file");
	TCase *t = tcase_create("workload_file");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, a_profile_may_have_millions_of_events);
	tcase_add_test(t, a_profile_that_does_not_fit_is_removed);
	tcase_add_test(t, a_file_says_whether_the_profile_is_quick);
	tcase_add_test(t, older_profiles_do_not_know_sets);
	suite_add_tcase(s, t);
	return run_suite(s);
}
