/* SPDX-License-Identifier: MIT */
/*
 * test_export - what export makes of profiles made by hand
 *
 * check_export.sh has the files read by the tools that they are for.
 */
#include <sqlite3.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

#define LINE UINT64_C(0x7f0000001000)

/* Two threads, 30 detections of false and 12 of true sharing. */
static const char *make(const char *name)
{
	static struct fake fake;
	static char dir[PATH_MAX];

	fake_begin(&fake);
	fake_thread(&fake, name);
	fake_thread(&fake, "b");
	fake_pair(&fake, 0, 1, LINE, LINE + 8, 30);
	fake_pair(&fake, 0, 1, LINE + 64, LINE + 64, 12);
	fake_end(&fake);
	snprintf(dir, sizeof(dir), "%s", fake.dir);
	return dir;
}

static const char *in_sandbox(const char *name)
{
	static char path[4][PATH_MAX];
	static int next;
	char *p = path[next++ % 4];

	snprintf(p, PATH_MAX, "%s/%s", sandbox, name);
	return p;
}

START_TEST(a_table_has_the_names_and_values_of_the_json)
{
	struct verb v = VERB(cmd_export, "export", "-t", "communication_cells",
			     make("a"));

	ck_assert_int_eq(v.status, 0);
	ck_assert_int_eq(strncmp(v.out, "row,a,b,all,true,false,", 23), 0);
	ck_assert_ptr_nonnull(strstr(v.out, "\n0,0,1,42,12,30,"));
	ck_assert_int_eq(verb_lines(v.out), 2);
	verb_free(&v);
}
END_TEST

START_TEST(inner_tables_name_the_row_that_they_belong_to)
{
	struct verb v = VERB(cmd_export, "export", "-t",
			     "communication_lines_bytes", make("a"));

	ck_assert_int_eq(
		strncmp(v.out, "row,communication_lines_row,thread,", 35), 0);
	ck_assert_ptr_nonnull(strstr(v.out, "\n2,1,"));
	ck_assert_int_eq(verb_lines(v.out), 5);
	verb_free(&v);
}
END_TEST

START_TEST(foreign_text_cannot_leave_its_field)
{
	struct verb v = VERB(cmd_export, "export", "-t", "threads",
			     make("x\",\033[2J\n1"));

	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_null(strchr(v.out, '\033'));
	ASSERT_SAYS(v.out, "\"x\"\",\\x1b[2J");
	verb_free(&v);
}
END_TEST

START_TEST(all_tables_go_into_a_directory)
{
	struct verb v =
		VERB(cmd_export, "export", "-o", in_sandbox("csv"), make("a"));
	struct verb list;

	ck_assert_msg(v.status == 0, "%s", v.err);
	list = VERB(cmd_export, "export", "--list", in_sandbox("out"));
	for (char *line = strchr(list.out, '\n') + 1; *line;
	     line = strchr(line, '\n') + 1) {
		char name[64], file[96];

		ck_assert_int_eq(sscanf(line, "%63s", name), 1);
		snprintf(file, sizeof(file), "csv/%s.csv", name);
		ck_assert_msg(!faccessat(sandbox_fd, file, R_OK, 0), "%s",
			      file);
	}
	verb_free(&list);
	verb_free(&v);
}
END_TEST

static int64_t query(const char *path, const char *sql)
{
	sqlite3_stmt *s;
	sqlite3 *db;
	int64_t n;

	ck_assert_int_eq(sqlite3_open(path, &db), SQLITE_OK);
	ck_assert_int_eq(sqlite3_prepare_v2(db, sql, -1, &s, NULL), SQLITE_OK);
	ck_assert_int_eq(sqlite3_step(s), SQLITE_ROW);
	n = sqlite3_column_int64(s, 0);
	sqlite3_finalize(s);
	sqlite3_close(db);
	return n;
}

START_TEST(a_database_has_all_rows_and_is_not_overwritten)
{
	const char *db = in_sandbox("x.db");
	struct verb v =
		VERB(cmd_export, "export", "-f", "sqlite", "-o", db, make("a"));

	ck_assert_msg(v.status == 0, "%s", v.err);
	ck_assert_int_eq(query(db, "SELECT sum(\"all\") FROM "
				   "communication_cells"),
			 42);
	ck_assert_int_eq(query(db, "SELECT count(*) FROM threads"), 2);
	verb_free(&v);
	v = VERB(cmd_export, "export", "-f", "sqlite", "-o", db,
		 in_sandbox("out"));
	ck_assert_int_eq(v.status, 1);
	ASSERT_SAYS(v.err, "exists; a database is not overwritten");
	verb_free(&v);
	v = VERB(cmd_export, "export", "-f", "sqlite", "-o",
		 in_sandbox("none/x.db"), in_sandbox("out"));
	ck_assert_int_eq(v.status, 1);
	ck_assert_int_eq(verb_lines(v.err), 1);
	verb_free(&v);
}
END_TEST

START_TEST(each_detection_is_in_one_stack)
{
	struct verb v =
		VERB(cmd_export, "export", "-f", "collapsed", make("a"));
	uint64_t sum = 0;

	for (const char *line = v.out; *line; line = strchr(line, '\n') + 1) {
		const char *end = strchr(line, '\n');
		const char *number = memrchr(line, ' ', end - line);

		sum += strtoull(number, NULL, 10);
	}
	ck_assert_uint_eq(sum, 42);
	ASSERT_SAYS(v.out, "fake;false sharing;");
	verb_free(&v);
	v = VERB(cmd_export, "export", "-f", "speedscope", in_sandbox("out"));
	ASSERT_SAYS(v.out, "\"endValue\": 42");
	verb_free(&v);
	v = VERB(cmd_export, "export", "-f", "pprof", "-o", in_sandbox("p.pb"),
		 in_sandbox("out"));
	ck_assert_msg(v.status == 0, "%s", v.err);
	verb_free(&v);
}
END_TEST

START_TEST(what_cannot_be_done_is_one_line)
{
	const char *dir = make("a");
	struct {
		struct verb v;
		const char *says;
	} t[] = {
		{ VERB(cmd_export, "export", dir), "give -o DIR" },
		{ VERB(cmd_export, "export", "-t", "nothing", dir),
		  "there is no table 'nothing'" },
		{ VERB(cmd_export, "export", "-f", "xml", dir),
		  "--format is csv" },
		{ VERB(cmd_export, "export", "-f", "sqlite", dir),
		  "needs a name" },
		{ VERB(cmd_export, "export", "-f", "pprof", "-t", "threads",
		       dir),
		  "go with --format csv" },
		{ VERB(cmd_export, "export", "-t", "threads", "-o",
		       in_sandbox("none/x"), dir),
		  "cannot write" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		ck_assert_int_eq(t[i].v.status, 1);
		ck_assert_int_eq(verb_lines(t[i].v.err), 1);
		ASSERT_SAYS(t[i].v.err, t[i].says);
		verb_free(&t[i].v);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("export");
	TCase *t = tcase_create("export");

	tcase_add_checked_fixture(t, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(t, a_table_has_the_names_and_values_of_the_json);
	tcase_add_test(t, inner_tables_name_the_row_that_they_belong_to);
	tcase_add_test(t, foreign_text_cannot_leave_its_field);
	tcase_add_test(t, all_tables_go_into_a_directory);
	tcase_add_test(t, a_database_has_all_rows_and_is_not_overwritten);
	tcase_add_test(t, each_detection_is_in_one_stack);
	tcase_add_test(t, what_cannot_be_done_is_one_line);
	suite_add_tcase(s, t);
	return run_suite(s);
}
