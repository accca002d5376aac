/* SPDX-License-Identifier: MIT */
/*
 * test_reuse_sim - the engine against an oracle that reads ahead
 */
#include <check.h>
#include <math.h>

#include "reuse_sim.h"
#include "reuse_traces.h"
#include "tests/run_suite.h"

static const struct trace_shape shapes[] = {
	{ 2, 2, 1, 1, 30, 40 },   { 2, 2, 2, 5, 60, 30 },
	{ 8, 4, 2, 3, 20, 50 },   { 32, 32, 2, 50, 40, 10 },
	{ 64, 64, 4, 1, 70, 20 }, { 64, 16, 1, 10, 10, 90 },
	{ 5, 5, 5, 2, 100, 50 },
};
enum {
	SHAPES = sizeof(shapes) / sizeof(shapes[0]),
	EVERY = SHAPES * REUSE_SCOPES * REUSE_GRANULARITIES,
	ACCESSES = 10000,
	OCTAVES = 3, /* of times in one bin */
	BIN_INVALIDATED = 8,
	BIN_OWN,
	BIN_DANGLING,
	BINS,
	MEANS = 2 * REUSE_SCOPES * REUSE_GRANULARITIES,
	MEAN_ACCESSES = 4000,
	REPLICATES = 150,
	SLOTS = 4,
};

static int by_use_and_end(const void *pa, const void *pb)
{
	const struct sim_event *a = pa, *b = pb;

	if (a->use != b->use)
		return a->use < b->use ? -1 : 1;
	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return 0;
}

static struct reuse_config config_of(int i, uint32_t slots)
{
	return (struct reuse_config){
		.scope = i / SHAPES % REUSE_SCOPES,
		.granularity = i / SHAPES / REUSE_SCOPES,
		.line_bytes = 64,
		.slots = slots,
	};
}

/* All fates of all uses, in the order of by_use_and_end. */
static struct sim_event *fates(const struct trace *t,
			       const struct reuse_config *c, uint32_t *n)
{
	struct sim_event *e = calloc(2 * t->n, sizeof(*e));

	ck_assert_ptr_nonnull(e);
	*n = 0;
	for (uint32_t i = 0; i < t->n; i++) {
		uint32_t lines = c->granularity == REUSE_LINE
					 ? lines_of(&t->access[i].a)
					 : 1;

		for (uint32_t k = 0; k < lines; k++) {
			struct fate f =
				trace_fate(t, i, c->scope, c->granularity, k);

			e[(*n)++] = (struct sim_event){
				.use = i,
				.end = f.end,
				.outcome = f.outcome,
				.time = f.time,
				.temporal = f.temporal,
				.weight = 1,
			};
		}
	}
	qsort(e, *n, sizeof(*e), by_use_and_end);
	return e;
}

START_TEST(every_use_meets_the_fate_that_reading_ahead_finds)
{
	struct reuse_config c = config_of(_i, REUSE_SLOTS_MAX);
	struct trace *t = trace_mixed(&shapes[_i % SHAPES], ACCESSES, _i);
	struct sim *s = sim_new(&c, 1);
	struct sim_event *want;
	uint32_t n;

	want = fates(t, &c, &n);
	sim_run(s, t, 1, NULL);
	ck_assert_uint_eq(s->events, n);
	qsort(s->event, n, sizeof(*s->event), by_use_and_end);
	for (uint32_t i = 0; i < n; i++) {
		const struct sim_event *have = &s->event[i];

		if (have->use != want[i].use || have->end != want[i].end ||
		    have->outcome != want[i].outcome ||
		    have->time != want[i].time ||
		    have->temporal != want[i].temporal || have->weight != 1)
			ck_abort_msg("use %u met %u, not %u: time %lu, not %lu",
				     want[i].use, have->end, want[i].end,
				     have->time, want[i].time);
	}
	free(want);
	sim_free(s);
	trace_free(t);
}
END_TEST

