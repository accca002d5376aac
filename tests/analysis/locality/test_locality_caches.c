/* SPDX-License-Identifier: MIT */
/*
 * test_locality_caches - caches with random eviction, and caches with sets
 *
 * They are compared with simulations and closed forms.
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "analysis/locality/locality.h"
#include "analysis/locality/binomial.h"
#include "analysis/locality/random.h"
#include "tests/oracle/stack_oracle.h"
#include "tests/run_suite.h"

static struct reuse_histogram h;
static struct locality l;

START_TEST(random_replacement_is_what_a_simulated_cache_does)
{
	static const uint32_t ways[] = { 16, 64, 256 };
	struct trace t;

	trace_pattern(&t, _i, 400000, 2000, 9);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	for (int i = 0; i < 3; i++) {
		double model = locality_miss_random(&l, &h, ways[i]);
		double truth = simulate(&t, 1, ways[i], true, 1);

		ck_assert_msg(fabs(model - truth) <= 0.02,
			      "pattern %d, %u lines: %.4f, simulated %.4f", _i,
			      ways[i], model, truth);
	}
	trace_release(&t);
}
END_TEST

static const struct {
	uint32_t sets, ways;
} caches[] = { { 64, 1 },  { 64, 4 },  { 64, 8 },
	       { 512, 1 }, { 512, 4 }, { 1024, 16 } };

/* Renumber the lines, so that their sets are as good as random. */
static void shuffle_lines(struct trace *t, uint64_t seed)
{
	uint32_t *name = oracle_alloc(t->lines, sizeof(*name));
	struct rng r;

	rng_seed(&r, seed, 1);
	for (uint32_t i = 0; i < t->lines; i++)
		name[i] = (uint32_t)(rng_next(&r) >> 34);
	for (uint32_t i = 0; i < t->accesses; i++)
		t->line[i] = name[t->line[i]];
	free(name);
}

/*
 * Uses exact distances instead of StatStack's, so that it tests the sets alone:
 * the sum over accesses of the chance that the set is full.
 */
START_TEST(sets_are_what_simulated_caches_have)
{
	uint32_t sets = caches[_i].sets, ways = caches[_i].ways;

	for (int p = 0; p < PATTERNS; p++) {
		double model, truth;
		struct trace t;

		/* A walk stays in a few sets even with random line numbers. */
		if (p == PATTERN_STACK)
			continue;
		trace_pattern(&t, p, 400000, 10000, 10);
		histogram_of(&h, &t);
		locality_init(&l, &h);
		model = locality_miss_ways(&l, &h, sets, ways);
		shuffle_lines(&t, 2);
		truth = simulate(&t, sets, ways, false, 1);
		ck_assert_msg(fabs(model - truth) <= 0.02,
			      "pattern %d, %u x %u: %.4f, simulated %.4f", p,
			      sets, ways, model, truth);
		trace_release(&t);
	}
}
END_TEST

START_TEST(one_set_is_a_whole_cache)
{
	struct trace t;

	trace_pattern(&t, PATTERN_HOT, 100000, 2000, 11);
	histogram_of(&h, &t);
	locality_init(&l, &h);
	ck_assert_double_eq(locality_miss_ways(&l, &h, 1, 512),
			    locality_miss_stack(&l, &h, 512));
	trace_release(&t);
}
END_TEST

/* P(X >= k) term by term. */
static double tail_by_terms(int n, double p, int k)
{
	double sum = 0;

	for (int i = k; i <= n; i++)
		sum += exp(lgamma(n + 1) - lgamma(i + 1) - lgamma(n - i + 1) +
			   i * log(p) + (n - i) * log1p(-p));
	return sum;
}

START_TEST(binomial_tail_is_the_sum_of_its_terms)
{
	static const struct {
		int n;
		double p;
	} of[] = { { 1, 0.5 },    { 10, 0.1 },      { 100, 1. / 64 },
		   { 1000, 0.3 }, { 100000, 1e-4 }, { 20000, 0.5 },
		   { 50000, 0.9 } };
	int n = of[_i].n;
	double p = of[_i].p, spread = sqrt(n * p * (1 - p));

	for (double z = -4; z <= 4; z += 0.5) {
		int k = (int)round(n * p + z * spread);

		if (k < 0 || k > n)
			continue;
		ck_assert_double_eq_tol(binomial_tail(n, p, k),
					tail_by_terms(n, p, k), 2e-5);
	}
	ck_assert_double_eq(binomial_tail(n, p, 0), 1);
	ck_assert_double_eq(binomial_tail(n, p, n + 1), 0);
	ck_assert_double_eq(binomial_tail(n, 0, 1), 0);
	ck_assert_double_eq(binomial_tail(n, 1, n), 1);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("locality_caches");
	TCase *t = tcase_create("locality_caches");

	suite_add_tcase(suite, t);
	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t,
			    random_replacement_is_what_a_simulated_cache_does,
			    0, PATTERNS);
	tcase_add_loop_test(t, sets_are_what_simulated_caches_have, 0,
			    sizeof(caches) / sizeof(caches[0]));
	tcase_add_test(t, one_set_is_a_whole_cache);
	tcase_add_loop_test(t, binomial_tail_is_the_sum_of_its_terms, 0, 7);
	return run_suite(suite);
}
