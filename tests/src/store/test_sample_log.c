/* SPDX-License-Identifier: MIT */
/*
 * test_sample_log - samples arrive in the file in order, while it is open
 */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/store/sample_log.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

static const char path[] = "log";

static const struct access store = {
	.addr = 0x1000, .ip = 0x401000, .len = 8, .flags = ACCESS_STORE
};
static const struct access load = {
	.addr = 0x2004, .ip = 0x402000, .len = 4, .flags = ACCESS_LOAD
};

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(fchdir(sandbox_fd), 0);
}

static void teardown(void)
{
	sample_log_close();
	sandbox_teardown();
}

static struct sample_log_record record(long n)
{
	struct sample_log_record r;
	FILE *f = fopen(path, "re");

	ck_assert_ptr_nonnull(f);
	ck_assert_int_eq(fseek(f, n * (long)sizeof(r), SEEK_SET), 0);
	ck_assert_uint_eq(fread(&r, sizeof(r), 1, f), 1);
	fclose(f);
	return r;
}

START_TEST(samples_stand_in_order)
{
	ck_assert_int_eq(sample_log_open(path), 0);
	sample_log_add(3, &store, SAMPLE_UNIFORM);
	sample_log_add(4, &load, SAMPLE_STALLED);
	ck_assert_uint_eq(record(0).addr, 0x1000);
	ck_assert_uint_eq(record(0).ip, 0x401000);
	ck_assert_uint_eq(record(0).flags, ACCESS_STORE);
	ck_assert_uint_eq(record(0).kind, SAMPLE_UNIFORM);
	ck_assert_uint_eq(record(0).thread, 3);
	ck_assert_uint_eq(record(1).len, 4);
	ck_assert_uint_eq(record(1).kind, SAMPLE_STALLED);
	ck_assert_uint_eq(record(1).thread, 4);
	ck_assert_uint_eq(record(2).len, 0);
}
END_TEST

START_TEST(nothing_is_added_while_it_is_closed)
{
	sample_log_add(1, &store, SAMPLE_UNIFORM);
	ck_assert_int_eq(sample_log_open(path), 0);
	sample_log_close();
	sample_log_add(2, &load, SAMPLE_UNIFORM);
	ck_assert_uint_eq(record(0).len, 0);
}
END_TEST

START_TEST(room_is_reserved_when_it_opens)
{
	struct stat st;

	ck_assert_int_eq(sample_log_open(path), 0);
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_size, (long)SAMPLE_LOG_RECORDS *
					     sizeof(struct sample_log_record));
	ck_assert_int_eq(st.st_mode & 07777, 0600);
}
END_TEST

START_TEST(a_symbolic_link_is_not_followed)
{
	ck_assert_int_eq(symlink("elsewhere", path), 0);
	ck_assert_int_eq(sample_log_open(path), -ELOOP);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sample_log");
	TCase *t = tcase_create("file");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, samples_stand_in_order);
	tcase_add_test(t, nothing_is_added_while_it_is_closed);
	tcase_add_test(t, room_is_reserved_when_it_opens);
	tcase_add_test(t, a_symbolic_link_is_not_followed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
