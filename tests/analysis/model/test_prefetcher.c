/* SPDX-License-Identifier: MIT */
/*
 * test_prefetcher - what loads that wait for each other take
 */
#include "analysis/model/caches.h"
#include "analysis/model/streams.h"
#include "tests/run_suite.h"

enum {
	LOADS = 640,
	FIRST = 0x10000000 >> MACHINE_LINE_SHIFT,
	MEMORY = 158, /* cycles of golden-c3 */
	L2 = 9,
	SLOT = 22, /* a line's transfer, at most */
	PAGE_LINES = 64,
	IP = 0x401000,
};

static struct machine machine;

static void begin(void)
{
	char error[MACHINE_ERROR_BYTES];

	ck_assert(!machine_read(&machine, "golden-c3", error));
}

/* Cycles of the loads of every @stride-th line, each after the one before. */
static uint64_t chain(enum machine_prefetcher prefetcher, int stride,
		      uint64_t *misses)
{
	struct caches *c;
	uint64_t t = 0;

	machine.prefetcher = prefetcher;
	c = caches_new(&machine, 1);
	caches_at(c, IP);
	for (int i = 0; i < LOADS; i++)
		t = caches_access(c, 0, FIRST + (uint64_t)(i * stride),
				  CACHES_LOAD, t)
			    .done;
	*misses = caches_counts(c, 0)->llc_misses;
	caches_free(c);
	return t;
}

START_TEST(lines_that_nobody_expects_take_the_whole_latency)
{
	uint64_t misses;

	ck_assert_uint_eq(chain(PREFETCHER_NONE, 3, &misses), LOADS * MEMORY);
	ck_assert_uint_eq(chain(PREFETCHER_NEXT_LINE, 3, &misses) / LOADS,
			  MEMORY);
	ck_assert_uint_eq(misses, LOADS);
}
END_TEST

/*
 * In a page three loads show the stride. Then memory is asked for two lines at
 * a time, the one that is loaded and the next. 64 loads are in three pages: 22
 * of the first, 21 of the others, and of each 9 pairs behind the first three.
 */
START_TEST(a_stride_is_followed_from_the_third_load_of_a_page_on)
{
	uint64_t misses, took = chain(PREFETCHER_STRIDE, 3, &misses);
	uint64_t pages = LOADS / PAGE_LINES * 3;
	uint64_t expected = pages * (3 + 9) * MEMORY;

	ck_assert_uint_ge(took, expected);
	ck_assert_uint_le(took, expected + pages * SLOT);
	ck_assert_uint_eq(misses, pages * 3);
}
END_TEST

START_TEST(strides_may_be_negative_and_must_repeat)
{
	uint64_t up, down, t = 0;
	struct caches *c;

	chain(PREFETCHER_STRIDE, 2, &up);
	chain(PREFETCHER_STRIDE, -2, &down);
	ck_assert_uint_eq(up, LOADS / 32 * 3);
	/* the first page has the first line alone */
	ck_assert_uint_le(down, up + 1);
	machine.prefetcher = PREFETCHER_STRIDE;
	c = caches_new(&machine, 1);
	for (uint64_t i = 0; i < PAGE_LINES; i++)
		t = caches_access(c, 0, FIRST + i * (i + 1) / 2 % PAGE_LINES,
				  CACHES_LOAD, t)
			    .done;
	ck_assert_uint_eq(caches_counts(c, 0)->llc_misses, PAGE_LINES);
	caches_free(c);
}
END_TEST

START_TEST(adjacent_and_next_lines_are_there_when_they_are_asked_for)
{
	uint64_t misses, took = chain(PREFETCHER_ADJACENT, 1, &misses);

	/* the second of a pair waits for its transfer, or for L2 */
	ck_assert_uint_eq(misses, LOADS / 2);
	ck_assert_uint_ge(took, (uint64_t)LOADS / 2 * (MEMORY + L2));
	ck_assert_uint_le(took, (uint64_t)LOADS / 2 * (MEMORY + SLOT));
	chain(PREFETCHER_NEXT_LINE, 1, &misses);
	ck_assert_uint_eq(misses, 1);
}
END_TEST

