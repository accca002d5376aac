/* SPDX-License-Identifier: MIT */
/*
 * test_stack_distance - conversions against exact LRU stacks and closed forms
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locality/locality.h"
#include "analysis/locality/binomial.h"
#include "analysis/locality/random.h"
#include "analysis/locality/span.h"
#include "tests/oracle/stack_oracle.h"
#include "tests/run_suite.h"

typedef double miss_lru(const struct locality *l,
			const struct reuse_histogram *part, double lines);

static miss_lru *const methods[] = { locality_miss_stack, locality_miss_aet,
				     locality_miss_shen };
enum {
	METHODS = 3
};

static struct reuse_histogram h;
static struct locality l;

/* Test the oracle first. */
START_TEST(counting_tree_agrees_with_the_list)
{
	struct trace t;
	uint32_t *a, *b;

	trace_pattern(&t, _i, 20000, 500, 1);
	a = distances_by_list(&t);
	b = distances_by_tree(&t);
	for (uint32_t i = 0; i < t.accesses; i++)
		ck_assert_uint_eq(a[i], b[i]);
	free(a);
	free(b);
	trace_release(&t);
}
END_TEST

/* A B C B A: the second A has B and C in between. */
START_TEST(list_counts_distinct_lines_in_between)
{
	uint32_t lines[] = { 0, 1, 2, 1, 0 };
	struct trace t = { lines, 5, 3 };
	uint32_t *d = distances_by_list(&t);

	ck_assert_uint_eq(d[3], 1);
	ck_assert_uint_eq(d[4], 2);
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(d[i], NEVER);
	free(d);
}
END_TEST

/*
 * De Pestel et al., RPPM, figure 2: alone, the second A of thread 1 has 3
 * accesses and 2 lines in between, interleaved 7 and 4; the second D of thread
 * 2 has 3 alone and 1 interleaved, since thread 1 touches D too.
 */
START_TEST(interleaving_of_two_threads_is_that_of_figure_2)
{
	enum {
		A,
		B,
		D,
		E,
		F,
		LINES
	};
	uint32_t first[] = { A, B, D, B, A };
	uint32_t second[] = { D, E, F, E, D };
	uint32_t all[] = { D, A, E, B, F, E, D, B, D, A };
	struct trace one = { first, 5, LINES }, two = { second, 5, LINES };
	struct trace both = { all, 10, LINES };
	uint32_t *d = distances_by_list(&one);

	ck_assert_uint_eq(d[4], 2);
	free(d);
	histogram_of(&h, &one);
	ck_assert_double_eq(h.reuse[3 + 1].weight, 1);
	histogram_of(&h, &two);
	ck_assert_double_eq(h.reuse[3 + 1].weight, 1);
	d = distances_by_list(&both);
	ck_assert_uint_eq(d[9], 4);
	free(d);
	histogram_of(&h, &both);
	ck_assert_double_eq(h.reuse[7 + 1].weight, 1);
	ck_assert_double_eq(h.reuse[1 + 1].weight, 1);
}
END_TEST

/*
 * A sweep over n lines, again and again: all accesses hit with n lines or more,
 * none with fewer. n is at, below, above and between the ends of bins.
 */
static const uint32_t sweeps[] = { 2,    7,    8,    9,     255,  256,
				   1000, 1024, 1025, 65536, 70001 };

START_TEST(sweep_hits_all_or_none)
{
	uint32_t n = sweeps[_i];

	memset(&h, 0, sizeof(h));
	for (uint32_t i = 0; i < n; i++)
		reuse_histogram_add_never(&h, UINT64_MAX, 1);
	for (uint32_t i = 0; i < 99 * n; i++)
		reuse_histogram_add(&h, n, 1);
	locality_init(&l, &h);
	ck_assert_double_eq_tol(locality_distance(&l, n - 1), n - 1, 1e-6 * n);
	for (int m = 0; m < METHODS; m++) {
		ck_assert_double_eq_tol(methods[m](&l, &h, n - 1), 1, 1e-9);
		ck_assert_double_eq_tol(methods[m](&l, &h, n), 0.01, 1e-9);
	}
}
END_TEST

