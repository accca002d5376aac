/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_histogram - the bins against a search, the sums against plain ones
 */
#include <check.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "src/engine/reuse_histogram.h"
#include "src/base/rng.h"
#include "tests/run_suite.h"

static struct reuse_histogram a, b, both;

static void clear(void)
{
	memset(&a, 0, sizeof(a));
	memset(&b, 0, sizeof(b));
	memset(&both, 0, sizeof(both));
}

/* What the header says of bins, by counting up. */
START_TEST(bins_cover_all_times_without_gap_or_overlap)
{
	uint64_t low = 0;

	for (uint32_t bin = 0; bin < REUSE_BINS; bin++) {
		ck_assert_uint_eq(reuse_bin_low(bin), low);
		low = reuse_bin_high(bin);
		ck_assert_uint_gt(low, reuse_bin_low(bin));
		ck_assert_uint_eq(reuse_bin_of(reuse_bin_low(bin)), bin);
		ck_assert_uint_eq(reuse_bin_of(low - 1), bin);
	}
	ck_assert_uint_eq(low, UINT64_C(1) << REUSE_TIME_BITS);
}
END_TEST

START_TEST(short_times_have_a_bin_each)
{
	for (uint64_t time = 0; time < 2 * REUSE_SUBS; time++) {
		ck_assert_uint_eq(reuse_bin_of(time), time);
		ck_assert_uint_eq(reuse_bin_high((uint32_t)time), time + 1);
	}
}
END_TEST

START_TEST(an_octave_has_eight_bins_of_one_width)
{
	for (uint64_t low = REUSE_SUBS; low < UINT64_C(1) << 47; low *= 2) {
		uint32_t first = reuse_bin_of(low);

		ck_assert_uint_eq(reuse_bin_of(2 * low), first + REUSE_SUBS);
		for (uint32_t bin = first; bin < first + REUSE_SUBS; bin++)
			ck_assert_uint_eq(reuse_bin_high(bin) -
						  reuse_bin_low(bin),
					  low / REUSE_SUBS);
	}
}
END_TEST

START_TEST(absurd_times_land_in_the_last_bin)
{
	clear();
	reuse_histogram_add(&a, UINT64_MAX, 2);
	ck_assert_double_eq(a.reuse[REUSE_BINS - 1].weight, 2);
	ck_assert_double_eq(
		reuse_mass_mean(&a.reuse[REUSE_BINS - 1], REUSE_BINS - 1),
		0x1p48 - 1);
}
END_TEST

START_TEST(moments_give_mean_and_spread_of_a_bin)
{
	double sum = 0, squares = 0, mean, spread;
	uint32_t bin = reuse_bin_of(5000);
	uint64_t low = reuse_bin_low(bin), width = reuse_bin_high(bin) - low;
	const struct reuse_mass *m = &a.reuse[bin];
	struct rng rng;
	enum {
		N = 1000
	};

	clear();
	rng_seed(&rng, 1, 0);
	for (int i = 0; i < N; i++) {
		uint64_t time = low + rng_below(&rng, width);

		reuse_histogram_add(&a, time, 3);
		sum += (double)time;
		squares += (double)time * (double)time;
	}
	mean = sum / N;
	spread = squares / N - mean * mean;
	ck_assert_double_eq_tol(reuse_mass_mean(m, bin), mean, 1e-9 * mean);
	mean = m->offset / m->weight;
	ck_assert_double_eq_tol(m->offset_squares / m->weight - mean * mean,
				spread, 1e-6 * spread);
}
END_TEST

START_TEST(each_fate_is_kept_apart_and_all_are_in_the_total)
{
	struct reuse_mass m;

	clear();
	reuse_histogram_add(&a, 7, 10);
	reuse_histogram_add(&a, 9000, 20);
	reuse_histogram_add_invalidated(&a, 7, 5);
	reuse_histogram_add_never(&a, 7, 2);
	reuse_histogram_add_never(&a, UINT64_MAX, 3);
	m = reuse_histogram_reused(&a);
	ck_assert_double_eq(m.weight, 30);
	ck_assert_double_eq(m.squares, 500);
	m = reuse_histogram_invalidated(&a);
	ck_assert_double_eq(m.weight, 5);
	m = reuse_histogram_never(&a);
	ck_assert_double_eq(m.weight, 5);
	ck_assert_double_eq(a.never[7].weight, 2);
	m = reuse_histogram_total(&a);
	ck_assert_double_eq(m.weight, 40);
	ck_assert_double_eq(m.squares, 538);
	ck_assert_uint_eq(a.uses, 5);
}
END_TEST

