/* SPDX-License-Identifier: MIT */
/*
 * test_reference - tables of another simulator's results
 */
#include <stdio.h>
#include <sys/wait.h>

#include "analysis/accuracy/reference.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

#define HEAD                                                                   \
	"kernel,threads,config,quantum_ns,predictor,other,core,instructions,"  \
	"cycles,l1d_miss,l2_miss,llc_miss,branch_mispredict\n"

static char path[128];

static void write_table(const char *text)
{
	FILE *f;

	snprintf(path, sizeof(path), "%s/table", sandbox);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	fclose(f);
}

START_TEST(the_row_with_the_smallest_quantum_is_found)
{
	const struct reference_row *row;
	struct reference r;

	write_table(HEAD "a,4,c1,100,p,x,0,10,200,1,2,3,4\n"
			 "a,4,c1,1,p,x,0,10,300,5,6,7,8\n"
			 "a,4,c1,10,p,x,0,10,400,1,2,3,4\n"
			 "a,4,c1,1,q,x,0,10,500,1,2,3,4\n"
			 "a,4,c1,1,p,x,1,10,600,1,2,3,4\n");
	reference_read(&r, path);
	ck_assert_uint_eq(r.rows, 5);
	row = reference_find(&r, "a", "c1", "p", 4, 0);
	ck_assert_double_eq(row->cycles, 300);
	ck_assert_double_eq(row->miss[2], 7);
	ck_assert_double_eq(row->mispredicted, 8);
	ck_assert_double_eq(reference_find(&r, "a", "c1", "p", 4, 1)->cycles,
			    600);
	ck_assert_ptr_null(reference_find(&r, "a", "c1", "p", 4, 2));
	ck_assert_ptr_null(reference_find(&r, "a", "c2", "p", 4, 0));
	ck_assert_ptr_null(reference_find(&r, "a", "c1", "p", 1, 0));
	reference_release(&r);
}
END_TEST

static const char *const bad[] = {
	"kernel,threads\na,1\n",
	HEAD "a,4,c1,100,p,x,0,10,200,1,2,3\n",
	HEAD "a,4,c1,100,p,x,0,10,fast,1,2,3,4\n",
	HEAD "a,4,c1,100,p,x,0,10,0,1,2,3,4\n",
	HEAD "a,4,c1,100,p,x,0,10,,1,2,3,4\n",
	"",
};

START_TEST(a_damaged_table_is_refused)
{
	struct reference r;
	int status;
	pid_t pid;

	write_table(bad[_i]);
	pid = fork();
	if (!pid) {
		ck_assert_ptr_nonnull(freopen("/dev/null", "w", stderr));
		reference_read(&r, path);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(WEXITSTATUS(status), 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reference");
	TCase *t = tcase_create("reference");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_add_test(t, the_row_with_the_smallest_quantum_is_found);
	tcase_add_loop_test(t, a_damaged_table_is_refused, 0,
			    sizeof(bad) / sizeof(*bad));
	suite_add_tcase(s, t);
	return run_suite(s);
}
