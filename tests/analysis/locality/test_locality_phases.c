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
static struct reuse_histogram part[STRETCHES];
static struct locality in[STRETCHES];
static struct locality_phase phase[STRETCHES];

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

/* Make l and h from all samples, and the phases from each stretch. */
static void take_phases(const struct trace *t, uint64_t period, uint64_t seed)
{
	struct rng rng;

	rng_seed(&rng, seed, 1);
	memset(&h, 0, sizeof(h));
	for (uint32_t i = 0; i < STRETCHES; i++) {
		uses_of(&part[i], t, i * STRETCH, (i + 1) * STRETCH, period,
			&rng);
		reuse_histogram_merge(&h, &part[i]);
		locality_init(&in[i], &part[i]);
		phase[i].in = &in[i];
		phase[i].start = i * STRETCH;
	}
	locality_init(&l, &h);
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
	locality_bend(&l, phase, STRETCHES);
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

		locality_bend(&l, phase, STRETCHES);
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
	locality_bend(&l, phase, 1);
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
	locality_bend(&l, phase, STRETCHES);
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

/* A file may claim anything. */
START_TEST(whatever_phases_say_ratios_never_rise)
{
	double last = 1;
	struct trace t;
	struct rng rng;

	rng_seed(&rng, (uint64_t)_i, 4);
	alternate(&t, 5);
	take_phases(&t, 10, 5);
	for (uint32_t i = 0; i < STRETCHES; i++) {
		for (uint32_t k = 0; k < REUSE_BINS; k++)
			if (rng_below(&rng, 2))
				part[i].reuse[k].weight *=
					exp2((double)rng_below(&rng, 60) - 30);
		locality_init(&in[i], &part[i]);
		if (i)
			phase[i].start = phase[i - 1].start +
					 exp2((double)rng_below(&rng, 60) - 30);
	}
	locality_bend(&l, phase, STRETCHES);
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

/*
 * The first stretch stores to lines once, then comes a long loop over few of
 * them, and the last stretch goes over the first lines again. The windows of
 * these reuses end in the loop, where hardly any line is new: they hold the
 * lines of the first stretch and of the loop, however long the loop takes.
 */
static void fill_loop_read(struct trace *t)
{
	trace_init(t, STRETCHES * STRETCH, STRETCH + NARROW);
	for (uint32_t i = 0; i < t->accesses; i++)
		t->line[i] = i < STRETCH ? i
			     : i < (STRETCHES - 1) * STRETCH
				     ? STRETCH + i % NARROW
				     : i % STRETCH;
}

START_TEST(each_access_of_a_window_counts_by_its_own_phase)
{
	double rd = (STRETCHES - 1) * STRETCH - 1;
	uint64_t period = _i ? 100 : 1;
	double distance;
	struct trace t;

	fill_loop_read(&t);
	take_phases(&t, period, (uint64_t)_i);
	locality_bend(&l, phase, STRETCHES);
	distance = locality_distance(&l, rd);
	/* As if one window were like the other, there is no new line in 7. */
	ck_assert_double_eq_tol(distance, STRETCH + NARROW, 0.1 * STRETCH);
	trace_release(&t);
}
END_TEST

static void add_uses(struct reuse_histogram *to, uint64_t time, int uses)
{
	for (int i = 0; i < uses; i++)
		reuse_histogram_add(to, time, 100);
}

/*
 * Seven phases reuse lines after 10 and 1000 accesses. Two reuses after 500 are
 * in a phase where no other line comes back, so that they are further apart
 * than those after 1000. That must not move those after 1000.
 */
START_TEST(few_uses_that_are_far_apart_move_no_longer_ones)
{
	memset(part, 0, sizeof(part));
	memset(&h, 0, sizeof(h));
	for (uint32_t i = 0; i < STRETCHES; i++) {
		add_uses(&part[i], i == 3 ? 500 : 10, i == 3 ? 2 : 900);
		add_uses(&part[i], 1000, i == 3 ? 0 : 100);
		for (int k = 0; i == 3 && k < 200; k++)
			reuse_histogram_add_never(&part[i], UINT64_MAX, 100);
		reuse_histogram_merge(&h, &part[i]);
		locality_init(&in[i], &part[i]);
		phase[i].in = &in[i];
		phase[i].start = i * STRETCH;
	}
	locality_init(&l, &h);
	locality_bend(&l, phase, STRETCHES);
	/* Of 1000 accesses 900 come back after 9 others. */
	ck_assert_double_eq_tol(locality_distance(&l, 999), 0.9 * 9 + 0.1 * 999,
				3);
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
	tcase_add_loop_test(t, each_access_of_a_window_counts_by_its_own_phase,
			    0, 4);
	tcase_add_test(t, few_uses_that_are_far_apart_move_no_longer_ones);
	suite_add_tcase(s, t);
	return run_suite(s);
}
