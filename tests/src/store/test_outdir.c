/* SPDX-License-Identifier: MIT */
/*
 * test_outdir - which directory a run gets, and which are never touched
 */
#include <sys/resource.h>

#include "outdir_hand.h"
#include "tests/run_suite.h"

START_TEST(a_new_directory_is_private_marked_and_absolute)
{
	char text[64] = { 0 }, expected[PATH_MAX];
	struct stat st;
	int fd, marker;

	umask(_i ? 0777 : 0);
	fd = create("out", "run-1");
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	snprintf(expected, sizeof(expected), "%s/out", sandbox);
	ck_assert_str_eq(path, expected);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_mode, S_IFDIR | 0700);
	ck_assert_int_eq(fstatat(fd, OUTDIR_MARKER, &st, 0), 0);
	ck_assert_uint_eq(st.st_mode, S_IFREG | 0600);
	marker = openat(fd, OUTDIR_MARKER, O_RDONLY);
	ck_assert_int_gt(read(marker, text, sizeof(text) - 1), 0);
	ck_assert_str_eq(text, "comdet 1 run-1\n");
	close(marker);
	close(fd);
	ck_assert_int_eq(entries(".", ""), 1);
}
END_TEST

START_TEST(an_earlier_run_is_moved_to_old_and_later_replaced)
{
	run("out", "first");
	run("out", "second");
	ck_assert_str_eq(owner("out.old"), "first");
	ck_assert(there("out.old/a.1.1.cdp"));
	run("out", "third");
	ck_assert_str_eq(owner("out"), "third");
	ck_assert_str_eq(owner("out.old"), "second");
	ck_assert_int_eq(entries(".", ""), 2);
}
END_TEST

/* record and report put the copies beside the profiles, the plugin traces. */
START_TEST(copies_of_jit_files_and_traces_belong_to_the_run)
{
	run("out", "first");
	make_file("out/a.1.1.jitmap");
	make_file("out/a.1.1.jitdump");
	make_file("out/a.1.1.trace");
	run("out", "second");
	ck_assert(there("out.old/a.1.1.jitmap"));
	run("out", "third");
	ck_assert_str_eq(owner("out.old"), "second");
	ck_assert(!there("out.old/a.1.1.jitmap"));
	ck_assert_int_eq(entries(".", ""), 2);
}
END_TEST

START_TEST(a_name_that_is_not_ours_is_left_alone)
{
	int fd;

	switch (_i) {
	case 0: /* a directory without a marker */
		ck_assert_int_eq(mkdir("out", 0700), 0);
		break;
	case 1: /* a file */
		make_file("out");
		break;
	case 2: /* a link to nowhere */
		ck_assert_int_eq(symlink("nowhere", "out"), 0);
		break;
	case 3: /* a link to an earlier run */
		run("elsewhere", "first");
		ck_assert_int_eq(symlink("elsewhere", "out"), 0);
		break;
	case 4: /* a marker that is a link to a marker */
		run("elsewhere", "first");
		ck_assert_int_eq(mkdir("out", 0700), 0);
		ck_assert_int_eq(symlink("../elsewhere/.comdet", "out/.comdet"),
				 0);
		break;
	case 5: /* a marker that is a directory */
		ck_assert_int_eq(mkdir("out", 0700), 0);
		ck_assert_int_eq(mkdir("out/.comdet", 0700), 0);
		break;
	case 6: /* a marker that would make a reader wait */
		ck_assert_int_eq(mkdir("out", 0700), 0);
		ck_assert_int_eq(mkfifo("out/.comdet", 0600), 0);
		break;
	case 7: /* an empty marker */
		ck_assert_int_eq(mkdir("out", 0700), 0);
		make_file("out/.comdet");
		break;
	}
	fd = create("out", "second");
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_str_eq(owner("out.1"), "second");
	ck_assert(there("out"));
	ck_assert(!there("out.old"));
	ck_assert(!there("nowhere"));
	run("out", "third"); /* out.1 is taken, though ours */
	ck_assert_str_eq(owner("out.1"), "second");
	ck_assert_str_eq(owner("out.2"), "third");
}
END_TEST

START_TEST(an_old_that_holds_more_than_a_run_is_left_alone)
{
	run("out", "first");
	run("out", "second");
	switch (_i) {
	case 0:
		make_file("out.old/report.html");
		break;
	case 1:
		ck_assert_int_eq(mkdir("out.old/b.1.1.cdp", 0700), 0);
		break;
	case 2:
		ck_assert_int_eq(symlink("a", "out.old/b.1.1.cdp"), 0);
		break;
	case 3:
		ck_assert_int_eq(unlink("out.old/.comdet"), 0);
		break;
	case 4:
		make_file("out.old/.cdp");
		break;
	}
	run("out", "third");
	ck_assert_str_eq(owner("out"), "second");
	ck_assert_str_eq(owner("out.old"), _i == 3 ? "" : "first");
	ck_assert(there("out.old/a.1.1.cdp"));
	ck_assert_str_eq(owner("out.1"), "third");
	ck_assert_int_eq(entries(".", ""), 3);
}
END_TEST

