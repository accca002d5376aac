/* SPDX-License-Identifier: MIT */
/*
 * test_report_regions - a row for each region, whatever the file says of it
 */
#include <stdint.h>
#include <string.h>

#include "tests/fake/fake_profile.h"
#include "tests/run_verb.h"
#include "tests/run_suite.h"

static struct fake fake;
static struct store_writer regions;

static void begin(void)
{
	fake_begin(&fake);
	regions = (struct store_writer){ .section = CDP_MEMORY };
	fake_thread(&fake, "main"); /* 480 uniform samples and 470 stalled */
	fake_thread(&fake, "other");
	fake_pair(&fake, 0, 1, 0x1000, 0x1008, 10);
	fake_pair(&fake, 1, 0, 0x2000, 0x2000, 7)->avoidable = 0;
}

static struct cdp_memory_region *region(const char *name)
{
	struct cdp_memory *m = store_record(&fake.store, &regions);

	ck_assert_ptr_nonnull(m);
	m->kind = CDP_MEMORY_REGION;
	ck_assert_uint_lt(strlen(name), sizeof(m->region.name));
	strcpy(m->region.name, name);
	store_commit(&regions);
	return &m->region;
}

static int value(json_t *j, int row, const char *name)
{
	char path[80];

	snprintf(path, sizeof(path), "regions.%d.%s", row, name);
	return (int)int_at(j, path);
}

static const char *name_of(json_t *j, int row)
{
	json_t *r = json_array_get(at(j, "regions"), row);

	return json_string_value(json_object_get(r, "name"));
}

START_TEST(rows_and_what_is_in_no_region_add_up_to_the_run)
{
	struct cdp_memory_region *g;
	json_t *j;

	begin();
	g = region("few");
	g->samples[SAMPLE_UNIFORM] = 60;
	g = region("many");
	g->samples[SAMPLE_UNIFORM] = 100;
	g->samples[SAMPLE_STALLED] = 30;
	g->detections[SHARING_FALSE] = 4;
	g->detections[SHARING_TRUE] = 5;
	g->avoidable = 3;
	g->unavoidable = 1;
	g = region("many"); /* two records of a name are one region */
	g->samples[SAMPLE_UNIFORM] = 11;
	g->detections[SHARING_FALSE] = 1;
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "regions")), 3);
	ck_assert_str_eq(name_of(j, 0), "many");
	ck_assert_int_eq(value(j, 0, "samples.uniform"), 111);
	ck_assert_int_eq(value(j, 0, "samples.stalled"), 30);
	ck_assert_int_eq(value(j, 0, "detections"), 10);
	ck_assert_int_eq(value(j, 0, "false"), 5);
	ck_assert_int_eq(value(j, 0, "true"), 5);
	ck_assert_int_eq(value(j, 0, "judged"), 4);
	ck_assert_int_eq(value(j, 0, "avoidable"), 3);
	ck_assert_str_eq(name_of(j, 1), "few");
	ck_assert_ptr_null(name_of(j, 2));
	ck_assert_int_eq(value(j, 2, "samples.uniform"), 960 - 171);
	ck_assert_int_eq(value(j, 2, "samples.stalled"), 940 - 30);
	ck_assert_int_eq(value(j, 2, "false"), 10 - 5);
	ck_assert_int_eq(value(j, 2, "true"), 7 - 5);
	json_decref(j);
}
END_TEST

START_TEST(the_text_has_a_table_only_if_there_are_regions)
{
	struct verb v;

	begin();
	region("sort")->samples[SAMPLE_UNIFORM] = 19;
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ASSERT_SAYS(v.out, "Regions (that the program names)");
	ASSERT_SAYS(v.out, "19 1.0 % 0 0 0 - sort");
	ASSERT_SAYS(v.out, "(in no region)");
	verb_free(&v);
	/* Regions are not known by thread. */
	v = VERB(cmd_report, "report", "--thread", "1", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_null(strstr(v.out, "Regions"));
	verb_free(&v);
}
END_TEST

START_TEST(without_regions_there_is_no_table)
{
	struct verb v;
	json_t *j;

	begin();
	fake_end(&fake);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_ptr_null(strstr(v.out, "egions (that"));
	verb_free(&v);
	j = report_of(fake.dir);
	ck_assert_ptr_null(json_object_get(j, "regions"));
	json_decref(j);
}
END_TEST

START_TEST(names_come_out_escaped_and_cut)
{
	struct verb v;
	json_t *j;

	begin();
	region("\x1b[31m\n<script>\xff\"")->samples[SAMPLE_UNIFORM] = 2;
	region("a name that is much longer than its column is")
		->samples[SAMPLE_UNIFORM] = 1;
	fake_end(&fake);
	v = VERB(cmd_report, "report", "--color", "never", fake.dir);
	ck_assert_int_eq(v.status, 0);
	ck_assert_ptr_null(strchr(v.out, '\x1b'));
	ck_assert_ptr_null(strchr(v.out, '\xff'));
	ASSERT_SAYS(v.out, "[31m");
	ASSERT_SAYS(v.out, "a name that is much");
	ck_assert_ptr_null(strstr(v.out, "column is"));
	verb_free(&v);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "regions")), 3);
	json_decref(j);
}
END_TEST

/* Records that no writer makes: each is left out, or its counts saturate. */
START_TEST(damaged_records_do_no_harm)
{
	struct cdp_memory_region *g;
	struct verb v;
	json_t *j;

	begin();
	g = region("huge");
	memset(g->samples, 0xff, sizeof(g->samples));
	memset(g->detections, 0xff, sizeof(g->detections));
	g->avoidable = UINT64_MAX;
	g->unavoidable = UINT64_MAX;
	g = region("huge");
	memset(g->samples, 0xff, sizeof(g->samples));
	g = region("more judged than there are");
	g->detections[SHARING_TRUE] = 1;
	g->avoidable = 5;
	region(""); /* no name */
	memset(region("endless")->name, 'x', CDP_REGION_NAME_BYTES);
	fake_end(&fake);
	j = report_of(fake.dir);
	ck_assert_uint_eq(json_array_size(at(j, "regions")), 3);
	ck_assert_str_eq(name_of(j, 1), "more judged than there are");
	ck_assert_int_eq(value(j, 1, "judged"), 0);
	ck_assert_int_eq(value(j, 2, "samples.uniform"), 0);
	json_decref(j);
	v = VERB(cmd_report, "report", fake.dir);
	ck_assert_int_eq(v.status, 0);
	verb_free(&v);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_regions");
	TCase *c = tcase_create("report_regions");

	tcase_set_timeout(c, 120);
	tcase_add_checked_fixture(c, sandbox_setup, sandbox_teardown);
	tcase_add_test(c, rows_and_what_is_in_no_region_add_up_to_the_run);
	tcase_add_test(c, the_text_has_a_table_only_if_there_are_regions);
	tcase_add_test(c, without_regions_there_is_no_table);
	tcase_add_test(c, names_come_out_escaped_and_cut);
	tcase_add_test(c, damaged_records_do_no_harm);
	suite_add_tcase(s, c);
	return run_suite(s);
}
