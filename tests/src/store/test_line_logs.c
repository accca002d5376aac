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
	logs = line_logs_init(calloc(1, line_logs_size()), true);
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

static bool tells(uint32_t slot, uint32_t thread, uint64_t addr, uint32_t flags)
{
	struct access a = { .addr = addr, .len = 8, .flags = flags };

	return line_logs_tells(logs, slot, thread, &a);
}

START_TEST(what_a_thread_does_again_tells_nothing)
{
	struct line_logs_order o = found(BASE, 1);

	line_logs_watching(logs, o.slot);
	ck_assert(tells(o.slot, 1, BASE, ACCESS_LOAD));
	touch(o.slot, 1, BASE, ACCESS_LOAD);
	ck_assert(!tells(o.slot, 1, BASE, ACCESS_LOAD));
	ck_assert(tells(o.slot, 2, BASE, ACCESS_LOAD));
	ck_assert(tells(o.slot, 1, BASE + 8, ACCESS_LOAD));
	ck_assert(tells(o.slot, 1, BASE + 4, ACCESS_LOAD));
	ck_assert(tells(o.slot, 1, BASE, ACCESS_STORE));
	touch(o.slot, 1, BASE, ACCESS_STORE);
	ck_assert(!tells(o.slot, 1, BASE, ACCESS_STORE));
	/* A lock is known by its locked operations. */
	ck_assert(tells(o.slot, 1, BASE, ACCESS_LOAD | ACCESS_STORE));
	touch(o.slot, 1, BASE, ACCESS_LOAD | ACCESS_STORE);
	ck_assert(!tells(o.slot, 1, BASE, ACCESS_LOAD | ACCESS_STORE));
	touch(o.slot, 2, BASE, ACCESS_LOAD);
	ck_assert(tells(o.slot, 1, BASE, ACCESS_LOAD));
}
END_TEST

/* A watch that goes to another line tells of that line. */
START_TEST(a_turn_of_one_line_is_none_of_another)
{
	struct line_logs_order o = found(BASE, 1);

	line_logs_watching(logs, o.slot);
	use(o.slot, BASE, false);
	line_logs_idle(logs, o.slot);
	o = found(BASE + LINE, 1);
	ck_assert_uint_eq(o.watch, BASE + LINE);
	line_logs_watching(logs, o.slot);
	for (uint32_t thread = 0; thread < 2; thread++)
		ck_assert(tells(o.slot, thread, BASE + LINE + 8 * thread,
				ACCESS_STORE));
}
END_TEST

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

/* Of 300 transfers that no log tells about, 250 are of use. */
START_TEST(what_is_needed_counts_on_lines_without_a_log)
{
	struct transfer_event event[] = { { .weight = 100 }, { .weight = 50 } };
	struct transfer_chain c = { .line = BASE, .n = 2, .event = event };
	struct line_logs_order o;
	const double told[] = { 300, 5 * 100 * 100, 250,
				150 * 150 + 100 * 100 };

	line_logs_with_needed(logs);
	o = found(BASE + LINE, 2);
	line_logs_watching(logs, o.slot);
	use(o.slot, BASE + LINE, false);
	found(BASE, 1);
	found(BASE + 2 * LINE, 2);
	line_logs_needed(logs, &c);
	c = (struct transfer_chain){ .line = BASE + 3 * LINE,
				     .n = 1,
				     .event = event };
	line_logs_needed(logs, &c);
	c.line = BASE + LINE;
	line_logs_needed(logs, &c);
	write_and_read_back();
	ck_assert_uint_eq(record[records - 1].kind, CDP_ESTIMATE_NEEDED);
	for (int i = 0; i < 4; i++)
		ck_assert_double_eq(number(&record[records - 1], i), told[i]);
	ck_assert_ptr_null(record_of(BASE + 3 * LINE));
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
	tcase_add_test(tc, what_a_thread_does_again_tells_nothing);
	tcase_add_test(tc, a_turn_of_one_line_is_none_of_another);
	tcase_add_test(
		tc, a_line_with_transfers_is_watched_until_its_window_is_full);
	tcase_add_test(tc, words_that_threads_use_in_turn_are_not_avoidable);
	tcase_add_test(tc,
		       a_line_without_a_log_counts_by_the_published_definition);
	tcase_add_test(tc, what_is_needed_counts_on_lines_without_a_log);
	tcase_add_test(tc, a_short_log_is_none);
	tcase_add_test(tc, a_quiet_line_gives_its_slot_to_one_with_transfers);
	tcase_add_test(
		tc,
		bytes_of_locked_operations_by_several_threads_are_contended);
	return run_suite(suite);
}
