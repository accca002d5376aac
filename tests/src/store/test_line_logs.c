/* SPDX-License-Identifier: MIT */
/*
 * test_line_logs - lines that are logged where transfers were found
 */
#include <string.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/store/line_logs.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"
#define BASE UINT64_C(0x40000)

enum {
	LINE = 64,
	TURNS = 1000
};

static struct store store;
static struct store_writer writer;
static struct line_logs *logs;
static struct cdp_transfer record[64];
static size_t records;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	writer = (struct store_writer){ .section = CDP_TRANSFERS };
	logs = line_logs_init(calloc(1, line_logs_size()));
}

/* The estimator found @n transfers of @line, all false, of weight 100. */
static struct line_logs_order found(uint64_t line, uint32_t n)
{
	struct transfer_event event[8];
	struct transfer_chain c = { .line = line, .n = n, .event = event };

	for (uint32_t i = 0; i < n; i++)
		event[i] = (struct transfer_event){ .weight = 100,
						    .weight_false = 100 };
	return line_logs_found(logs, &c);
}

static bool touch(uint32_t slot, uint32_t thread, uint64_t addr, uint32_t flags)
{
	struct access a = { .addr = addr, .len = 8, .flags = flags };

	return line_logs_access(logs, slot, thread, &a);
}

static int copy_record(void *ctx, const void *r)
{
	memcpy(&record[records++], r, sizeof(record[0]));
	return records == sizeof(record) / sizeof(record[0]);
}

static void write_and_read_back(void)
{
	struct cdp_reader r;
	uint64_t bad = 0;

	line_logs_store(logs, &store, &writer);
	records = 0;
	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_TRANSFERS, copy_record, NULL, &bad),
			 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

static const struct cdp_transfer *record_of(uint64_t line)
{
	for (size_t i = 0; i < records; i++)
		if (record[i].kind == CDP_AVOIDABLE_LINE &&
		    record[i].value[0] == line)
			return &record[i];
	return NULL;
}

static double number(const struct cdp_transfer *t, int i)
{
	double x;

	memcpy(&x, &t->value[i], sizeof(x));
	return x;
}

/* Make turns of two threads on two words until the watch ends. */
static void use(uint32_t slot, uint64_t line, bool same)
{
	for (int i = 0; i < TURNS; i++)
		if (touch(slot, i % 2, line + (same ? 0 : i % 2 * 8),
			  ACCESS_STORE))
			return;
	ck_abort_msg("the watch does not end");
}

START_TEST(a_line_with_transfers_is_watched_until_its_window_is_full)
{
	struct line_logs_order o = found(BASE, 1);

	ck_assert_uint_eq(o.watch, BASE);
	ck_assert_uint_eq(o.unwatch, 0);
	/* Before the caller watches it, nothing is logged. */
	for (int i = 0; i < TURNS; i++)
		ck_assert(!touch(o.slot, i % 2, BASE, ACCESS_STORE));
	line_logs_watching(logs, o.slot);
	ck_assert_uint_eq(found(BASE, 1).watch, 0);
	use(o.slot, BASE, false);
	line_logs_idle(logs, o.slot);
	o = found(BASE, 1);
	ck_assert_uint_eq(o.watch, BASE);
	write_and_read_back();
	ck_assert_uint_eq(record_of(BASE)->a, CDP_AVOIDABLE_SAMPLED);
	ck_assert_double_eq(number(record_of(BASE), 1), 300);
	ck_assert_double_eq(number(record_of(BASE), 2), 300);
	ck_assert_uint_eq(record_of(BASE)->value[5], 2);
}
END_TEST

START_TEST(words_that_threads_use_in_turn_are_not_avoidable)
{
	struct line_logs_order o = found(BASE, 2);

	line_logs_watching(logs, o.slot);
	use(o.slot, BASE, true);
	write_and_read_back();
	ck_assert_double_eq(number(record_of(BASE), 1), 200);
	ck_assert_double_eq(number(record_of(BASE), 2), 0);
}
END_TEST

START_TEST(a_line_without_a_log_counts_by_the_published_definition)
{
	for (uint32_t i = 0; i <= LINE_LOGS_SLOTS; i++) {
		struct line_logs_order o = found(BASE + i * LINE, 1);

		/* All slots are new, so none is given up. */
		ck_assert_uint_eq(o.watch,
				  i < LINE_LOGS_SLOTS ? BASE + i * LINE : 0);
		if (o.watch)
			line_logs_watching(logs, o.slot);
	}
	write_and_read_back();
	ck_assert_double_eq(number(record_of(BASE + LINE_LOGS_SLOTS * LINE), 2),
			    100);
}
END_TEST

START_TEST(a_short_log_is_none)
{
	struct line_logs_order o = found(BASE, 2);

	line_logs_watching(logs, o.slot);
	for (int i = 0; i < 40; i++)
		touch(o.slot, i % 2, BASE, ACCESS_STORE);
	write_and_read_back();
	ck_assert_double_eq(number(record_of(BASE), 2), 200);
	ck_assert_uint_eq(record_of(BASE)->value[4], 0);
}
END_TEST

START_TEST(a_quiet_line_gives_its_slot_to_one_with_transfers)
{
	struct line_logs_order o = { 0, 0, 0 };

	for (uint32_t i = 0; i < LINE_LOGS_SLOTS; i++)
		line_logs_watching(logs, found(BASE + i * LINE, 1).slot);
	for (int i = 0; i < 100 && !o.watch; i++)
		o = found(BASE + 100 * LINE, 1);
	ck_assert_uint_eq(o.watch, BASE + 100 * LINE);
	ck_assert_uint_eq(o.unwatch, BASE);
	line_logs_watching(logs, o.slot);
	ck_assert(!touch(o.slot, 1, BASE, ACCESS_STORE));
	use(o.slot, BASE + 100 * LINE, false);
}
END_TEST

START_TEST(bytes_of_locked_operations_by_several_threads_are_contended)
{
	struct line_logs_order o = found(BASE, 1);

	line_logs_watching(logs, o.slot);
	touch(o.slot, 0, BASE, ACCESS_LOAD | ACCESS_STORE);
	touch(o.slot, 1, BASE + 8, ACCESS_LOAD | ACCESS_STORE);
	/* It reaches into the line from the one before. */
	touch(o.slot, 1, BASE - 4, ACCESS_LOAD | ACCESS_STORE);
	write_and_read_back();
	ck_assert_uint_eq(record_of(BASE)->value[3], 0xf);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("line_logs");
	TCase *tc = tcase_create("line_logs");

	suite_add_tcase(suite, tc);
	tcase_add_checked_fixture(tc, setup, sandbox_teardown);
	tcase_add_test(
		tc, a_line_with_transfers_is_watched_until_its_window_is_full);
	tcase_add_test(tc, words_that_threads_use_in_turn_are_not_avoidable);
	tcase_add_test(tc,
		       a_line_without_a_log_counts_by_the_published_definition);
	tcase_add_test(tc, a_short_log_is_none);
	tcase_add_test(tc, a_quiet_line_gives_its_slot_to_one_with_transfers);
	tcase_add_test(
		tc,
		bytes_of_locked_operations_by_several_threads_are_contended);
	return run_suite(suite);
}
