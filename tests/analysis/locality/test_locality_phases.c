/* SPDX-License-Identifier: MIT */
/*
 * test_locality_phases - streams that change as they go on, against exact LRU
 * stacks
 */
#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/locality/locality.h"
#include "analysis/locality/band.h"
#include "analysis/locality/phases.h"
#include "tests/oracle/stack_oracle.h"
#include "tests/run_suite.h"

enum {
	STRETCHES = 8,
	STRETCH = 50000, /* accesses */
	WIDE = 2000,     /* lines */
	NARROW = 32,
};

static struct reuse_histogram h;
static struct locality l;
static struct locality_phases phases;

/*
 * Sample one in @period of the accesses from @from to before @to, and follow
 * each.
 */
static void uses_of(struct reuse_histogram *of, const struct trace *t,
		    uint32_t from, uint32_t to, uint64_t period,
		    struct rng *rng)
{
	uint32_t *next = oracle_alloc(t->lines, sizeof(*next));

	memset(of, 0, sizeof(*of));
	for (uint32_t i = t->accesses; i-- > from;) {
		uint32_t *n = &next[t->line[i]];

		if (i < to && rng_below(rng, period) == 0) {
			if (*n)
				reuse_histogram_add(of, *n - 1 - i,
						    (double)period);
			else
				reuse_histogram_add_never(of, t->accesses - i,
							  (double)period);
		}
		*n = i + 1;
	}
	free(next);
}

/* Make l and h from all samples, and phases from each stretch. */
static void take_phases(const struct trace *t, uint64_t period, uint64_t seed)
{
	static struct reuse_histogram part[STRETCHES];
	static struct locality one;
	struct rng rng;

	rng_seed(&rng, seed, 1);
	memset(&h, 0, sizeof(h));
	memset(&phases, 0, sizeof(phases));
	for (uint32_t i = 0; i < STRETCHES; i++) {
		uses_of(&part[i], t, i * STRETCH, (i + 1) * STRETCH, period,
			&rng);
		reuse_histogram_merge(&h, &part[i]);
	}
	locality_init(&l, &h);
	for (uint32_t i = 0; i < STRETCHES; i++) {
		locality_init(&one, &part[i]);
		locality_phase(&phases, &l, &one, STRETCH);
	}
}

static double worst_error(const struct trace *t)
{
	uint32_t *d = distances_by_tree(t);
	double worst = 0;

	for (uint32_t c = 64; c <= 16384; c *= 2)
		worst = fmax(worst, fabs(locality_miss_stack(&l, &h, c) -
					 share_from(d, t->accesses, c)));
	free(d);
	return worst;
}

/* Stretches alternate between many lines and few. */
static void alternate(struct trace *t, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed, 2);
	trace_init(t, STRETCHES * STRETCH, WIDE + NARROW);
	for (uint32_t i = 0; i < t->accesses; i++)
		t->line[i] = i / STRETCH % 2 ? WIDE + i % NARROW
					     : (uint32_t)rng_below(&rng, WIDE);
}

START_TEST(a_phase_has_windows_of_its_own)
{
	uint64_t period = _i ? 100 : 1;
	double without, with;
	struct trace t;

	alternate(&t, (uint64_t)_i);
	take_phases(&t, period, (uint64_t)_i);
	without = worst_error(&t);
	locality_bend(&l, &phases);
	with = worst_error(&t);
	/*
	 * One reuse in 25 of the wide stretches ends in the next one. A share
	 * of 4,000 samples has a standard error of 0.008.
	 */
	ck_assert_msg(without > 0.15 && with < 0.045,
		      "%.4f without phases, %.4f with", without, with);
	trace_release(&t);
}
END_TEST

START_TEST(phases_that_are_alike_change_nothing)
{
	static const uint32_t size[] = { 64, 999, 1000, 4096 };
	struct trace t;

	trace_pattern(&t, PATTERN_CYCLE, STRETCHES * STRETCH, 1000, 1);
	take_phases(&t, 1, 1);
	for (int i = 0; i < 4; i++) {
		double before = locality_miss_stack(&l, &h, size[i]), after;
		size_t bends = l.bends;

		locality_bend(&l, &phases);
		after = locality_miss_stack(&l, &h, size[i]);
		ck_assert_uint_eq(bends, i ? l.bends : 0);
		ck_assert_double_eq_tol(before, after, 1e-9);
		ck_assert_double_eq_tol(
			after, size[i] < 1000 ? 1 : 1000. / t.accesses, 1e-9);
	}
	trace_release(&t);
}
END_TEST

START_TEST(one_phase_is_none)
{
	struct trace t;

	trace_pattern(&t, PATTERN_UNIFORM, STRETCHES * STRETCH, 1000, 1);
	take_phases(&t, 1, 1);
	phases.phases = 1;
	locality_bend(&l, &phases);
	ck_assert_uint_eq(l.bends, 0);
	ck_assert_double_eq(locality_bent(&l, 12.5), 12.5);
	ck_assert_double_eq(locality_unbent(&l, 12.5), 12.5);
	trace_release(&t);
}
END_TEST

START_TEST(bent_distances_never_fall_and_can_be_undone)
{
	double last = 0, last_back = 0;
	struct trace t;

	alternate(&t, 3);
	take_phases(&t, 10, 3);
	locality_bend(&l, &phases);
	ck_assert_uint_gt(l.bends, 10);
	for (double d = 0; d < 2 * WIDE; d += 0.5) {
		double bent = locality_bent(&l, d);
		double back = locality_unbent(&l, d);

		ck_assert_double_ge(bent, last);
		ck_assert_double_ge(back, last_back);
		/* It is the least distance with this image. */
		ck_assert_double_le(locality_unbent(&l, bent), d + 1e-9);
		ck_assert_double_ge(locality_bent(&l, back + 1e-6), d - 1e-3);
		last = bent;
		last_back = back;
	}
	trace_release(&t);
}
END_TEST

/* A file may claim anything: no distance, then all of them at once. */
START_TEST(whatever_phases_say_ratios_never_rise)
{
	double last = 1;
	struct trace t;
	struct rng rng;

	rng_seed(&rng, (uint64_t)_i, 4);
	alternate(&t, 5);
	take_phases(&t, 10, 5);
	for (uint32_t i = 0; i < REUSE_BINS; i++)
		if (rng_below(&rng, 2))
			phases.distance[i] *=
				exp2((double)rng_below(&rng, 60) - 30);
	locality_bend(&l, &phases);
	for (double c = 1; c < 1e9; c *= 1.5) {
		double ratio = locality_miss_stack(&l, &h, c);
		struct interval by = locality_band(&l, &h, c);

		ck_assert_double_le(ratio, last + 1e-12);
		ck_assert_double_ge(ratio, 0);
		ck_assert(by.low <= ratio + 1e-9 && by.high >= ratio - 1e-9);
		last = ratio;
	}
	trace_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("locality_phases");
	TCase *t = tcase_create("locality_phases");

	tcase_set_timeout(t, 120);
	tcase_add_loop_test(t, a_phase_has_windows_of_its_own, 0, 4);
	tcase_add_test(t, phases_that_are_alike_change_nothing);
	tcase_add_test(t, one_phase_is_none);
	tcase_add_test(t, bent_distances_never_fall_and_can_be_undone);
	tcase_add_loop_test(t, whatever_phases_say_ratios_never_rise, 0, 5);
	suite_add_tcase(s, t);
	return run_suite(s);
}
