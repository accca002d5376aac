/* SPDX-License-Identifier: MIT */
/*
 * test_outdir_race - runs that start at once, and runs that are killed
 */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "src/base/rng.h"
#include "outdir_hand.h"
#include "tests/run_suite.h"

enum {
	RACERS = 12,
	RACES = 15,
	KILLS = 100
};

/* Runs of @n processes at once; each reports the path it got. */
static void race(char got[][PATH_MAX], pid_t *pid, int n)
{
	int go[2], pipes[RACERS][2];

	ck_assert_int_eq(pipe(go), 0);
	for (int i = 0; i < n; i++) {
		ck_assert_int_eq(pipe(pipes[i]), 0);
		pid[i] = fork();
		ck_assert_int_ge(pid[i], 0);
		if (!pid[i]) {
			char id[16], c;
			int fd;

			snprintf(id, sizeof(id), "racer-%d", i);
			close(go[1]);
			if (read(go[0], &c, 1) != 0)
				_exit(1);
			fd = create("out", id);
			if (fd < 0 || write(pipes[i][1], path, PATH_MAX) < 0)
				_exit(1);
			close(pipes[i][1]);
			pause(); /* still running */
		}
		close(pipes[i][1]);
	}
	close(go[0]);
	close(go[1]);
	for (int i = 0; i < n; i++) {
		char *p = got[i];
		ssize_t bytes;

		while ((bytes = read(pipes[i][0], p, PATH_MAX)) > 0)
			p += bytes;
		ck_assert_int_eq(p - got[i], PATH_MAX);
		close(pipes[i][0]);
	}
}

START_TEST(runs_that_start_at_once_get_a_directory_each)
{
	static char got[RACERS][PATH_MAX];
	pid_t pid[RACERS];
	char id[16];

	for (int n = 0; n < RACES; n++) {
		run("out", "earlier");
		race(got, pid, RACERS);
		for (int i = 0; i < RACERS; i++) {
			snprintf(id, sizeof(id), "racer-%d", i);
			ck_assert_str_eq(owner(got[i]), id);
		}
		/* None was lost: it is there, or a racer's old. */
		ck_assert_int_eq(entries(".", "out"), RACERS + 1);
		ck_assert_int_eq(entries(".", ".comdet-"), 0);
		ck_assert(!strcmp(owner("out.old"), "earlier") ||
			  !strcmp(owner("out"), "earlier"));
		for (int i = 0; i < RACERS; i++) {
			kill(pid[i], SIGKILL);
			waitpid(pid[i], NULL, 0);
		}
		nftw(".", sandbox_remove, 16, FTW_DEPTH | FTW_PHYS);
	}
}
END_TEST

START_TEST(a_crash_leaves_no_directory_without_its_marker)
{
	struct rng rng;
	int whole = 0;

	rng_seed(&rng, 6, 0);
	for (int n = 0; n < KILLS; n++) {
		struct timespec t = { 0, 0 };
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		for (int i = 0; !pid; i++) {
			char id[16];

			snprintf(id, sizeof(id), "run-%d", i);
			run("out", id);
		}
		t.tv_nsec = rng_below(&rng, 3000000);
		nanosleep(&t, NULL);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		if (there("out")) {
			ck_assert_str_ne(owner("out"), "");
			whole++;
		}
		if (there("out.old"))
			ck_assert_str_ne(owner("out.old"), "");
	}
	ck_assert_int_gt(whole, KILLS / 2);
	/* Whatever was left, the next run gets the name itself. */
	run("out", "last");
	ck_assert_str_eq(owner("out"), "last");
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outdir_race");
	TCase *tc = tcase_create("outdir_race");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, runs_that_start_at_once_get_a_directory_each);
	tcase_add_test(tc, a_crash_leaves_no_directory_without_its_marker);
	return run_suite(suite);
}
