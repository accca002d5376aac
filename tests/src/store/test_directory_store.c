/* SPDX-License-Identifier: MIT */
/*
 * test_directory_store - the numbers of threads, and the records of a directory
 *
 * The records are read back and compared with the directory itself.
 */
#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/store/directory_store.h"
#include "tests/src/exact/exact_hand.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

static struct exact_rows rows;
static struct store store;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	exact_rows_init(&rows);
}

START_TEST(numbers_that_nobody_has_had_go_first)
{
	for (uint32_t i = 0; i < EXACT_ROWS; i++) {
		ck_assert_int_eq(exact_rows_take(&rows, 1000 + i, i % 3), i);
		if (i % 2 == 0)
			exact_rows_give(&rows, i);
	}
	ck_assert_uint_eq(rows.used_twice, 0);
	for (uint32_t i = 0; i < EXACT_ROWS; i++)
		ck_assert_uint_eq(rows.row[i], 1000 + i);
}
END_TEST

/* All numbers are given: those of core 1 end before those of core 0. */
static void end_some(void)
{
	for (uint32_t i = 0; i < EXACT_ROWS; i++)
		exact_rows_take(&rows, i, i % 2);
	ck_assert_int_eq(exact_rows_take(&rows, 999, 0), EXACT_ROWS_NONE);
	exact_rows_give(&rows, 7);
	exact_rows_give(&rows, 3);
	exact_rows_give(&rows, 8);
	exact_rows_give(&rows, 2);
}

START_TEST(number_of_a_thread_on_the_core_is_preferred)
{
	end_some();
	ck_assert_int_eq(exact_rows_take(&rows, 200, 0), 8);
	ck_assert_int_eq(exact_rows_take(&rows, 201, 1), 7);
	ck_assert_int_eq(exact_rows_take(&rows, 202, 5), 3); /* no such core */
	ck_assert_int_eq(exact_rows_take(&rows, 203, 1), 2);
	ck_assert_int_eq(exact_rows_take(&rows, 204, 0), EXACT_ROWS_NONE);
	ck_assert_uint_eq(rows.used_twice, 4);
	ck_assert_uint_eq(rows.row[8], 200);
	ck_assert_uint_eq(rows.row[3], 202);
}
END_TEST

START_TEST(core_of_a_number_is_that_of_its_first_thread)
{
	end_some();
	ck_assert_int_eq(exact_rows_take(&rows, 200, 5), 7);
	exact_rows_give(&rows, 7);
	ck_assert_int_eq(exact_rows_take(&rows, 201, 5), 3);
	ck_assert_int_eq(exact_rows_take(&rows, 202, 1), 7);
}
END_TEST

static struct cdp_transfer record[4 * PIECES];
static size_t records;

static int copy_record(void *ctx, const void *r)
{
	memcpy(&record[records++], r, sizeof(record[0]));
	return records == sizeof(record) / sizeof(record[0]);
}

static void read_back(void)
{
	struct cdp_reader r;
	uint64_t bad = 0;

	records = 0;
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_TRANSFERS, copy_record, NULL, &bad),
			 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

static int check_line(void *ctx, const struct exact_line *line)
{
	uint64_t *lines = ctx;

	for (size_t i = 0; i < records; i++) {
		const uint64_t *v = record[i].value;

		if (record[i].kind != CDP_EXACT_LINE || v[0] != line->line)
			continue;
		ck_assert_uint_eq(v[1], line->transfers);
		ck_assert_uint_eq(v[2], line->false_sharing);
		ck_assert_uint_eq(v[3], line->stores);
		ck_assert_uint_eq(v[4], line->ownership);
		ck_assert_uint_eq(v[5], line->bytes);
		++*lines;
	}
	return 0;
}

/* Threads are known by rows of the file, here 100 more than their numbers. */
START_TEST(file_has_the_cells_and_lines_of_the_directory)
{
	struct exact_config c = config(EXACT_ROWS, NULL);
	struct exact *x = directory(&c, threads);
	uint64_t cells = 0, lines = 0, transfers = 0;

	for (uint32_t i = 0; i < EXACT_ROWS; i++)
		exact_rows_take(&rows, 100 + i, 0);
	run_stream(x, 5, 5, &stream, 3);
	exact_store(&store, &rows, x);
	read_back();
	for (size_t i = 0; i < records; i++) {
		const struct cdp_transfer *t = &record[i];
		struct exact_cell cell;

		if (t->kind != CDP_EXACT_CELL)
			continue;
		cell = exact_cell(x, t->a - 100, t->b - 100);
		ck_assert_uint_eq(t->value[0], cell.transfers);
		ck_assert_uint_eq(t->value[1], cell.false_sharing);
		transfers += cell.transfers;
		cells++;
	}
	ck_assert_uint_eq(cells, 5 * 4);
	ck_assert_uint_eq(transfers, exact_total(x).transfers);
	ck_assert_int_eq(exact_lines(x, check_line, &lines), 0);
	ck_assert_uint_ge(lines, LINES);
}
END_TEST

static int add_line(void *ctx, const struct exact_line *line)
{
	uint64_t *sum = ctx;

	sum[0] += line->transfers;
	sum[1] += line->false_sharing;
	sum[2] += line->stores;
	sum[3] += line->ownership;
	return 0;
}

/* Line i of 6,000 has i / 1,000 + 1 transfers. */
START_TEST(lines_of_most_transfers_have_records_and_the_rest_is_summed)
{
	struct exact_config c = config(2, NULL);
	uint64_t truth[4] = { 0 }, sum[4] = { 0 }, least = UINT64_MAX, rest = 0;
	uint32_t kept = 0;
	struct exact *x;

	c.regions = 256;
	x = directory(&c, threads);
	for (uint64_t i = 0; i < 6000; i++)
		for (uint64_t n = 0; n <= i / 1000; n++) {
			make(x, &threads[0], BASE + i * LINE, 8, ACCESS_STORE);
			make(x, &threads[1], BASE + i * LINE, 8, ACCESS_LOAD);
		}
	exact_store(&store, &rows, x);
	read_back();
	ck_assert_int_eq(exact_lines(x, add_line, truth), 0);
	for (size_t i = 0; i < records; i++) {
		const uint64_t *v = record[i].value;

		if (record[i].kind != CDP_EXACT_LINE)
			continue;
		for (int k = 0; k < 4; k++)
			sum[k] += v[k + 1];
		if (!v[0]) {
			rest = v[1];
			continue;
		}
		kept++;
		least = v[1] < least ? v[1] : least;
	}
	for (int k = 0; k < 4; k++)
		ck_assert_uint_eq(sum[k], truth[k]);
	/* More than 4,096 have two or more: four and more have records. */
	ck_assert_uint_eq(kept, 3000);
	ck_assert_uint_eq(least, 4);
	ck_assert_uint_eq(rest, 1000 * (1 + 2 + 3));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("exact_store");
	TCase *tc = tcase_create("exact_store");

	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, numbers_that_nobody_has_had_go_first);
	tcase_add_test(tc, number_of_a_thread_on_the_core_is_preferred);
	tcase_add_test(tc, core_of_a_number_is_that_of_its_first_thread);
	tcase_add_test(tc, file_has_the_cells_and_lines_of_the_directory);
	tcase_add_test(
		tc,
		lines_of_most_transfers_have_records_and_the_rest_is_summed);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