static int bin_of(enum reuse_outcome outcome, uint64_t time)
{
	int bin;

	switch (outcome) {
	case REUSE_INVALIDATED:
		return BIN_INVALIDATED;
	case REUSE_SAME_CORE:
		return BIN_OWN;
	case REUSE_DANGLING:
		return BIN_DANGLING;
	default:
		bin = (63 - __builtin_clzll(time)) / OCTAVES;
		return bin < BIN_INVALIDATED ? bin : BIN_INVALIDATED - 1;
	}
}

/*
 * All runs have the same trace; the sampled accesses and the draws for slots
 * differ. The mean over the runs must be within 5 of its standard errors of the
 * truth, which no comparison of some hundred misses by chance.
 */
START_TEST(with_few_slots_every_use_counts_for_one_in_the_mean)
{
	/* Of each scope and granularity, two of the shapes. */
	int i = _i / 2 * SHAPES + (_i % 2 ? 2 : 5);
	struct reuse_config c = config_of(i, SLOTS);
	struct trace *t = trace_mixed(&shapes[i % SHAPES], MEAN_ACCESSES, i);
	double truth[BINS] = { 0 }, sum[BINS] = { 0 }, square[BINS] = { 0 };
	const uint64_t period = 7;
	struct sim_event *want;
	struct rng rng;
	uint32_t n;

	rng_seed(&rng, 99, _i);
	want = fates(t, &c, &n);
	for (uint32_t k = 0; k < n; k++)
		truth[bin_of(want[k].outcome, want[k].time)]++;
	for (int r = 0; r < REPLICATES; r++) {
		struct sim *s = sim_new(&c, rng_next(&rng));
		double found[BINS] = { 0 };

		sim_run(s, t, period, &rng);
		for (uint32_t k = 0; k < s->events; k++)
			found[bin_of(s->event[k].outcome, s->event[k].time)] +=
				(double)(s->event[k].weight * period);
		for (int b = 0; b < BINS; b++) {
			sum[b] += found[b];
			square[b] += found[b] * found[b];
		}
		sim_free(s);
	}
	for (int b = 0; b < BINS; b++) {
		double mean = sum[b] / REPLICATES;
		double variance = square[b] / REPLICATES - mean * mean;
		double error = sqrt(variance / REPLICATES);

		if (truth[b] == 0)
			ck_assert_double_eq(mean, 0);
		/* Of what is rarer the mean of the runs is not normal. */
		else if (truth[b] > MEAN_ACCESSES / 50)
			ck_assert_msg(fabs(mean - truth[b]) < 5 * error,
				      "bin %d: %.1f, not %.1f +- %.1f", b, mean,
				      truth[b], error);
	}
	free(want);
	trace_free(t);
}
END_TEST

START_TEST(weights_add_up_to_the_uses_that_came)
{
	struct reuse_config c = config_of(_i, SLOTS);
	struct trace *t = trace_mixed(&shapes[_i % SHAPES], ACCESSES, _i);
	struct sim *s = sim_new(&c, 1);
	struct reuse_stats stats;
	uint64_t weights = 0;
	struct rng rng;

	rng_seed(&rng, 1, _i);
	sim_run(s, t, 7, &rng);
	stats = reuse_stats(s->reuse);
	for (uint32_t i = 0; i < s->events; i++)
		weights += s->event[i].weight;
	ck_assert_uint_ge(stats.uses, ACCESSES / 14);
	ck_assert_uint_eq(weights, stats.uses);
	ck_assert_uint_gt(stats.displaced, 0);
	ck_assert_uint_eq(stats.accepted, stats.displaced + s->events);
	ck_assert_uint_eq(stats.busy + stats.failed + stats.stale, 0);
	sim_free(s);
	trace_free(t);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("reuse_sim");
	TCase *tc = tcase_create("reuse_sim");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc,
			    every_use_meets_the_fate_that_reading_ahead_finds,
			    0, EVERY);
	tcase_add_loop_test(tc, weights_add_up_to_the_uses_that_came, 0, EVERY);
	tcase_add_loop_test(tc,
			    with_few_slots_every_use_counts_for_one_in_the_mean,
			    0, MEANS);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
