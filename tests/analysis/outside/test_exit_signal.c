/* SPDX-License-Identifier: MIT */
/*
 * test_exit_signal - which signal ended a process, before and after it is gone
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/outside/exit_signal.h"
#include "src/store/host.h"
#include "tests/run_suite.h"

static pid_t child;
static uint64_t start;
static int pidfd;

/* A child that signal @sig ends; nobody has waited for it yet. */
static void end_child(int sig)
{
	siginfo_t info;
	uint32_t parent;

	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child) {
		pause();
		_exit(0);
	}
	start = host_process_start(child, &parent);
	ck_assert_uint_ne(start, 0);
	pidfd = exit_signal_open(child);
	ck_assert_int_eq(exit_signal_of(child, start, pidfd), 0);
	kill(child, sig);
	ck_assert_int_eq(waitid(P_PID, child, &info, WEXITED | WNOWAIT), 0);
}

START_TEST(the_signal_is_known_until_the_parent_has_waited)
{
	end_child(SIGKILL);
	ck_assert_int_eq(exit_signal_of(child, start, -1), SIGKILL);
	ck_assert_int_eq(exit_signal_of(child, start, pidfd), SIGKILL);
	/* It is not this one's end. */
	ck_assert_int_eq(exit_signal_of(child, start + 1, -1), 0);
	waitpid(child, NULL, 0);
	ck_assert_int_eq(exit_signal_of(child, start, -1), 0);
}
END_TEST

START_TEST(a_descriptor_knows_it_afterwards_or_nobody_does)
{
	int sig;

	end_child(SIGSEGV);
	waitpid(child, NULL, 0);
	sig = exit_signal_of(child, start, pidfd);
	if (!sig)
		puts("Linux before 6.15: nothing is known afterwards");
	else
		ck_assert_int_eq(sig, SIGSEGV);
	close(pidfd);
}
END_TEST

START_TEST(an_exit_is_no_signal)
{
	pid_t pid = fork();
	siginfo_t info;
	uint32_t parent;
	int fd;

	ck_assert_int_ge(pid, 0);
	if (!pid)
		_exit(9);
	ck_assert_int_eq(waitid(P_PID, pid, &info, WEXITED | WNOWAIT), 0);
	fd = exit_signal_open(pid);
	ck_assert_int_eq(
		exit_signal_of(pid, host_process_start(pid, &parent), fd), 0);
	waitpid(pid, NULL, 0);
	ck_assert_int_eq(exit_signal_of(pid, 1, fd), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("exit_signal");
	TCase *c = tcase_create("exit_signal");

	tcase_add_test(c, the_signal_is_known_until_the_parent_has_waited);
	tcase_add_test(c, a_descriptor_knows_it_afterwards_or_nobody_does);
	tcase_add_test(c, an_exit_is_no_signal);
	suite_add_tcase(s, c);
	return run_suite(s);
}
