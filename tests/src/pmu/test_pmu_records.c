/* SPDX-License-Identifier: MIT */
/*
 * test_pmu_records - records in a ring other than good samples
 *
 * Records that wrap, that are lost, throttled, inexact or damaged.
 */
#include "pmu_hand.h"
#include "tests/run_suite.h"

START_TEST(records_that_wrap_come_out_whole)
{
	boot(_i ? FAKE_ZEN4 : FAKE_SKYLAKE);
	run(OPS, false);
	/* Many times the ring's 8 KiB went through it. */
	ck_assert_uint_gt(thread.ring.page->data_tail, 8 * thread.ring.bytes);
	ck_assert_uint_eq(seen.wrong, 0);
	ck_assert_uint_eq(seen.loss[LOSS_MALFORMED], 0);
}
END_TEST

START_TEST(what_finds_no_room_is_counted)
{
	boot(_i ? FAKE_ZEN4 : FAKE_SKYLAKE);
	k->raise = NULL; /* signals are blocked: nobody drains */
	run(OPS / 4, false);
	ck_assert_uint_gt(k->lost, 10);
	k->raise = on_signal;
	run(OPS / 4, false);
	/* The last losses are told with the next record that finds room. */
	ck_assert_uint_eq(seen.loss[LOSS_RING_FULL], k->lost);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(a_throttled_event_goes_on_and_is_counted)
{
	boot(_i ? FAKE_ZEN4 : FAKE_SKYLAKE);
	k->throttle = 50;
	k->throttled_for = 10000;
	run(OPS, false);
	ck_assert_uint_gt(k->throttles, 5);
	ck_assert_uint_eq(seen.loss[LOSS_THROTTLED], k->throttles);
	ck_assert_uint_gt(seen.samples, 500);
	ck_assert_uint_eq(seen.loss[LOSS_MALFORMED], 0);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(samples_without_the_exact_instruction_are_dropped)
{
	uint64_t all;

	boot(_i ? FAKE_ZEN4 : FAKE_SKYLAKE);
	k->inexact = 5;
	run(OPS, false);
	all = seen.samples + seen.loss[LOSS_INEXACT_IP];
	check_share(seen.loss[LOSS_INEXACT_IP], all, 0.2);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(a_sample_without_an_address_is_dropped)
{
	const struct fake_op op = {
		.access = { .addr = 0,
			    .ip = 0x400000,
			    .len = 8,
			    .flags = ACCESS_LOAD },
	};

	boot(FAKE_SKYLAKE);
	pmu_thread_resume(&thread);
	for (int i = 0; i < 10 * PERIOD; i++)
		fake_run(k, &op);
	ck_assert_uint_eq(seen.samples, 0);
	ck_assert_uint_ge(seen.loss[LOSS_NO_ADDRESS], 8);
}
END_TEST

/* Records that no kernel should write, and the ring goes on after them. */
static const struct {
	uint32_t type;
	uint16_t bytes;
	uint64_t body[4];
} strange[] = {
	{ 77, 16, { 1, 2 } },                      /* an unknown type */
	{ PERF_RECORD_SAMPLE, 0, { 0 } },          /* a sample of nothing */
	{ PERF_RECORD_SAMPLE, 8, { 12345 } },      /* of an unknown event */
	{ PERF_RECORD_SAMPLE, 24, { 0, 1, 2 } },   /* cut; [0] is an id */
	{ PERF_RECORD_MMAP2, 32, { 1, 2, 3, 4 } }, /* not asked for */
};
enum {
	STRANGE = sizeof(strange) / sizeof(strange[0])
};

START_TEST(a_strange_record_is_counted_and_passed_over)
{
	uint64_t body[4];

	boot(_i % 2 ? FAKE_ZEN4 : FAKE_SKYLAKE);
	memcpy(body, strange[_i].body, sizeof(body));
	if (strange[_i].bytes == 24)
		body[0] = fake_event_id(k, 0);
	fake_record(k, 0, strange[_i].type,
		    PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, body,
		    strange[_i].bytes);
	run(OPS / 10, false);
	ck_assert_uint_eq(seen.loss[LOSS_MALFORMED], 1);
	ck_assert_uint_gt(seen.samples, 50);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

START_TEST(losses_before_the_ring_are_counted)
{
	const uint64_t body[] = { 42 };

	boot(FAKE_SKYLAKE);
	fake_record(k, 0, PERF_RECORD_LOST_SAMPLES, 0, body, sizeof(body));
	run(100, false);
	ck_assert_uint_eq(seen.loss[LOSS_RING_FULL], 42);
}
END_TEST

/* Heads that point nowhere: too far, or in the middle of a header. */
START_TEST(a_ring_that_makes_no_sense_is_given_up_and_goes_on)
{
	static const uint64_t by[] = { 4, 1 << 20, UINT64_MAX - 8, 8 };

	boot(FAKE_SKYLAKE);
	fake_corrupt_head(k, 0, by[_i]);
	pmu_thread_drain(&thread, &sink, NULL);
	ck_assert_uint_eq(seen.loss[LOSS_MALFORMED], 1);
	run(OPS / 10, false);
	ck_assert_uint_eq(seen.loss[LOSS_MALFORMED], 1);
	ck_assert_uint_gt(seen.samples, 50);
	ck_assert_uint_eq(seen.wrong, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("pmu_records");
	TCase *tc = tcase_create("pmu_records");

	suite_add_tcase(suite, tc);
	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, shut_down);
	tcase_add_loop_test(tc, records_that_wrap_come_out_whole, 0, 2);
	tcase_add_loop_test(tc, what_finds_no_room_is_counted, 0, 2);
	tcase_add_loop_test(tc, a_throttled_event_goes_on_and_is_counted, 0, 2);
	tcase_add_loop_test(
		tc, samples_without_the_exact_instruction_are_dropped, 0, 2);
	tcase_add_test(tc, a_sample_without_an_address_is_dropped);
	tcase_add_loop_test(tc, a_strange_record_is_counted_and_passed_over, 0,
			    STRANGE);
	tcase_add_test(tc, losses_before_the_ring_are_counted);
	tcase_add_loop_test(
		tc, a_ring_that_makes_no_sense_is_given_up_and_goes_on, 0, 4);
	return run_suite(suite);
}