/*
 * With lines drawn at random, a cache of c of n lines holds any of them with
 * probability c/n, whichever it evicts. While it fills there are at most c more
 * misses, times n/c.
 */
START_TEST(random_accesses_hit_by_the_share_that_fits)
{
	const uint32_t n = 4096, accesses = 1 << 20;
	struct trace t;

	trace_pattern(&t, PATTERN_UNIFORM, accesses, n, 1);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	for (uint32_t c = 64; c <= n; c *= 2) {
		double cold = (double)n / accesses;
		double steady = 1 - (double)c / n;

		for (int m = 0; m < METHODS + 1; m++) {
			double miss = m < METHODS
					      ? methods[m](&l, &h, c)
					      : locality_miss_random(&l, &h, c);

			ck_assert_double_ge(miss, steady - 0.002);
			ck_assert_double_le(miss, steady + cold + 0.002);
		}
	}
	trace_release(&t);
}
END_TEST

/*
 * For a geometric distribution of reuse times, the sum of survival has a closed
 * form.
 */
START_TEST(distance_is_the_sum_of_survival)
{
	const double q = 0.999;
	double inside = 1;

	memset(&h, 0, sizeof(h));
	for (uint64_t rd = 0; rd < 40000; rd++) {
		reuse_histogram_add(&h, rd + 1, inside * (1 - q) * 1e6);
		inside *= q;
	}
	locality_init(&l, &h);
	for (double rd = 0; rd < 10000; rd = rd * 1.3 + 1) {
		double sum = (1 - pow(q, rd)) / (1 - q) * q;

		ck_assert_double_eq_tol(locality_distance(&l, rd), sum,
					0.001 * sum + 0.02);
	}
}
END_TEST

START_TEST(reach_undoes_distance)
{
	struct trace t;

	trace_pattern(&t, _i, 200000, 5000, 3);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	for (double rd = 1; rd < 50000; rd *= 1.37) {
		double lines = locality_distance(&l, rd);
		double back = locality_reach(&l, lines);

		/*
		 * Where survival is almost 0, many rd have the same distance.
		 */
		ck_assert_double_eq_tol(locality_distance(&l, back), lines,
					1e-6 * lines + 1e-9);
		ck_assert_double_le(back, rd * (1 + 1e-6) + 1e-6);
	}
	trace_release(&t);
}
END_TEST

/*
 * StatStack by its definition, without bins: the sum over k of P(rd >= k),
 * where P comes from the uses still followed at k - 1 and those of them that
 * ended there.
 */
static double stack_without_bins(const struct trace *t, uint32_t lines)
{
	uint32_t n = t->accesses, *reused = oracle_alloc(n + 2, 4);
	uint32_t *cut = oracle_alloc(n + 2, 4);
	uint32_t *last = oracle_alloc(t->lines, 4);
	double distance = 0, survival = 1, followed = n, hit = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (last[t->line[i]])
			reused[i + 1 - last[t->line[i]]]++;
		else
			cut[i + 1]++;
		last[t->line[i]] = i + 1;
	}
	for (uint32_t time = 1; time < n; time++) {
		if (round(distance) >= lines)
			break;
		hit += reused[time];
		if (followed > 0)
			survival *= 1 - reused[time] / followed;
		followed -= reused[time] + cut[time];
		distance += survival;
	}
	free(reused);
	free(cut);
	free(last);
	return 1 - hit / n;
}

/*
 * The mixed pattern has peaks narrower than a bin, which may be cut at the
 * wrong place.
 */
START_TEST(bins_change_a_miss_ratio_little)
{
	double most = _i == PATTERN_MIXED ? 0.02 : 0.001;
	struct trace t;

	trace_pattern(&t, _i, 200000, 6000, 4);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	for (uint32_t c = 64; c <= 8192; c *= 2) {
		double with = locality_miss_stack(&l, &h, c);
		double without = stack_without_bins(&t, c);

		ck_assert_msg(fabs(with - without) <= most,
			      "%u lines: %.5f, without bins %.5f", c, with,
			      without);
	}
	trace_release(&t);
}
END_TEST

