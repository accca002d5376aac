/* SPDX-License-Identifier: MIT */
/*
 * test_sampling - estimates and their intervals, of rates that are known
 *
 * A program is a rate, cycles by instruction, for each of its instructions. The
 * time that sampling sees is the sum of the rates.
 */
#include <math.h>

#include "analysis/base/student.h"
#include "analysis/model/sampling.h"
#include "tests/run_suite.h"

enum {
	SEEDS = 200,
	INSTRUCTIONS = 3000000,
	UNITS = 100,
};

static char error[SAMPLING_ERROR_BYTES];
static uint64_t period; /* of the programs below, in instructions */

/* The time before instruction @at. */
typedef double program(uint64_t at);

static double uniform(uint64_t at)
{
	return 1.5 * (double)at;
}

/* Half of each period takes 1 cycle an instruction, the other half 3. */
static double alternating(uint64_t at)
{
	uint64_t in = at % period, half = period / 2;

	return 2.0 * (double)(at - in) +
	       (double)(in < half ? in : half + 3 * (in - half));
}

/* It becomes slower all the time. */
static double rising(uint64_t at)
{
	return (double)at * (1 + (double)at / INSTRUCTIONS);
}

/* How many of the instructions before @at lie in one of three bursts. */
static uint64_t in_bursts(uint64_t at)
{
	uint64_t n = 0;

	for (uint64_t start = 700000; start < 2700000; start += 900000)
		if (at > start)
			n += at < start + 5000 ? at - start : 5000;
	return n;
}

/* An instruction takes a cycle, in the bursts 41. */
static double bursty(uint64_t at)
{
	return (double)at + 40.0 * (double)in_bursts(at);
}

static void begin(struct sampling *s, uint64_t seed)
{
	struct sampling_wish wish = { .units = UNITS, .seed = seed };

	ck_assert_msg(!sampling_init(s, INSTRUCTIONS, 1, &wish, error), "%s",
		      error);
}

/* Sample @p; the estimate of the whole. */
static struct sampling_estimate sample(struct sampling *s, program *p)
{
	struct sampling_estimate e;

	while (s->turn < INSTRUCTIONS)
		sampling_turn(s, p(s->turn));
	e = sampling_time(s, s->head, INSTRUCTIONS);
	e.cycles += s->head_cycles;
	return e;
}

/* How many of SEEDS intervals hold the time of @p. */
static int held(program *p)
{
	int n = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sampling s;
		struct sampling_estimate e;

		begin(&s, seed);
		e = sample(&s, p);
		n += fabs(e.cycles - p(INSTRUCTIONS)) <= e.error;
		sampling_release(&s);
	}
	return n;
}

START_TEST(a_uniform_program_is_estimated_without_an_error)
{
	struct sampling s;
	struct sampling_estimate e;

	begin(&s, 1);
	e = sample(&s, uniform);
	ck_assert_uint_eq(e.units, UNITS);
	ck_assert_double_eq_tol(e.cycles, uniform(INSTRUCTIONS), 1e-3);
	ck_assert_double_eq_tol(
		e.error, SAMPLING_ALONE * (e.cycles - s.head_cycles), 1e-3);
	sampling_release(&s);
}
END_TEST

START_TEST(units_do_not_overlap_and_each_stratum_has_one)
{
	struct sampling s;
	uint64_t end = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		begin(&s, seed);
		end = s.head;
		for (size_t i = 0; i < UNITS; i++) {
			uint64_t first = s.head + i * s.distance;

			while (s.phase != SAMPLING_MEASURE)
				sampling_turn(&s, 0);
			ck_assert_uint_ge(s.start, end);
			ck_assert_uint_ge(s.start, first);
			end = s.start + s.unit;
			ck_assert_uint_le(end, first + s.distance);
			ck_assert_uint_eq(s.turn, end);
			sampling_turn(&s, 0);
		}
		sampling_release(&s);
	}
}
END_TEST

START_TEST(the_interval_is_that_of_successive_differences)
{
	struct sampling s;
	struct sampling_estimate e;
	double n = UNITS, k, half, squares = 0;

	begin(&s, 3);
	s.doubt = 0;
	e = sample(&s, rising);
	k = (double)s.distance;
	for (size_t i = 1; i < UNITS; i++)
		squares +=
			pow(s.unit_of[i].cycles - s.unit_of[i - 1].cycles, 2);
	half = student_quantile(0.025, 2 * UNITS / 3) *
	       sqrt(n * k * k * (1 - (double)s.unit / k) * squares / 2 /
		    (n - 1));
	ck_assert_double_eq_tol(e.error / half, 1, 1e-3);
	sampling_release(&s);
}
END_TEST

START_TEST(intervals_hold_the_time_of_programs_that_alternate)
{
	/* Also at the distance of the units, at half and at twice that. */
	static const uint64_t periods[] = { 2000,  7000,  14700,  29400,
					    58800, 88200, 1000000 };

	for (size_t i = 0; i < sizeof(periods) / sizeof(*periods); i++) {
		int n;

		period = periods[i];
		n = held(alternating);
		ck_assert_msg(n >= SEEDS * 19 / 20 - 8, "period %d: %d",
			      (int)period, n);
	}
	ck_assert_int_ge(held(rising), SEEDS * 19 / 20 - 8);
}
END_TEST

/* The forecast of the instructions before @at of bursty(). */
static double bursty_forecast(uint64_t at)
{
	return 2 * ((double)at + 40.0 * (double)in_bursts(at));
}

