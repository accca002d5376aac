/* SPDX-License-Identifier: MIT */
/*
 * test_call_table - detections by call paths, as a reader finds them
 */
#include <errno.h>

#include "tests/sandbox.h"
#include "src/store/call_table.h"
#include "src/store/cdp_read.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

static struct store store;
static struct call_table table;
static struct cdp_memory_calls found[CALL_TABLE_MAX + 1];
static size_t records;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	memset(&table, 0, sizeof(table));
	records = 0;
}

static int take(void *ctx, const void *record)
{
	const struct cdp_memory *m = record;

	ck_assert_uint_eq(m->kind, CDP_MEMORY_CALLS);
	found[records++] = m->calls;
	return 0;
}

static void read_back(void)
{
	struct cdp_reader r;
	uint64_t bad = 0;

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_MEMORY, take, NULL, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

static struct detection detection(uint32_t publisher_path,
				  uint32_t detector_path)
{
	return (struct detection){
		.line = 0x1000,
		.publisher_thread = 1,
		.detector_thread = 2,
		.publisher_path = publisher_path,
		.detector_path = detector_path,
		.sharing = SHARING_FALSE,
		.padding = PADDING_AVOIDS,
	};
}

START_TEST(detections_that_agree_share_a_record)
{
	struct detection d = detection(5, 7);

	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.padding = PADDING_KEEPS;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.sharing = SHARING_TRUE;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d = detection(7, 5);
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.line = 0x2000;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	read_back();
	ck_assert_uint_eq(records, 4);
	ck_assert_uint_eq(found[0].count, 4);
	ck_assert_uint_eq(found[0].avoidable, 3);
	ck_assert_uint_eq(found[0].unavoidable, 1);
	ck_assert_uint_eq(found[0].publisher_path, 5);
	ck_assert_uint_eq(found[0].detector_path, 7);
	ck_assert_uint_eq(found[0].publisher_thread, 1);
	ck_assert_uint_eq(found[0].detector_thread, 2);
	ck_assert_uint_eq(found[1].sharing, SHARING_TRUE);
	ck_assert_uint_eq(found[3].line, 0x2000);
	call_table_release(&table);
}
END_TEST

START_TEST(a_detection_counts_by_its_weight)
{
	struct detection d = detection(5, 7);

	d.weight = 4;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.padding = PADDING_KEEPS;
	d.weight = 1;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.weight = 5;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	read_back();
	ck_assert_uint_eq(records, 1);
	ck_assert_uint_eq(found[0].count, 10);
	ck_assert_uint_eq(found[0].avoidable, 4);
	ck_assert_uint_eq(found[0].unavoidable, 6);
	call_table_release(&table);
}
END_TEST

START_TEST(a_detection_without_paths_is_left_out)
{
	struct detection d = detection(0, 0);

	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	d.publisher_path = 1;
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	read_back();
	ck_assert_uint_eq(records, 1);
	call_table_release(&table);
}
END_TEST

START_TEST(a_full_table_counts_on_in_the_records_that_it_has)
{
	struct detection d;

	for (uint32_t i = 1; i <= CALL_TABLE_MAX; i++) {
		d = detection(i, 1);
		ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	}
	d = detection(1, 2);
	ck_assert_int_eq(call_table_add(&store, &table, &d), -ENOSPC);
	d = detection(1, 1);
	ck_assert_int_eq(call_table_add(&store, &table, &d), 0);
	read_back();
	ck_assert_uint_eq(records, CALL_TABLE_MAX);
	ck_assert_uint_eq(found[0].count, 2);
	call_table_release(&table);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("call_table");
	TCase *c = tcase_create("call_table");

	tcase_set_timeout(c, 300);
	tcase_add_checked_fixture(c, setup, sandbox_teardown);
	tcase_add_test(c, detections_that_agree_share_a_record);
	tcase_add_test(c, a_detection_counts_by_its_weight);
	tcase_add_test(c, a_detection_without_paths_is_left_out);
	tcase_add_test(c, a_full_table_counts_on_in_the_records_that_it_has);
	suite_add_tcase(s, c);
	return run_suite(s);
}
