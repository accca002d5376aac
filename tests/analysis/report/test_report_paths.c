/* SPDX-License-Identifier: MIT */
/*
 * test_report_paths - what the report makes of call paths, sound or damaged
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_fixture.h"
#include "tests/run_suite.h"

enum {
	DEEP = 2000, /* more calls than a report reads */
	DEEP_SHOWN = 512,
};

static struct store_writer paths;

static void begin_paths(void)
{
	begin(CDP_MODE_REUSE);
	paths = (struct store_writer){ .section = CDP_PATHS };
	fake_thread(&fake, "main");
	fake_map(&fake, 0x1000, 0x2000, 0, 5, "/bin/fake");
}

static void put_node(uint32_t node, uint32_t parent, uint64_t ip,
		     uint32_t flags)
{
	struct cdp_path *r = store_record(&fake.store, &paths);

	ck_assert_ptr_nonnull(r);
	*r = (struct cdp_path){
		.node = node,
		.parent = parent,
		.ip = ip,
		.flags = flags,
	};
	store_commit(&paths);
}

/* Add @n uses at 0x1000 that are reused at 0x1001, by these paths. */
static void uses_by(uint64_t time, uint32_t use_path, uint32_t end_path, int n)
{
	struct reuse_event v = {
		.outcome = REUSE_REUSED,
		.use = { .ip = 0x1000, .flags = ACCESS_STORE },
		.end = { .ip = 0x1001, .flags = ACCESS_LOAD },
		.time = time,
		.weight = 1,
		.pairing = REUSE_RAW,
		.temporal = true,
		.use_path = use_path,
		.end_path = end_path,
	};

	while (n--)
		ck_assert_int_eq(reuse_tally_add(&fake.store, &tally,
						 REUSE_PRIVATE, REUSE_ADDRESS,
						 &v, 1),
				 0);
}

/* The paths of the only pair. */
static json_t *paths_in(json_t *report)
{
	json_t *pairs = at(stream(report, "private", "address", -1), "pairs");

	ck_assert_uint_eq(json_array_size(pairs), 1);
	return at(pairs, "0.paths");
}

/* 1 and 2 are two callers of the store at 3 and 4; 5 is the load. */
static void put_callers(void)
{
	put_node(1, 0, 0x1100, 0);
	put_node(2, 0, 0x1200, CDP_PATH_RECURS);
	put_node(3, 1, 0x1000, 0);
	put_node(4, 2, 0x1000, 0);
	put_node(5, 1, 0x1001, 0);
}

START_TEST(a_pair_has_the_paths_that_led_to_it_and_their_weights)
{
	json_t *report, *p;

	begin_paths();
	put_callers();
	uses_by(100, 3, 5, 10);
	uses_by(400, 4, 5, 30);
	report = end();
	p = paths_in(report);
	ck_assert_uint_eq(json_array_size(p), 2);
	ck_assert_double_eq(real_at(p, "0.weight"), 30 * PERIOD);
	ck_assert_double_eq(real_at(p, "0.mean"), 400);
	ck_assert_double_eq(real_at(p, "1.weight"), 10 * PERIOD);
	ck_assert_double_eq(real_at(p, "1.mean"), 100);
	ck_assert_uint_eq(json_array_size(at(p, "0.use")), 2);
	ck_assert_str_eq(text_at(p, "0.use.0.offset"), "0x0");
	ck_assert_str_eq(text_at(p, "0.use.1.offset"), "0x200");
	ck_assert_str_eq(text_at(p, "0.use.1.module"), "/bin/fake");
	ck_assert_str_eq(text_at(p, "0.reuse.0.offset"), "0x1");
	ck_assert_str_eq(text_at(p, "0.reuse.1.offset"), "0x100");
	/* The function at 0x1200 calls itself further in. */
	ck_assert(json_is_true(at(p, "0.use.0.recursive")));
	ck_assert_ptr_null(json_object_get(at(p, "0.use.1"), "recursive"));
	ck_assert_ptr_null(json_object_get(at(p, "1.use.0"), "recursive"));
	json_decref(report);
}
END_TEST

