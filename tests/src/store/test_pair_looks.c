/* SPDX-License-Identifier: MIT */
/*
 * test_pair_looks - meetings take no room from detections
 */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/sandbox.h"
#include "src/store/cdp_read.h"
#include "src/store/pair_table.h"
#include "src/store/store.h"
#include "tests/run_suite.h"

#define NAME "a.1.1.cdp"

static struct store store;
static uint64_t by[DETECTED_BY_LOOK + 1], rests;

static void setup(void)
{
	sandbox_setup();
	ck_assert_int_eq(
		store_create(&store, sandbox_fd, NAME, STORE_MAX_BYTES_DEFAULT),
		0);
	memset(by, 0, sizeof(by));
	rests = 0;
}

static int count_pair(void *ctx, const void *record)
{
	const struct cdp_pair *p = record;

	by[p->by] += p->count;
	rests += !p->detector_len;
	return 0;
}

static void read_back(void)
{
	struct cdp_reader r;
	uint64_t bad = 0;

	ck_assert_int_eq(cdp_open(&r, sandbox_fd, NAME), 0);
	ck_assert_int_eq(cdp_each(&r, CDP_PAIRS, count_pair, NULL, &bad), 0);
	ck_assert_uint_eq(bad, 0);
	cdp_close(&r);
}

static int add(struct pair_table *t, uint64_t n, enum detected_by how)
{
	struct detection d = {
		.publisher = { .addr = 0x1000 + 64 * n,
			       .len = 8,
			       .flags = ACCESS_STORE },
		.detector = { .addr = 0x1000 + 64 * n,
			      .len = 8,
			      .flags = ACCESS_LOAD },
		.line = 0x1000 + 64 * n,
		.publisher_thread = 1,
		.detector_thread = 2,
		.periods_q8 = 256,
		.by = how,
	};

	return pair_table_add(&store, t, &d, 100, 7);
}

START_TEST(meetings_beyond_their_bound_are_dropped_and_known_ones_counted)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };
	const uint32_t most = PAIR_TABLE_LOOKS_MAX;

	for (uint32_t n = 0; n < most + 100; n++) {
		ck_assert_int_eq(add(&t, n, DETECTED_BY_LOOK),
				 n < most ? 0 : -ENOSPC);
		ck_assert_int_eq(add(&t, n, DETECTED_BY_TRAP), 0);
	}
	ck_assert_int_eq(add(&t, 7, DETECTED_BY_LOOK), 0);
	read_back();
	ck_assert_uint_eq(by[DETECTED_BY_LOOK], most + 1);
	ck_assert_uint_eq(by[DETECTED_BY_TRAP], most + 100);
	ck_assert_uint_eq(rests, 0);
	pair_table_release(&t);
}
END_TEST

START_TEST(a_full_table_has_rests_for_detections_alone)
{
	struct pair_table t = { .writer.section = CDP_PAIRS };

	for (uint32_t n = 0; n < PAIR_TABLE_MAX + 1; n++)
		ck_assert_int_eq(add(&t, n, DETECTED_BY_TRAP), 0);
	ck_assert_int_eq(add(&t, 0, DETECTED_BY_LOOK), -ENOSPC);
	read_back();
	ck_assert_uint_eq(by[DETECTED_BY_LOOK], 0);
	ck_assert_uint_eq(by[DETECTED_BY_TRAP], PAIR_TABLE_MAX + 1);
	ck_assert_uint_eq(rests, 1);
	pair_table_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("pair_looks");
	TCase *t = tcase_create("pair_looks");

	tcase_add_checked_fixture(t, setup, sandbox_teardown);
	tcase_set_timeout(t, 60);
	tcase_add_test(
		t,
		meetings_beyond_their_bound_are_dropped_and_known_ones_counted);
	tcase_add_test(t, a_full_table_has_rests_for_detections_alone);
	suite_add_tcase(s, t);
	return run_suite(s);
}
