/* SPDX-License-Identifier: MIT */
/*
 * test_regular_file - files are opened, and nothing else is
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/regular_file.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

/* An alarm ends the test if an open waits. */
static int opened(const char *path)
{
	int fd;

	alarm(30);
	fd = regular_file_open(path);
	alarm(0);
	return fd;
}

static const char *in_sandbox(const char *name)
{
	static char path[512];

	snprintf(path, sizeof(path), "%s/%s", sandbox, name);
	return path;
}

START_TEST(a_file_is_opened_for_reading_and_closed_on_exec)
{
	char text[8] = "";
	int fd;

	fd = openat(sandbox_fd, "plain", O_WRONLY | O_CREAT, 0600);
	ck_assert_int_eq(write(fd, "words", 5), 5);
	close(fd);
	ck_assert_int_eq(symlinkat("plain", sandbox_fd, "link"), 0);
	fd = opened(in_sandbox("link"));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(read(fd, text, sizeof(text)), 5);
	ck_assert_str_eq(text, "words");
	ck_assert_int_eq(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	close(fd);
	ck_assert_int_eq(regular_file_or_none(in_sandbox("link")), 1);
}
END_TEST

START_TEST(a_pipe_is_refused_without_waiting_for_its_other_end)
{
	ck_assert_int_eq(mkfifoat(sandbox_fd, "pipe", 0600), 0);
	ck_assert_int_eq(opened(in_sandbox("pipe")), -EMEDIUMTYPE);
	ck_assert_int_eq(regular_file_or_none(in_sandbox("pipe")), 0);
}
END_TEST

static const char *const refused[] = {
	"/dev/zero",      "/dev/tty",          "/",
	"/proc/self/mem", "/proc/self/status", "/proc/self/fd",
};

START_TEST(devices_and_files_of_the_kernel_are_refused)
{
	ck_assert_int_eq(opened(refused[_i]), -EMEDIUMTYPE);
}
END_TEST

START_TEST(links_of_proc_lead_to_their_files)
{
	int fd = opened("/proc/self/exe");

	ck_assert_int_ge(fd, 0);
	close(fd);
}
END_TEST

START_TEST(what_is_not_there_says_so)
{
	ck_assert_int_eq(opened(in_sandbox("none")), -ENOENT);
	ck_assert_int_eq(regular_file_or_none(in_sandbox("none")), 1);
	ck_assert_str_eq(regular_file_error(-ENOENT),
			 "No such file or directory");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("regular_file");
	TCase *t = tcase_create("regular_file");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, a_file_is_opened_for_reading_and_closed_on_exec);
	tcase_add_test(t, a_pipe_is_refused_without_waiting_for_its_other_end);
	tcase_add_loop_test(t, devices_and_files_of_the_kernel_are_refused, 0,
			    sizeof(refused) / sizeof(refused[0]));
	tcase_add_test(t, links_of_proc_lead_to_their_files);
	tcase_add_test(t, what_is_not_there_says_so);
	suite_add_tcase(s, t);
	return run_suite(s);
}