START_TEST(without_paths_a_pair_says_nothing_of_them)
{
	json_t *report;

	begin_paths();
	uses_by(100, 0, 0, 10);
	report = end();
	ck_assert_ptr_null(json_object_get(
		at(stream(report, "private", "address", -1), "pairs.0"),
		"paths"));
	json_decref(report);
}
END_TEST

/* Equal paths of several threads are one. */
START_TEST(paths_of_several_threads_are_one)
{
	struct cdp_reuse r = {
		.kind = CDP_REUSE_PATHS,
		.outcome = REUSE_REUSED,
		.pairing = REUSE_RAW,
		.thread = 1,
		.use_ip = 3,
		.end_ip = 5,
		.weight = 5,
		.offset = 500,
		.count = 5,
	};
	json_t *report, *p;

	begin_paths();
	fake_thread(&fake, "other");
	put_callers();
	uses_by(100, 3, 5, 10);
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	report = end();
	p = paths_in(report);
	ck_assert_uint_eq(json_array_size(p), 1);
	ck_assert_double_eq(real_at(p, "0.weight"), 15 * PERIOD);
	json_decref(report);
}
END_TEST

START_TEST(a_path_that_is_not_there_is_left_out)
{
	json_t *report;

	begin_paths();
	put_callers();
	uses_by(100, 3, 5, 10);
	uses_by(100, 3, 77, 10);
	report = end();
	ck_assert_uint_eq(json_array_size(paths_in(report)), 1);
	json_decref(report);
}
END_TEST

/* When a disk is full, the record of the pair may be missing. */
START_TEST(paths_without_their_pair_are_left_out)
{
	struct cdp_reuse r = {
		.kind = CDP_REUSE_PATHS,
		.outcome = REUSE_REUSED,
		.pairing = REUSE_RAW,
		.use_ip = 3,
		.end_ip = 5,
		.weight = 5,
		.offset = 500,
		.count = 5,
	};
	json_t *report;

	begin_paths();
	put_callers();
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	r.kind = CDP_REUSE_BIN;
	r.use_ip = r.end_ip = 0;
	ck_assert_int_eq(reuse_tally_put(&fake.store, &tally, &r), 0);
	report = end();
	ck_assert_uint_eq(
		json_array_size(
			at(stream(report, "private", "address", -1), "pairs")),
		0);
	json_decref(report);
}
END_TEST

START_TEST(a_parent_that_is_not_there_ends_the_path)
{
	json_t *report;

	begin_paths();
	put_node(40, 39, 0x1000, 0);
	put_node(41, 40, 0x1001, 0);
	uses_by(100, 40, 41, 10);
	report = end();
	ck_assert_uint_eq(json_array_size(at(paths_in(report), "0.use")), 1);
	ck_assert_uint_eq(json_array_size(at(paths_in(report), "0.reuse")), 2);
	json_decref(report);
}
END_TEST

/* The reader drops nodes whose parent does not come before them. */
START_TEST(a_path_that_leads_to_itself_is_none)
{
	json_t *report;

	begin_paths();
	put_callers();
	put_node(6, 7, 0x1000, 0);
	put_node(7, 6, 0x1000, 0);
	put_node(8, 8, 0x1000, 0);
	uses_by(100, 3, 5, 10);
	uses_by(100, 6, 5, 10);
	uses_by(100, 8, 5, 10);
	report = end();
	ck_assert_uint_eq(json_array_size(paths_in(report)), 1);
	json_decref(report);
}
END_TEST