START_TEST(a_run_that_goes_on_is_not_moved)
{
	struct store s;
	int fd = create("out", "first");

	ck_assert_int_ge(fd, 0);
	run("out", "second"); /* its descriptor is open */
	ck_assert_str_eq(owner("out.1"), "second");
	ck_assert_int_eq(store_create(&s, fd, "a.1.1.cdp", 8192), 0);
	close(fd);
	close(s.fd);
	run("out", "third"); /* its mapping is there */
	ck_assert_str_eq(owner("out.2"), "third");
	ck_assert_str_eq(owner("out"), "first");
	store_release(&s);
	run("out", "fourth");
	ck_assert_str_eq(owner("out"), "fourth");
	ck_assert_str_eq(owner("out.old"), "first");
}
END_TEST

START_TEST(a_run_that_goes_on_in_old_is_not_removed)
{
	struct store s;
	int fd;

	run("out", "first");
	fd = outdir_open("out", NULL);
	run("out", "second");
	ck_assert_int_eq(store_create(&s, fd, "late.cdp", 8192), 0);
	close(fd);
	run("out", "third");
	ck_assert(there("out.old/late.cdp"));
	ck_assert_str_eq(owner("out.1"), "third");
	store_release(&s);
}
END_TEST

START_TEST(wanted_may_be_written_in_many_ways)
{
	static const struct {
		const char *wanted, *made;
	} way[] = {
		{ "out", "out" },         { "out/", "out" },
		{ "out///", "out" },      { "./out", "out" },
		{ "dir/out", "dir/out" }, { "dir//out/", "dir/out" },
		{ "dir/../out", "out" },  { ".out", ".out" },
		{ "...", "..." },         { "link/out", "dir/out" },
	};
	char absolute[PATH_MAX];

	ck_assert_int_eq(mkdir("dir", 0700), 0);
	ck_assert_int_eq(symlink("dir", "link"), 0);
	run(way[_i].wanted, "first");
	ck_assert_str_eq(owner(way[_i].made), "first");
	ck_assert_str_eq(owner(path), "first");
	ck_assert_int_eq(path[0], '/');
	snprintf(absolute, sizeof(absolute), "%s/%s", sandbox, way[_i].wanted);
	run(absolute, "second");
	ck_assert_str_eq(owner(way[_i].made), "second");
	ck_assert_str_eq(owner(path), "second");
}
END_TEST

START_TEST(what_cannot_be_made_is_an_error_and_leaves_nothing)
{
	static char too_long[300];
	static const struct {
		const char *wanted, *id;
		int error;
	} wrong[] = {
		{ "none/out", "r", -ENOENT },
		{ "file/out", "r", -ENOTDIR },
		{ "", "r", -ENOENT },
		{ ".", "r", -EINVAL },
		{ "..", "r", -EINVAL },
		{ "./", "r", -EINVAL },
		{ "/", "r", -EINVAL },
		{ "//", "r", -EINVAL },
		{ "file/..", "r", -EINVAL },
		{ too_long, "r", -ENAMETOOLONG },
		{ "out", "", -EINVAL },
		{ "out", "a b", -EINVAL },
		{ "out", "a\n", -EINVAL },
		{ "out", "0123456789012345678901234567890123456789", -EINVAL },
	};

	memset(too_long, 'x', sizeof(too_long) - 1);
	make_file("file");
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		ck_assert_int_eq(create(wrong[i].wanted, wrong[i].id),
				 wrong[i].error);
	ck_assert_int_eq(entries(".", ""), 1);
	ck_assert_int_ge(
		create("out", "012345678901234567890123456789012345678"), 0);
}
END_TEST

START_TEST(a_path_that_does_not_fit_is_an_error)
{
	size_t need = strlen(sandbox) + sizeof("/out.999");

	ck_assert_int_eq(outdir_create("out", "r", path, need - 1),
			 -ENAMETOOLONG);
	ck_assert_int_eq(outdir_create("out", "r", path, 1), -ENAMETOOLONG);
	ck_assert_int_eq(entries(".", ""), 0);
	ck_assert_int_ge(outdir_create("out", "r", path, need), 0);
}
END_TEST

START_TEST(a_parent_one_may_not_write_is_an_error)
{
	int err;

	ck_assert_int_eq(mkdir("dir", 0755), 0);
	ck_assert_int_eq(chmod("dir", 0555), 0);
	ck_assert_int_eq(chmod(".", 0755), 0);
	if (geteuid() == 0)
		ck_assert_int_eq(seteuid(65534), 0);
	err = create("dir/out", "r");
	if (getuid() == 0)
		ck_assert_int_eq(seteuid(0), 0);
	ck_assert_int_eq(err, -EACCES);
	ck_assert_int_eq(chmod("dir", 0755), 0);
}
END_TEST