/* Errors of a method at powers of two, compared with the exact stack. */
struct errors {
	double mean, worst;
};

static struct errors errors_of(miss_lru *miss, const struct trace *t,
			       const struct reuse_histogram *from)
{
	uint32_t *d = distances_by_tree(t), n = 0;
	struct errors e = { 0, 0 };

	locality_init(&l, from);
	for (uint32_t c = 64; c <= 16384; c *= 2, n++) {
		double error =
			fabs(miss(&l, from, c) - share_from(d, t->accesses, c));

		e.mean += error;
		e.worst = fmax(e.worst, error);
	}
	e.mean /= n;
	free(d);
	return e;
}

START_TEST(conversions_are_near_the_exact_stack)
{
	struct trace t;

	trace_pattern(&t, _i / METHODS, 400000, 10000, 5);
	histogram_of(&h, &t);
	for (int m = _i % METHODS; m == _i % METHODS; m++) {
		struct errors e = errors_of(methods[m], &t, &h);

		ck_assert_msg(e.mean <= 0.003 && e.worst <= 0.012,
			      "pattern %d, method %d: %.4f, worst %.4f",
			      _i / METHODS, m, e.mean, e.worst);
	}
	trace_release(&t);
}
END_TEST

START_TEST(one_access_in_a_hundred_is_enough)
{
	struct errors e;
	struct trace t;

	trace_pattern(&t, _i, 2000000, 10000, 6);
	sampled_histogram_of(&h, &t, 100, 1);
	e = errors_of(locality_miss_stack, &t, &h);
	ck_assert_msg(e.mean <= 0.01 && e.worst <= 0.03, "%.4f, worst %.4f",
		      e.mean, e.worst);
	trace_release(&t);
}
END_TEST

/* Make an odd histogram, merged from random masses. */
static void invent(struct reuse_histogram *odd, uint64_t seed)
{
	struct rng r;

	memset(odd, 0, sizeof(*odd));
	rng_seed(&r, seed, 0);
	for (int i = 0; i < 300; i++) {
		uint64_t time = 1 + (rng_next(&r) >> (16 + rng_below(&r, 48)));
		double weight = (double)(1 + rng_below(&r, 1000));

		switch (rng_below(&r, 6)) {
		case 0:
			reuse_histogram_add_invalidated(odd, time, weight);
			break;
		case 1:
			reuse_histogram_add_never(odd, time, weight);
			break;
		default:
			reuse_histogram_add(odd, time, weight);
		}
	}
}

START_TEST(ratios_never_rise_with_size_and_end_at_what_always_misses)
{
	double always;

	invent(&h, (uint64_t)_i);
	locality_init(&l, &h);
	always = locality_never(&h) / reuse_histogram_total(&h).weight;
	for (int m = 0; m < METHODS + 1; m++) {
		miss_lru *miss =
			m < METHODS ? methods[m] : locality_miss_random;
		double before = miss(&l, &h, 1);

		ck_assert_double_le(before, 1);
		for (double c = 2; c < 1e15; c *= 1.7) {
			double ratio = miss(&l, &h, c);

			ck_assert_msg(ratio <= before + 1e-9,
				      "method %d, %g lines: %.9f after %.9f", m,
				      c, ratio, before);
			before = ratio;
		}
		ck_assert_double_eq_tol(before, always, 0.02);
	}
	ck_assert_double_eq_tol(locality_miss_stack(&l, &h, INFINITY), always,
				1e-12);
}
END_TEST

START_TEST(distances_never_fall_nor_pass_the_accesses_between)
{
	double before = 0;

	invent(&h, (uint64_t)_i);
	locality_init(&l, &h);
	for (double rd = 0.5; rd < 1e15; rd *= 1.1) {
		double d = locality_distance(&l, rd);

		ck_assert_double_ge(d, before);
		ck_assert_double_le(d, rd * (1 + 1e-9));
		before = d;
	}
}
END_TEST