START_TEST(a_node_that_comes_twice_is_one_of_the_two)
{
	json_t *report;

	begin_paths();
	put_callers();
	put_node(3, 2, 0x1000, 0);
	uses_by(100, 3, 5, 10);
	report = end();
	ck_assert_uint_eq(json_array_size(paths_in(report)), 1);
	ck_assert_uint_eq(json_array_size(at(paths_in(report), "0.use")), 2);
	json_decref(report);
}
END_TEST

START_TEST(a_path_without_end_is_cut)
{
	json_t *report, *use;

	begin_paths();
	for (uint32_t i = 1; i < DEEP; i++)
		put_node(i, i - 1, 0x1100, 0);
	put_node(DEEP, DEEP - 1, 0x1000, 0);
	put_node(DEEP + 1, 0, 0x1001, 0);
	uses_by(100, DEEP, DEEP + 1, 10);
	report = end();
	use = at(paths_in(report), "0.use");
	ck_assert_uint_eq(json_array_size(use), DEEP_SHOWN);
	ck_assert_str_eq(text_at(use, "0.offset"), "0x0");
	json_decref(report);
}
END_TEST

START_TEST(the_text_has_share_and_mean_of_each_way)
{
	struct verb v;

	begin_paths();
	put_callers();
	uses_by(100, 3, 5, 10);
	uses_by(400, 4, 5, 30);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_null(strstr(v.out, "other ways"));
	ASSERT_SAYS(v.out, "75 % 400 fake+0x0 < fake+0x200 then fake+0x1 < "
			   "fake+0x100 25 % 100 fake+0x0 < fake+0x100 then "
			   "fake+0x1 < fake+0x100");
	verb_free(&v);
}
END_TEST

/*
 * A path that found no room, or is not in the file, still belongs to the pair.
 */
START_TEST(uses_without_paths_are_other_ways)
{
	struct verb v;

	begin_paths();
	put_callers();
	uses_by(100, 3, 5, 30);
	uses_by(100, 0, 0, 10);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "75 % 100 fake+0x0 < fake+0x100 then fake+0x1 < "
			   "fake+0x100 25 % other ways");
	verb_free(&v);
}
END_TEST

START_TEST(the_text_has_paths_in_lines_of_80_columns)
{
	struct verb v;
	int lines = 0;
	char *rest;

	begin_paths();
	for (uint32_t i = 1; i < DEEP; i++)
		put_node(i, i - 1, 0x1100 + i % 1000, 0);
	put_node(DEEP, DEEP - 1, 0x1000, 0);
	put_node(DEEP + 1, 0, 0x1001, 0);
	uses_by(100, DEEP, DEEP + 1, 10);
	json_decref(end());
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "innermost first");
	for (char *line = v.out; (rest = strchr(line, '\n')); line = rest + 1) {
		*rest = '\0';
		if (!strstr(line, " < "))
			continue;
		ck_assert_uint_le(strlen(line), 80);
		lines++;
	}
	ck_assert_int_eq(lines, 1);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("report_paths");
	TCase *tc = tcase_create("report_paths");

	tcase_add_checked_fixture(tc, sandbox_setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc,
		       a_pair_has_the_paths_that_led_to_it_and_their_weights);
	tcase_add_test(tc, without_paths_a_pair_says_nothing_of_them);
	tcase_add_test(tc, paths_of_several_threads_are_one);
	tcase_add_test(tc, a_path_that_is_not_there_is_left_out);
	tcase_add_test(tc, paths_without_their_pair_are_left_out);
	tcase_add_test(tc, a_parent_that_is_not_there_ends_the_path);
	tcase_add_test(tc, a_path_that_leads_to_itself_is_none);
	tcase_add_test(tc, a_node_that_comes_twice_is_one_of_the_two);
	tcase_add_test(tc, a_path_without_end_is_cut);
	tcase_add_test(tc, the_text_has_share_and_mean_of_each_way);
	tcase_add_test(tc, uses_without_paths_are_other_ways);
	tcase_add_test(tc, the_text_has_paths_in_lines_of_80_columns);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