START_TEST(merging_is_adding_to_one)
{
	struct rng rng;

	clear();
	rng_seed(&rng, 2, 0);
	for (int i = 0; i < 20000; i++) {
		uint64_t time = rng_next(&rng) >> (rng_next(&rng) & 63);
		struct reuse_histogram *h = rng_next(&rng) & 1 ? &a : &b;
		double weight = (double)(1 + rng_below(&rng, 9));
		uint64_t kind = rng_below(&rng, 4);

		if (kind == 0) {
			reuse_histogram_add_never(h, time, weight);
			reuse_histogram_add_never(&both, time, weight);
		} else if (kind == 1) {
			reuse_histogram_add_invalidated(h, time, weight);
			reuse_histogram_add_invalidated(&both, time, weight);
		} else {
			reuse_histogram_add(h, time, weight);
			reuse_histogram_add(&both, time, weight);
		}
	}
	reuse_histogram_merge(&a, &b);
	ck_assert_uint_eq(a.uses, both.uses);
	for (size_t i = 0; i < offsetof(struct reuse_histogram, uses) / 8;
	     i++) {
		double x = ((double *)&a)[i], y = ((double *)&both)[i];

		ck_assert_double_eq_tol(x, y, 1e-9 * fabs(y) + 1e-30);
	}
}
END_TEST

START_TEST(counting_every_access_leaves_no_variance)
{
	struct reuse_mass m;

	clear();
	for (uint64_t time = 1; time < 1000; time++)
		reuse_histogram_add(&a, time, 1);
	m = reuse_histogram_total(&a);
	ck_assert_double_eq(reuse_mass_variance(&m), 0);
}
END_TEST

/*
 * Uses are followed with probabilities that differ, as a reservoir makes them;
 * the variance of the weight over many runs is what the squares say.
 */
START_TEST(squares_give_the_variance_of_unequal_weights)
{
	enum {
		RUNS = 4000,
		ACCESSES = 2000
	};
	double sum = 0, squares = 0, said = 0, seen;
	struct rng rng;

	rng_seed(&rng, 3, 0);
	for (int run = 0; run < RUNS; run++) {
		struct reuse_mass m;

		clear();
		for (uint64_t i = 0; i < ACCESSES; i++) {
			uint64_t one_in = i % 3 == 0 ? 10 : 50;

			if (rng_below(&rng, one_in) == 0)
				reuse_histogram_add(&a, 1 + i % 100,
						    (double)one_in);
		}
		m = reuse_histogram_total(&a);
		sum += m.weight;
		squares += m.weight * m.weight;
		said += reuse_mass_variance(&m);
	}
	sum /= RUNS;
	said /= RUNS;
	seen = squares / RUNS - sum * sum;
	/* Four standard errors: of the mean, and of a variance. */
	ck_assert_double_eq_tol(sum, ACCESSES, 4 * sqrt(seen / RUNS));
	ck_assert_double_eq_tol(said / seen, 1, 4 * sqrt(2. / RUNS));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("reuse_histogram");
	TCase *t = tcase_create("reuse_histogram");

	tcase_set_timeout(t, 60);
	tcase_add_test(t, bins_cover_all_times_without_gap_or_overlap);
	tcase_add_test(t, short_times_have_a_bin_each);
	tcase_add_test(t, an_octave_has_eight_bins_of_one_width);
	tcase_add_test(t, absurd_times_land_in_the_last_bin);
	tcase_add_test(t, moments_give_mean_and_spread_of_a_bin);
	tcase_add_test(t, each_fate_is_kept_apart_and_all_are_in_the_total);
	tcase_add_test(t, merging_is_adding_to_one);
	tcase_add_test(t, counting_every_access_leaves_no_variance);
	tcase_add_test(t, squares_give_the_variance_of_unequal_weights);
	suite_add_tcase(s, t);
	return run_suite(s);
}