START_TEST(nothing_measured_is_no_miss_and_no_crash)
{
	memset(&h, 0, sizeof(h));
	locality_init(&l, &h);
	for (int m = 0; m < METHODS; m++)
		ck_assert_double_eq(methods[m](&l, &h, 512), 0);
	ck_assert_double_eq(locality_miss_random(&l, &h, 512), 0);
	ck_assert_double_eq(locality_miss_ways(&l, &h, 64, 8), 0);
	ck_assert_double_eq(locality_distance(&l, 1000), 0);
}
END_TEST

/*
 * Two kinds of accesses alternate at random. Lines of both lie between use and
 * reuse, so each part is converted with the stream of all.
 */
START_TEST(a_part_is_converted_with_the_distances_of_the_whole)
{
	const uint32_t n = 600000, lines = 8192;
	uint32_t *last, *d, miss[2], all[2] = { 0, 0 };
	static struct reuse_histogram part[2];
	struct trace t;
	struct rng r;

	memset(part, 0, sizeof(part));
	memset(&h, 0, sizeof(h));
	trace_init(&t, n, lines);
	rng_seed(&r, 8, 0);
	last = oracle_alloc(lines, sizeof(*last));
	for (uint32_t i = 0; i < n; i++) {
		uint32_t kind = rng_below(&r, 3) == 0;
		uint32_t line = kind ? lines / 8 + (uint32_t)rng_below(
							   &r, 7 * lines / 8)
				     : (uint32_t)rng_below(&r, lines / 8);

		t.line[i] = line;
		all[kind]++;
		if (last[line])
			reuse_histogram_add(&part[kind], i + 1 - last[line], 1);
		else
			reuse_histogram_add_never(&part[kind], i + 1, 1);
		last[line] = i + 1;
	}
	reuse_histogram_merge(&h, &part[0]);
	reuse_histogram_merge(&h, &part[1]);
	locality_init(&l, &h);
	d = distances_by_tree(&t);
	for (uint32_t c = 64; c <= lines; c *= 2) {
		memset(miss, 0, sizeof(miss));
		for (uint32_t i = 0; i < n; i++)
			miss[t.line[i] >= lines / 8] += d[i] >= c;
		for (int kind = 0; kind < 2; kind++)
			ck_assert_double_eq_tol(
				locality_miss_stack(&l, &part[kind], c),
				(double)miss[kind] / all[kind], 0.02);
	}
	free(d);
	free(last);
	trace_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stack_distance");
	TCase *t = tcase_create("stack_distance");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, counting_tree_agrees_with_the_list, 0, PATTERNS);
	tcase_add_test(t, list_counts_distinct_lines_in_between);
	tcase_add_test(t, interleaving_of_two_threads_is_that_of_figure_2);
	tcase_add_loop_test(t, sweep_hits_all_or_none, 0,
			    sizeof(sweeps) / sizeof(sweeps[0]));
	tcase_add_test(t, random_accesses_hit_by_the_share_that_fits);
	tcase_add_test(t, distance_is_the_sum_of_survival);
	tcase_add_loop_test(t, reach_undoes_distance, 0, PATTERNS);
	tcase_add_loop_test(t, bins_change_a_miss_ratio_little, 0, PATTERNS);
	tcase_add_loop_test(t, conversions_are_near_the_exact_stack, 0,
			    PATTERNS * METHODS);
	tcase_add_loop_test(t, one_access_in_a_hundred_is_enough, 0, PATTERNS);
	tcase_add_loop_test(
		t, ratios_never_rise_with_size_and_end_at_what_always_misses, 0,
		20);
	tcase_add_loop_test(
		t, distances_never_fall_nor_pass_the_accesses_between, 0, 20);
	tcase_add_test(t, nothing_measured_is_no_miss_and_no_crash);
	tcase_add_test(t, a_part_is_converted_with_the_distances_of_the_whole);
	suite_add_tcase(s, t);
	return run_suite(s);
}