/* An estimate with the forecast @f, told for @step instructions at a time. */
static struct sampling_estimate foresee(struct sampling *s, program *p,
					program *f, uint64_t step)
{
	struct sampling_estimate e;

	for (uint64_t at = 0; at < INSTRUCTIONS;) {
		uint64_t next = at + step;

		while (s->turn == at)
			sampling_turn(s, p(at));
		if (next > s->turn)
			next = s->turn;
		if (next > INSTRUCTIONS)
			next = INSTRUCTIONS;
		sampling_foresee(s, next, f(next) - f(at));
		at = next;
	}
	e = sampling_time(s, s->head, INSTRUCTIONS);
	e.cycles += s->head_cycles;
	return e;
}

/* Then neither place nor spread of the units matters. */
START_TEST(a_forecast_that_is_in_proportion_leaves_no_error)
{
	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sampling s;
		struct sampling_estimate e;

		begin(&s, seed);
		s.doubt = 0;
		e = foresee(&s, bursty, bursty_forecast, 50);
		ck_assert_double_eq_tol(e.cycles / bursty(INSTRUCTIONS), 1,
					1e-9);
		sampling_release(&s);
	}
}
END_TEST

/* Of half of the units; the time of the rest has nothing to do with it. */
static double alternating_forecast(uint64_t at)
{
	uint64_t saved = period;
	double cycles;

	period = 200000;
	cycles = alternating(at);
	period = saved;
	return cycles;
}

START_TEST(intervals_hold_with_a_forecast_that_says_nothing)
{
	static const uint64_t periods[] = { 2000, 14700, 29400, 1000000 };

	for (size_t i = 0; i < 4; i++) {
		int n = 0;

		period = periods[i];
		for (uint64_t seed = 0; seed < SEEDS; seed++) {
			struct sampling s;
			struct sampling_estimate e;

			begin(&s, seed);
			e = foresee(&s, alternating, alternating_forecast, 50);
			n += fabs(e.cycles - alternating(INSTRUCTIONS)) <=
			     e.error;
			sampling_release(&s);
		}
		ck_assert_msg(n >= SEEDS * 19 / 20 - 8, "period %d: %d",
			      (int)period, n);
	}
}
END_TEST

/*
 * The units see one and the same forecast, so they do not tell what a burst
 * that none of them meets is worth: all of it is in doubt.
 */
START_TEST(what_no_unit_tells_of_a_forecast_is_in_doubt)
{
	int unmet = 0;

	for (uint64_t seed = 0; seed < SEEDS; seed++) {
		struct sampling s;
		struct sampling_estimate e;
		bool met = false;

		begin(&s, seed);
		s.doubt = 0;
		/* as dear as the rest: the forecast is wrong */
		e = foresee(&s, uniform, bursty_forecast, 50);
		for (size_t i = 0; i < s.units; i++)
			met |= s.unit_of[i].forecast > 2.1;
		unmet += !met;
		if (!met)
			ck_assert(fabs(e.cycles - uniform(INSTRUCTIONS)) <=
				  1.001 * e.error);
		sampling_release(&s);
	}
	ck_assert_int_ge(unmet, SEEDS / 4);
}
END_TEST

START_TEST(a_part_of_the_program_has_its_own_interval)
{
	struct sampling s;
	struct sampling_estimate e, half;

	period = 29400;
	begin(&s, 1);
	e = sample(&s, alternating);
	half = sampling_time(&s, s.head, s.head + UNITS / 2 * s.distance);
	ck_assert_uint_eq(half.units, UNITS / 2);
	ck_assert(half.error < e.error);
	half = sampling_time(&s, s.head,
			     s.head + (SAMPLING_FEW - 1) * s.distance);
	ck_assert_uint_eq(half.units, SAMPLING_FEW - 1);
	ck_assert(isinf(half.error));
	sampling_release(&s);
}
END_TEST

START_TEST(too_few_instructions_are_refused)
{
	struct sampling_wish wish = { 0 };
	struct sampling s;

	ck_assert(sampling_init(&s, 899999, 1, &wish, error));
	ck_assert_msg(strstr(error, "need 900000") != NULL, "%s", error);
	ck_assert(!sampling_init(&s, 900000, 1, &wish, error));
	ck_assert(sampling_init(&s, 900000, 4, &wish, error));
	wish.units = 1000;
	ck_assert(sampling_init(&s, 900000, 1, &wish, error));
	ck_assert_msg(strstr(error, "for 1000 units") != NULL, "%s", error);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sampling");
	TCase *t = tcase_create("sampling");

	tcase_set_timeout(t, 300);
	tcase_add_test(t, a_uniform_program_is_estimated_without_an_error);
	tcase_add_test(t, units_do_not_overlap_and_each_stratum_has_one);
	tcase_add_test(t, the_interval_is_that_of_successive_differences);
	tcase_add_test(t, intervals_hold_the_time_of_programs_that_alternate);
	tcase_add_test(t, a_forecast_that_is_in_proportion_leaves_no_error);
	tcase_add_test(t, intervals_hold_with_a_forecast_that_says_nothing);
	tcase_add_test(t, what_no_unit_tells_of_a_forecast_is_in_doubt);
	tcase_add_test(t, a_part_of_the_program_has_its_own_interval);
	tcase_add_test(t, too_few_instructions_are_refused);
	suite_add_tcase(s, t);
	return run_suite(s);
}