/* Little's law: these lines and the loaded one are on their way at a time. */
START_TEST(a_stream_takes_the_latency_by_the_lines_that_it_is_ahead)
{
	uint64_t misses;

	for (machine.ahead = 2; machine.ahead < 6; machine.ahead++)
		for (int stride = 1; stride > -4; stride -= 4) {
			uint64_t took =
				chain(PREFETCHER_STREAM, stride, &misses);
			uint64_t lines = LOADS / (machine.ahead + 1);

			/* and the first ones, until it is so far ahead */
			ck_assert_uint_ge(took, lines * MEMORY);
			ck_assert_uint_le(took, (lines + 5) * MEMORY);
			/* two to confirm the distance */
			ck_assert_uint_eq(misses, 3);
		}
}
END_TEST

START_TEST(a_stream_that_is_far_ahead_waits_for_the_bus_alone)
{
	uint64_t misses, took;

	machine.ahead = MACHINE_AHEAD_MAX;
	took = chain(PREFETCHER_STREAM, 1, &misses);
	ck_assert_uint_le(took, (uint64_t)LOADS * SLOT + 3 * MEMORY);
	machine.memory_gbs = 1e5;
	machine.ahead = MACHINE_AHEAD_MAX;
	took = chain(PREFETCHER_STREAM, 1, &misses);
	/* Behind the first lines L1D has each when it is needed. */
	ck_assert_uint_le(took, (uint64_t)(LOADS * machine.l1d.latency) +
					10 * MEMORY);
}
END_TEST

START_TEST(distances_above_two_kilobytes_are_no_stream)
{
	uint64_t misses;

	machine.ahead = 8;
	chain(PREFETCHER_STREAM, STREAM_STRIDE_MAX, &misses);
	ck_assert_uint_eq(misses, 3);
	chain(PREFETCHER_STREAM, STREAM_STRIDE_MAX + 1, &misses);
	ck_assert_uint_eq(misses, LOADS);
}
END_TEST

/* The third and the fourth line of a run ask for one and for two more. */
START_TEST(a_short_run_leaves_few_lines_behind)
{
	struct caches *c;
	uint64_t reads, writes;

	machine.prefetcher = PREFETCHER_STREAM;
	machine.ahead = 20;
	c = caches_new(&machine, 1);
	caches_at(c, IP);
	for (uint64_t run = 0; run < 10; run++)
		for (uint64_t i = 0; i < 4; i++)
			caches_access(c, 0, FIRST + run * 1000 + i, CACHES_LOAD,
				      run * 10000 + i * 1000);
	caches_memory(c, &reads, &writes);
	ck_assert_uint_eq(reads, 10 * (4 + 2));
	caches_free(c);
}
END_TEST

/* Each instruction has its stream; an unknown one has none. */
START_TEST(instructions_do_not_disturb_each_other)
{
	struct caches *c;

	machine.prefetcher = PREFETCHER_STREAM;
	machine.ahead = 8;
	c = caches_new(&machine, 1);
	for (uint64_t i = 0; i < 100; i++)
		for (uint64_t k = 0; k < 4; k++) {
			caches_at(c, k ? IP + 5 * k : 0);
			caches_access(c, 0, FIRST + k * 10000 + i, CACHES_LOAD,
				      (i * 4 + k) * 1000);
		}
	ck_assert_uint_eq(caches_counts(c, 0)->llc_misses, 100 + 3 * 3);
	caches_free(c);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("prefetcher");
	TCase *t = tcase_create("prefetcher");

	tcase_add_checked_fixture(t, begin, NULL);
	tcase_add_test(t, lines_that_nobody_expects_take_the_whole_latency);
	tcase_add_test(t,
		       a_stride_is_followed_from_the_third_load_of_a_page_on);
	tcase_add_test(t, strides_may_be_negative_and_must_repeat);
	tcase_add_test(
		t, adjacent_and_next_lines_are_there_when_they_are_asked_for);
	tcase_add_test(
		t, a_stream_takes_the_latency_by_the_lines_that_it_is_ahead);
	tcase_add_test(t, a_stream_that_is_far_ahead_waits_for_the_bus_alone);
	tcase_add_test(t, distances_above_two_kilobytes_are_no_stream);
	tcase_add_test(t, a_short_run_leaves_few_lines_behind);
	tcase_add_test(t, instructions_do_not_disturb_each_other);
	suite_add_tcase(s, t);
	return run_suite(s);
}
