/* SPDX-License-Identifier: MIT */
/*
 * test_band - bands of miss ratios, against repeated sampling and exact stacks
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locality/band.h"
#include "analysis/locality/locality.h"
#include "tests/oracle/stack_oracle.h"
#include "tests/run_suite.h"

static struct reuse_histogram h, all;
static struct locality l;

/*
 * The band must contain the curve that StatStack makes of all accesses in 95 of
 * 100 samples.
 */
START_TEST(band_covers_the_curve_of_all_accesses)
{
	enum {
		RUNS = 150,
		PERIOD = 50,
	};
	double covered = 0, points = 0, truth[16];
	struct locality whole;
	struct trace t;

	trace_pattern(&t, _i, 200000, 4096, 21);
	histogram_of(&all, &t);
	locality_init(&whole, &all);
	for (int i = 0; i < 16; i++)
		truth[i] = locality_miss_stack(&whole, &all, exp2(i));
	for (uint64_t run = 1; run <= RUNS; run++) {
		sampled_histogram_of(&h, &t, PERIOD, run);
		locality_init(&l, &h);
		for (int i = 4; i < 12; i++) {
			struct interval v = locality_band(&l, &h, exp2(i));

			points++;
			covered += v.low <= truth[i] && truth[i] <= v.high;
		}
	}
	/*
	 * The points of a run are correlated: allow four standard errors of
	 * RUNS.
	 */
	ck_assert_msg(covered / points >= 0.95 - 0.07, "%.3f",
		      covered / points);
	trace_release(&t);
}
END_TEST

/*
 * The band must hold 95 of 100 exact ratios, those of an LRU stack that sees
 * every access. It may hold more of patterns that the model describes exactly,
 * but it must not be wide.
 */
START_TEST(band_holds_the_ratios_of_an_exact_stack)
{
	enum {
		RUNS = 20,
		PERIOD = 100,
	};
	double held = 0, points = 0, width = 0;

	for (int p = 0; p < PATTERNS; p++) {
		uint32_t *distance;
		struct trace t;

		trace_pattern(&t, p, 200000, 4096, 24);
		distance = distances_by_tree(&t);
		for (uint64_t run = 1; run <= RUNS; run++) {
			sampled_histogram_of(&h, &t, PERIOD, 100 * run + p);
			locality_init(&l, &h);
			for (uint32_t c = 16; c <= 8192; c *= 2) {
				double truth =
					share_from(distance, t.accesses, c);
				struct interval v = locality_band(&l, &h, c);

				points++;
				held += v.low <= truth && truth <= v.high;
				width += v.high - v.low;
			}
		}
		free(distance);
		trace_release(&t);
	}
	ck_assert_msg(held / points >= 0.94, "%.3f", held / points);
	ck_assert_msg(width / points <= 0.1, "%.3f", width / points);
}
END_TEST

/* Add one use in ten that never comes back, one in a hundred after 50,000. */
static void plateau(int uses)
{
	memset(&h, 0, sizeof(h));
	for (int i = 0; i < uses; i++) {
		if (i % 10 == 9)
			reuse_histogram_add_never(&h, UINT64_MAX, 50);
		else
			reuse_histogram_add(&h, i % 100 ? 20 : 50000, 50);
	}
	locality_init(&l, &h);
}

/*
 * A band from 0 to 1 would pass the test above. Where caches of any size near
 * by miss as much, only the number of samples counts.
 */
START_TEST(band_narrows_with_the_root_of_the_samples)
{
	double width[2];

	for (int i = 0; i < 2; i++) {
		struct interval v;

		plateau(i ? 100000 : 4000);
		v = locality_band(&l, &h, 512);
		width[i] = v.high - v.low;
	}
	ck_assert_double_eq_tol(width[0] / width[1], 5, 0.1);
	ck_assert_double_le(width[1], 0.01);
}
END_TEST

/*
 * At a step of the curve nobody knows on which side of it the size is: the band
 * holds both. Far from it, it holds one.
 */
START_TEST(band_holds_both_sides_of_a_step)
{
	double step;

	plateau(100000);
	step = locality_distance(&l, 49999);
	for (int i = -8; i <= 8; i++) {
		double lines = round(step * exp2(i / 4. + 0.01));
		struct interval v = locality_band(&l, &h, lines);
		bool both = v.low < 0.101 && v.high > 0.109;

		/* The model's error is above 1/4 of an octave, and below 2. */
		if (abs(i) <= 1)
			ck_assert(both);
		if (abs(i) == 8)
			ck_assert(!both);
	}
}
END_TEST

START_TEST(band_of_a_full_count_is_its_value)
{
	struct interval v;
	struct trace t;

	trace_pattern(&t, PATTERN_HOT, 100000, 4096, 23);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	v = locality_band(&l, &h, 512);
	ck_assert_double_eq(v.low, v.high);
	ck_assert_double_eq(v.low, locality_miss_stack(&l, &h, 512));
	trace_release(&t);
}
END_TEST

/*
 * A cache far larger than all reused lines misses only what is never reused,
 * and the limits are those of that share. N uses of weight w count as N w / (w
 * - 1) drawn ones (reuse_mass_variance).
 */
START_TEST(band_beyond_the_longest_reuse_is_that_of_what_never_comes_back)
{
	static const double beyond[] = { 2, 3, 10, 1000 };
	double weight = 50, uses = 4000, never = 40, n, longest;
	struct interval v, wanted;

	memset(&h, 0, sizeof(h));
	for (int i = 0; i < uses - never; i++)
		reuse_histogram_add(&h, i % 10 ? 20 : 50000, weight);
	for (int i = 0; i < never; i++)
		reuse_histogram_add_never(&h, UINT64_MAX, weight);
	locality_init(&l, &h);
	longest = locality_distance(&l, l.point[l.points - 1].rd);
	n = uses * weight / (weight - 1);
	wanted = interval_share(n * never / uses, n);
	v = locality_band(&l, &h, ceil(longest * beyond[_i]));
	ck_assert_double_eq_tol(v.low, wanted.low, 1e-12);
	ck_assert_double_eq_tol(v.high, wanted.high, 1e-12);
}
END_TEST

START_TEST(band_is_open_where_no_sample_missed)
{
	struct interval v;

	memset(&h, 0, sizeof(h));
	for (int i = 0; i < 30; i++)
		reuse_histogram_add(&h, 5, 1000);
	locality_init(&l, &h);
	v = locality_band(&l, &h, 512);
	ck_assert_double_eq(v.low, 0);
	ck_assert_double_gt(v.high, 0.05);
	ck_assert_double_lt(v.high, 0.2);
	memset(&h, 0, sizeof(h));
	locality_init(&l, &h);
	v = locality_band(&l, &h, 512);
	ck_assert(v.low == 0 && v.high == 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("band");
	TCase *t = tcase_create("band");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, band_covers_the_curve_of_all_accesses, 0,
			    PATTERNS);
	tcase_add_test(t, band_holds_the_ratios_of_an_exact_stack);
	tcase_add_test(t, band_narrows_with_the_root_of_the_samples);
	tcase_add_test(t, band_holds_both_sides_of_a_step);
	tcase_add_test(t, band_of_a_full_count_is_its_value);
	tcase_add_loop_test(
		t,
		band_beyond_the_longest_reuse_is_that_of_what_never_comes_back,
		0, 4);
	tcase_add_test(t, band_is_open_where_no_sample_missed);
	suite_add_tcase(s, t);
	return run_suite(s);
}
