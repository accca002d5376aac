/* SPDX-License-Identifier: MIT */
/*
 * test_prefetcher - what loads that wait for each other take
 */
#include "analysis/model/caches.h"
#include "tests/run_suite.h"

enum {
	LOADS = 640,
	FIRST = 0x10000000 >> MACHINE_LINE_SHIFT,
	MEMORY = 158, /* cycles of golden-c3 */
	L2 = 9,
	SLOT = 22, /* a line's transfer, at most */
	PAGE_LINES = 64,
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
	suite_add_tcase(s, t);
	return run_suite(s);
}
