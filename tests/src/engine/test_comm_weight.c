/* SPDX-License-Identifier: MIT */
/*
 * test_comm_weight - detections at a lower rate weigh more, and shares stay
 *
 * plain only: the claims are about sums over millions of accesses.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>

#include "src/base/interval.h"
#include "comm_sim.h"
#include "tests/run_suite.h"

enum {
	SEEDS = 20,
	STEPS = 3000000,
	PERIOD = 250,
	SLOW = 4,
	FULL = 200, /* samples of all threads */
};

/*
 * Threads 0 and 1 have a word each in a line and use it often, in a quarter of
 * the time alone; 2 and 3 use a common word, one access in fifteen.
 */
static void often_and_seldom(struct sim *s, uint32_t thread, struct access *a)
{
	bool busy = s->now / 100000 % 4 == 0;
	uint32_t one_in = thread < 2 ? (busy ? 3 : 1000000) : 15;

	sim_private(s, thread, a);
	if (rng_below(&s->rng, one_in))
		return;
	a->addr = thread < 2 ? 0x1000 + thread * 8 : 0x2000;
	a->flags = ACCESS_STORE;
}

struct outcome {
	double share, total, samples;
	bool covers; /* its interval has the share that is given */
};

static struct outcome simulate(uint32_t slow, uint64_t seed, double truth)
{
	struct sim *s = sim_new(often_and_seldom, 4, PERIOD, seed);
	struct outcome o;
	struct interval v;
	double design = 1;

	s->slow = slow;
	s->full = FULL;
	s->full_left = FULL;
	for (uint32_t i = 0; slow && i < s->threads; i++)
		s->thread[i].left_low = 1 + rng_below(&s->rng, slow * PERIOD);
	s->comm.arm_one_in = 8;
	/* A watch always ends with the next sample. */
	s->comm.watch_expiry = PERIOD * s->threads / 2;
	sim_run(s, STEPS);
	o.total = sim_kind(s, SHARING_FALSE) + sim_kind(s, SHARING_TRUE);
	o.share = sim_kind(s, SHARING_FALSE) / o.total;
	o.samples = sim_samples(s);
	for (int k = 0; k < SHARING_KINDS; k++)
		design = fmax(design, s->squares[k] / sim_kind(s, k));
	v = interval_share(o.share * o.total / design, o.total / design);
	o.covers = v.low <= truth && truth <= v.high;
	sim_free(s);
	return o;
}

/*
 * Intervals as in tally.c; twenty interleavings of each, none of them the same.
 */
START_TEST(shares_sums_and_intervals_are_those_of_the_full_rate)
{
	struct outcome full[SEEDS], low[SEEDS];
	double mean[2] = { 0 }, error = 0, sum[2] = { 0 }, samples = 0;
	double sum_error = 0;
	int covered = 0, control = 0;

	for (int i = 0; i < SEEDS; i++) {
		full[i] = simulate(0, i, 0);
		mean[0] += full[i].share / SEEDS;
		sum[0] += full[i].total / SEEDS;
	}
	for (int i = 0; i < SEEDS; i++)
		control += simulate(0, i, mean[0]).covers;
	for (int i = 0; i < SEEDS; i++) {
		low[i] = simulate(SLOW, SEEDS + i, mean[0]);
		mean[1] += low[i].share / SEEDS;
		sum[1] += low[i].total / SEEDS;
		covered += low[i].covers;
		samples += low[i].samples / full[i].samples / SEEDS;
	}
	for (int i = 0; i < SEEDS; i++) {
		error += pow(full[i].share - mean[0], 2) +
			 pow(low[i].share - mean[1], 2);
		sum_error += pow(full[i].total - sum[0], 2) +
			     pow(low[i].total - sum[1], 2);
	}
	error = sqrt(error / SEEDS / (SEEDS - 1));
	sum_error = sqrt(sum_error / SEEDS / (SEEDS - 1));
	printf("share %.3f and %.3f +- %.3f, sums %.0f and %.0f +- %.0f, %.0f "
	       "%% of the samples, %d (%d) of %d intervals\n",
	       mean[0], mean[1], error, sum[0], sum[1], sum_error,
	       100 * samples, covered, control, SEEDS);
	fflush(stdout);
	ck_assert_double_lt(samples, .8);
	ck_assert_double_lt(fabs(mean[1] - mean[0]), 3 * error);
	ck_assert_double_lt(fabs(sum[1] - sum[0]), 3 * sum_error);
	ck_assert_int_ge(covered, SEEDS - 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("comm_weight");
	TCase *t = tcase_create("weight");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, shares_sums_and_intervals_are_those_of_the_full_rate);
	suite_add_tcase(s, t);
	return run_suite(s);
}
