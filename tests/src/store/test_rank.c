/* SPDX-License-Identifier: MIT */
/*
 * test_rank - ranks by what launchers put in the environment of a process
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "src/store/rank.h"
#include "tests/run_suite.h"

#define NONE INT64_C(-1)

/*
 * The rank of a process with this environment, and of how many. The process
 * echoes a byte first: before that the kernel may not show its environment.
 */
static int64_t rank_with(char *const *environment, uint32_t *ranks)
{
	char *const argv[] = { "cat", NULL };
	uint32_t rank = 0;
	int to[2], from[2];
	pid_t child;
	bool found;
	char byte = 'x';

	ck_assert(!pipe(to) && !pipe(from));
	child = fork();
	if (!child) {
		dup2(to[0], STDIN_FILENO);
		dup2(from[1], STDOUT_FILENO);
		execve("/bin/cat", argv, environment);
		_exit(1);
	}
	close(to[0]);
	close(from[1]);
	ck_assert_int_eq(write(to[1], &byte, 1), 1);
	ck_assert_int_eq(read(from[0], &byte, 1), 1);
	found = rank_of(child, &rank, ranks);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	close(to[1]);
	close(from[0]);
	return found ? (int64_t)rank : NONE;
}

START_TEST(launchers_say_the_rank)
{
	static char big[100000];
	static const struct {
		char *environment[4];
		int64_t rank;
		uint32_t ranks;
	} rows[] = {
		{ { "OMPI_COMM_WORLD_SIZE=4", "OMPI_COMM_WORLD_RANK=3" },
		  3,
		  4 },
		{ { "PMI_RANK=0", "A=1" }, 0, 0 },
		{ { "SLURM_PROCID=2", "SLURM_STEP_NUM_TASKS=8" }, 2, 8 },
		{ { big, "PMI_RANK=5", big }, 5, 0 },
		{ { "OMPI_COMM_WORLD_RANK=1", "SLURM_PROCID=0",
		    "SLURM_STEP_NUM_TASKS=1" },
		  1,
		  0 },
		{ { "SLURM_PROCID=0" }, NONE, 0 }, /* of a batch script */
		{ { "PMI_RANK=" }, NONE, 0 },
		{ { "PMI_RANK=-1" }, NONE, 0 },
		{ { "PMI_RANK=1x" }, NONE, 0 },
		{ { "PMI_RANK=999999999" }, NONE, 0 },
		{ { "XPMI_RANK=1", "PMI_RANKS=1" }, NONE, 0 },
		{ { NULL }, NONE, 0 },
	};
	uint32_t ranks = 0;

	memset(big, 'x', sizeof(big) - 1);
	memcpy(big, "BIG=", 4);
	ck_assert_int_eq(rank_with((char *const *)rows[_i].environment, &ranks),
			 rows[_i].rank);
	ck_assert_uint_eq(ranks, rows[_i].ranks);
}
END_TEST

START_TEST(a_process_that_has_ended_has_no_rank)
{
	uint32_t rank, ranks;

	ck_assert(!rank_of(0x7ffffff0, &rank, &ranks));
}
END_TEST

START_TEST(directories_are_named_by_ranks)
{
	char top[] = "/tmp/test-rank-XXXXXX", out[64], path[128], small[20];
	struct stat st;

	ck_assert_ptr_nonnull(mkdtemp(top));
	snprintf(out, sizeof(out), "%s/out", top);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(rank_directory(out, 12, path, sizeof(path)),
				 0);
		ck_assert_str_eq(path + strlen(out), "/rank.12");
	}
	ck_assert_int_eq(stat(out, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	ck_assert_int_lt(rank_directory(out, 12, small, sizeof(small)), 0);
	ck_assert_int_lt(rank_directory("/no/such/dir", 0, path, sizeof(path)),
			 0);
	ck_assert_int_eq(rmdir(out), 0);
	ck_assert_int_eq(rmdir(top), 0);
	ck_assert_int_eq(rank_of_name("rank.0"), 0);
	ck_assert_int_eq(rank_of_name("rank.12"), 12);
	ck_assert_int_eq(rank_of_name("rank.12.old"), -1);
	ck_assert_int_eq(rank_of_name("rank."), -1);
	ck_assert_int_eq(rank_of_name("rank.-1"), -1);
	ck_assert_int_eq(rank_of_name("out"), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rank");
	TCase *c = tcase_create("rank");

	tcase_set_timeout(c, 60);
	tcase_add_loop_test(c, launchers_say_the_rank, 0, 12);
	tcase_add_test(c, a_process_that_has_ended_has_no_rank);
	tcase_add_test(c, directories_are_named_by_ranks);
	suite_add_tcase(s, c);
	return run_suite(s);
}
