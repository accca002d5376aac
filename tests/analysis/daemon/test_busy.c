/* SPDX-License-Identifier: MIT */
/*
 * test_busy - which processes are busy, which are wanted, and whose turn it is
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analysis/daemon/busy.h"
#include "tests/run_suite.h"

START_TEST(a_name_may_hold_anything)
{
	struct busy_process p;

	ck_assert(busy_parse("12 (a) R 1 (\n) S 7 0 0 0 0 4194304 0 0 0 0 30 "
			     "12 0 0 20 0 3 0 99 0 0 0",
			     &p));
	ck_assert_int_eq(p.pid, 12);
	ck_assert_int_eq(p.parent, 7);
	ck_assert_str_eq(p.name, "a) R 1 (\n");
	ck_assert_uint_eq(p.ticks, 42);
	ck_assert_uint_eq(p.threads, 3);
	ck_assert_uint_eq(p.start, 99);
	ck_assert(busy_parse("12 (0123456789012345678901) S 7 0 0 0 0 0 0 0 0 "
			     "0 1 1 0 0 20 0 3 0 99",
			     &p));
	ck_assert_str_eq(p.name, "012345678901234");
}
END_TEST

START_TEST(what_is_no_process_is_refused)
{
	static const char *const bad[] = {
		"",
		")(",
		"12",
		"12 (x",
		"12 (x) S",
		"x (x) S 7 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 3 0 99",
		/* a thread of the kernel, a zombie */
		"12 (x) S 2 0 0 0 0 2097152 0 0 0 0 1 1 0 0 20 0 1 0 99",
		"12 (x) Z 7 0 0 0 0 0 0 0 0 0 1 1 0 0 20 0 1 0 99",
	};
	struct busy_process p;

	ck_assert(!busy_parse(bad[_i], &p));
}
END_TEST

/* @n processes that are wanted; process i has pid 10 + i and load i. */
static struct busy machine(size_t n)
{
	struct busy b = { .process = calloc(n, sizeof(struct busy_process)),
			  .processes = n };

	ck_assert_ptr_nonnull(b.process);
	for (size_t i = 0; i < n; i++) {
		b.process[i].pid = 10 + (pid_t)i;
		b.process[i].parent = 1;
		b.process[i].threads = 2;
		b.process[i].load = (double)i;
		b.process[i].wanted = true;
	}
	return b;
}

START_TEST(all_get_their_turn_the_busiest_first)
{
	struct busy b = machine(10);
	pid_t pid[4];
	unsigned int seen[10] = { 0 };

	ck_assert_uint_eq(busy_pick(&b, 1, pid, 4, 100), 4);
	ck_assert_int_eq(pid[0], 19);
	for (uint64_t now = 2; now <= 26; now++) {
		size_t n = busy_pick(&b, 1000 * now, pid, 4, 100);

		for (size_t i = 0; i < n; i++)
			seen[pid[i] - 10]++;
	}
	for (int i = 0; i < 10; i++)
		ck_assert_uint_eq(seen[i], 10);
	busy_release(&b);
}
END_TEST

START_TEST(none_is_picked_twice_or_beyond_the_limit_of_threads)
{
	struct busy b = machine(3);
	pid_t pid[8];

	b.process[2].threads = 1000;
	ck_assert_uint_eq(busy_pick(&b, 1, pid, 8, 100), 2);
	ck_assert_int_eq(pid[0], 11);
	ck_assert_int_eq(pid[1], 10);
	b.process[0].wanted = false;
	ck_assert_uint_eq(busy_pick(&b, 1000, pid, 8, 3), 1);
	busy_release(&b);
}
END_TEST

START_TEST(relatives_are_watched_together)
{
	struct busy b = machine(10);
	pid_t pid[3];

	/* 10 is the parent of 15; 12 and 19 have one parent. */
	b.process[5].parent = 10;
	b.process[2].parent = b.process[9].parent = 5;
	ck_assert_uint_eq(busy_pick(&b, 1, pid, 3, 100), 3);
	ck_assert_int_eq(pid[0], 19);
	ck_assert_int_eq(pid[1], 12);
	for (size_t i = 0; i < b.processes; i++)
		b.process[i].watched_at = b.process[i].pid == 15 ? 1 : 2;
	ck_assert_uint_eq(busy_pick(&b, 1000, pid, 2, 100), 2);
	ck_assert_int_eq(pid[0], 15);
	ck_assert_int_eq(pid[1], 10);
	busy_release(&b);
}
END_TEST

/*
 * Spin for ever, under a name that is not quite one. It is no other process's:
 * this test may run twice at a time.
 */
static pid_t spin(char name[16])
{
	pid_t child;

	snprintf(name, 16, "%x) R \033\n(", getpid());
	child = fork();
	if (child)
		return child;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, name);
	for (;;)
		;
}

START_TEST(a_process_that_spins_is_found)
{
	struct busy b = { 0 };
	struct busy_process *p = NULL;
	char name[16], pattern[16];
	pid_t child = spin(name), pid[1];
	uint64_t now = 1000000000;

	snprintf(pattern, sizeof(pattern), "%x)*", getpid());
	b.filter.name = malloc(sizeof(char *));
	b.filter.name[0] = strdup(pattern);
	b.filter.names = 1;
	busy_scan(&b, now);
	ck_assert_uint_eq(busy_wanted(&b), 0); /* nothing to compare with */
	for (int i = 0; i < 6000 && !(p && p->wanted); i++) {
		usleep(10000);
		/* The machine may be busy: what it had counts as of 0.1 s. */
		busy_scan(&b, now += 100000000);
		p = busy_find(&b, child);
		ck_assert_ptr_nonnull(p);
	}
	ck_assert(p->wanted);
	ck_assert_str_eq(p->name, name);
	ck_assert_int_eq(p->parent, getpid());
	ck_assert_uint_eq(busy_wanted(&b), 1);
	ck_assert_uint_eq(busy_pick(&b, now, pid, 1, 100), 1);
	ck_assert_int_eq(pid[0], child);
	busy_scan(&b, now += 100000000);
	ck_assert_uint_eq(busy_find(&b, child)->watched_at, now - 100000000);
	ck_assert_ptr_null(busy_find(&b, getpid())); /* never ourselves */
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	busy_scan(&b, now + 100000000);
	ck_assert_ptr_null(busy_find(&b, child));
	busy_release(&b);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("busy");
	TCase *c = tcase_create("busy");

	tcase_set_timeout(c, 120);
	tcase_add_test(c, a_name_may_hold_anything);
	tcase_add_loop_test(c, what_is_no_process_is_refused, 0, 8);
	tcase_add_test(c, all_get_their_turn_the_busiest_first);
	tcase_add_test(c, none_is_picked_twice_or_beyond_the_limit_of_threads);
	tcase_add_test(c, relatives_are_watched_together);
	tcase_add_test(c, a_process_that_spins_is_found);
	suite_add_tcase(s, c);
	return run_suite(s);
}
