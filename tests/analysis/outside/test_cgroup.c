/* SPDX-License-Identifier: MIT */
/*
 * test_cgroup - which processes are in control groups
 */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/outside/group.h"
#include "src/store/host.h"
#include "tests/run_suite.h"

START_TEST(a_group_holds_those_below_it)
{
	const char *line = "0::/system.slice/docker-0123abcd.scope/init";

	ck_assert(cgroup_holds(line, "/system.slice"));
	ck_assert(cgroup_holds(line, "/system.slice/"));
	ck_assert(cgroup_holds(line, "/"));
	ck_assert(cgroup_holds(line, "0123abcd"));
	ck_assert(cgroup_holds("5:cpu,cpuacct:/system.slice", "/system.slice"));
	ck_assert(!cgroup_holds(line, "/system"));
	ck_assert(!cgroup_holds(line, "/docker-0123abcd.scope"));
	ck_assert(!cgroup_holds(line, "9999"));
	ck_assert(!cgroup_holds("nonsense", "/"));
	ck_assert(!cgroup_holds(line, ""));
}
END_TEST

/* The path of our own group in the hierarchy of the first line. */
static char *own_group(void)
{
	static char text[4096];
	char *path;

	ck_assert_uint_gt(
		host_read_file("/proc/self/cgroup", text, sizeof(text)), 0);
	text[strcspn(text, "\n")] = 0;
	path = strchr(strchr(text, ':') + 1, ':') + 1;
	ck_assert_int_eq(path[0], '/');
	return path;
}

static bool lists(const struct listing *l, pid_t pid)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->pid[i] == pid)
			return true;
	return false;
}

START_TEST(a_child_is_in_our_group_and_we_are_not_listed)
{
	struct cgroups g = { 0 }, other = { 0 };
	pid_t child = fork();
	struct listing l;

	if (!child) {
		pause();
		_exit(0);
	}
	cgroups_add(&other, "/no such group");
	cgroups_add(&g, "/no such group");
	cgroups_add(&g, own_group());
	ck_assert(cgroups_hold(&g, child));
	ck_assert(!cgroups_hold(&other, child));
	l = cgroups_list(&g);
	ck_assert(lists(&l, child));
	ck_assert(!lists(&l, getpid()));
	listing_release(&l);
	l = cgroups_list(&other);
	ck_assert_uint_eq(l.n, 0);
	listing_release(&l);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	ck_assert(!cgroups_hold(&g, child));
	cgroups_release(&g);
	cgroups_release(&other);
}
END_TEST

static int times_left_out(const struct group *g, pid_t pid)
{
	int times = 0;

	for (size_t i = 0; i < g->n; i++)
		times += g->left_out[i].pid == pid;
	return times;
}

/* What was left out is not tried, and not counted, again. */
START_TEST(a_process_is_left_out_once)
{
	struct group g = { 0 };
	pid_t child = fork();
	struct listing l;

	if (!child) {
		pause();
		_exit(0);
	}
	cgroups_add(&g.cgroups, own_group());
	group_leave_out(&g, child, strdup("it is ours"));
	for (int i = 0; i < 2; i++) {
		l = group_scan(&g, NULL);
		ck_assert(!lists(&l, child));
		listing_release(&l);
		ck_assert_int_eq(times_left_out(&g, child), 1);
	}
	ck_assert_str_eq(g.why, "it is ours");
	/* One that ended is forgotten. */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	l = group_scan(&g, NULL);
	listing_release(&l);
	ck_assert_int_eq(times_left_out(&g, child), 0);
	group_release(&g);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup");
	TCase *c = tcase_create("cgroup");

	tcase_set_timeout(c, 120);
	tcase_add_test(c, a_group_holds_those_below_it);
	tcase_add_test(c, a_child_is_in_our_group_and_we_are_not_listed);
	tcase_add_test(c, a_process_is_left_out_once);
	suite_add_tcase(s, c);
	return run_suite(s);
}