START_TEST(a_file_size_limit_of_nothing_is_an_error_and_no_signal)
{
	struct rlimit none = { 0, RLIM_INFINITY }, all;
	int err;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &all), 0);
	setrlimit(RLIMIT_FSIZE, &none);
	err = create("out", "r");
	setrlimit(RLIMIT_FSIZE, &all);
	ck_assert_int_eq(err, -EFBIG);
	ck_assert_int_eq(entries(".", ""), 0);
}
END_TEST

START_TEST(a_thousand_names_are_tried)
{
	char name[16] = "out";

	for (int n = 0; n < 1000; n++) {
		if (n)
			snprintf(name, sizeof(name), "out.%d", n);
		if (n != 998)
			make_file(name);
	}
	run("out", "last");
	ck_assert_str_eq(owner("out.998"), "last");
	ck_assert_int_eq(create("out", "r"), -EEXIST);
	ck_assert_int_eq(entries(".", ""), 1000);
}
END_TEST

/* Old kernels, NFS, FUSE; sandboxes. */
START_TEST(it_works_where_a_system_call_is_missing)
{
	static const struct {
		int nr, error;
	} lacking[] = {
		{ SYS_renameat2, EINVAL }, { SYS_renameat2, ENOSYS },
		{ SYS_flock, EOPNOTSUPP }, { SYS_flock, ENOSYS },
		{ SYS_getrandom, ENOSYS },
	};

	deny_call(lacking[_i].nr, lacking[_i].error);
	run("out", "first");
	run("out", "second");
	run("out", "third");
	ck_assert_str_eq(owner("out"), "third");
	ck_assert_str_eq(owner("out.old"), "second");
	ck_assert_int_eq(entries(".", ""), 2);
	ck_assert_int_eq(mkdir("dir", 0700), 0);
	run("dir", "fourth");
	ck_assert_str_eq(owner("dir.1"), "fourth");
	ck_assert_str_eq(owner("dir"), "");
}
END_TEST

START_TEST(open_tells_a_run_from_everything_else)
{
	ck_assert_int_eq(outdir_open("out", NULL), -ENOENT);
	make_file("file");
	ck_assert_int_eq(outdir_open("file", NULL), -ENOTDIR);
	ck_assert_int_eq(mkdir("dir", 0700), 0);
	ck_assert_int_eq(outdir_open("dir", NULL), -EBADMSG);
	run("out", "first");
	ck_assert_int_eq(symlink("out", "latest"), 0);
	ck_assert_str_eq(owner("latest"), "first");
	ck_assert_str_eq(owner("out/"), "first");
}
END_TEST

START_TEST(a_marker_that_says_something_else_is_none)
{
	static const char *const text[] = {
		"",
		"comdet 1 ",
		"comdet 1 \n",
		"comdet 1 a",
		"comdet 1 a b\n",
		"comdet 2 a\n",
		"comdet 1 0123456789012345678901234567890123456789\n",
	};
	int fd;

	ck_assert_int_eq(mkdir("out", 0700), 0);
	fd = open("out/.comdet", O_CREAT | O_WRONLY, 0600);
	ck_assert_int_eq(write(fd, text[_i], strlen(text[_i])),
			 strlen(text[_i]));
	close(fd);
	ck_assert_int_eq(outdir_open("out", NULL), -EBADMSG);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("outdir");
	TCase *tc = tcase_create("outdir");

	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, a_new_directory_is_private_marked_and_absolute,
			    0, 2);
	tcase_add_test(tc, an_earlier_run_is_moved_to_old_and_later_replaced);
	tcase_add_test(tc, copies_of_jit_files_and_traces_belong_to_the_run);
	tcase_add_loop_test(tc, a_name_that_is_not_ours_is_left_alone, 0, 8);
	tcase_add_loop_test(tc, an_old_that_holds_more_than_a_run_is_left_alone,
			    0, 5);
	tcase_add_test(tc, a_run_that_goes_on_is_not_moved);
	tcase_add_test(tc, a_run_that_goes_on_in_old_is_not_removed);
	tcase_add_loop_test(tc, wanted_may_be_written_in_many_ways, 0, 10);
	tcase_add_test(tc, what_cannot_be_made_is_an_error_and_leaves_nothing);
	tcase_add_test(tc, a_path_that_does_not_fit_is_an_error);
	tcase_add_test(tc, a_parent_one_may_not_write_is_an_error);
	tcase_add_test(tc,
		       a_file_size_limit_of_nothing_is_an_error_and_no_signal);
	tcase_add_test(tc, a_thousand_names_are_tried);
	tcase_add_loop_test(tc, it_works_where_a_system_call_is_missing, 0, 5);
	tcase_add_test(tc, open_tells_a_run_from_everything_else);
	tcase_add_loop_test(tc, a_marker_that_says_something_else_is_none, 0,
			    7);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
