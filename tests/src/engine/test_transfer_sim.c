/* SPDX-License-Identifier: MIT */
/*
 * test_transfer_sim - the estimators against the exact directory
 *
 * Both see the same streams. A claim about a mean is judged by its standard
 * error over the seeds; that error must be small too, or the claim would always
 * hold. Seeds are fixed, so results do not change from run to run.
 *
 * plain only: the claims are about means over hundreds of millions of accesses.
 * The other tests of transfer take the same paths under AddressSanitizer.
 */
#include <check.h>
#include <math.h>

#include "transfer_patterns.h"
#include "tests/run_suite.h"

enum {
	PERIOD = 200,
	STEPS = 400000,
	DELAY = 100,
	SEEDS = 12,
	SEEDS_FOR_CHAINS = 28,
	SEEDS_FOR_FEW = 72, /* where few samples tell anything */
	SEEDS_FOR_CELLS = 6
};

static const struct pattern_case cases[] = {
	{ "volume-0.1", pattern_write_volume, 4, 0.1, 0, 1 },
	{ "volume-1", pattern_write_volume, 8, 1, 0, 1 },
	{ "volume-0.5", pattern_write_volume, 32, 0.5, 0, 1 },
	{ "volume-0.5-runs", pattern_write_volume, 4, 0.5, 0, 20 },
	{ "false-0.5", pattern_false_sharing, 8, 0.5, 0, 1 },
	{ "pairs", pattern_pairs, 4, 0, 0, 1 },
	{ "bursts-10", pattern_bursts, 4, 0, 10, 1 },
	{ "ring", pattern_ring, 4, 0, 0, 1 },
	{ "lock", pattern_lock, 4, 0, 0, 1 },
	{ "lines", pattern_many_lines, 4, 0, 100, 1 },
	{ "read-mostly", pattern_read_mostly, 4, 0.05, 0, 1 },
	{ "counters", pattern_counters, 8, 0, 0, 1 },
	{ "seqlock", pattern_seqlock, 4, 0.1, 0, 1 },
	{ "references", pattern_references, 4, 0.5, 64, 1 },
	{ "tickets", pattern_tickets, 4, 0, 0, 1 },
	{ "straddling", pattern_straddling, 4, 0.3, 0, 1 },
	{ "phases", pattern_phases, 4, 0, 2000, 1 },
	{ "turns", pattern_read_write, 4, 1, 0, 30 },
	{ "startup", pattern_startup, 4, 0.3, 10, 1 },
};

/* Lines that are filled, read and left for long. */
static const struct pattern_case handoff = { "handoff", pattern_handoff, 4,
					     0,         100000,          1 };

enum {
	CASES = sizeof(cases) / sizeof(cases[0])
};

struct outcome {
	double error, standard_error; /* of the total, relative */
	double of_false, true_false;  /* fractions */
	double covered, cells;        /* by intervals; cells with 10 samples */
};

static struct tsim *run(const struct pattern_case *p, enum transfer_kind kind,
			bool whole, uint64_t delay, uint64_t seed)
{
	struct transfer_config c = {
		.kind = kind,
		.slots = whole ? 4 : 1,
		.chunk_bytes = whole ? TSIM_LINE : 8,
		.ranges = whole ? 1 : 4,
	};
	struct tsim *s = tsim_new(p->pattern, p->threads, PERIOD, seed);

	s->fraction = p->fraction;
	s->number = p->number;
	s->run = p->run;
	tsim_add(s, c, delay);
	tsim_run(s, STEPS);
	return s;
}

static void cover(const struct tsim *s, struct outcome *o)
{
	struct transfer_sampling by = tsim_sampling(s, 0);

	for (uint32_t b = 1; b < s->threads; b++)
		for (uint32_t a = 0; a < b; a++) {
			const struct transfer_cell *c = transfer_tally_cell(
				s->estimator[0]->tally, a, b);
			struct interval i =
				transfer_interval(&c->share[TRANSFER_ALL], &by);
			double truth = tsim_truth(s, a, b);

			if (c->samples < 10)
				continue;
			o->cells++;
			o->covered += i.low <= truth && truth <= i.high;
		}
}

static struct outcome try(const struct pattern_case *p, enum transfer_kind kind,
			  bool whole, uint64_t delay, uint32_t seeds)
{
	double sum = 0, squares = 0, n = seeds;
	struct outcome o = { 0 };

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct tsim *s = run(p, kind, whole, delay, seed);
		const struct transfer_cell *total =
			transfer_tally_total(s->estimator[0]->tally);
		struct exact_cell truth = exact_total(s->exact);
		double error =
			total->share[TRANSFER_ALL].sum / truth.transfers - 1;

		ck_assert_uint_gt(truth.transfers, 1000);
		sum += error;
		squares += error * error;
		o.of_false += total->share[TRANSFER_FALSE].sum /
			      total->share[TRANSFER_ALL].sum / n;
		o.true_false +=
			(double)truth.false_sharing / truth.transfers / n;
		cover(s, &o);
		tsim_free(s);
	}
	o.error = sum / n;
	o.standard_error = sqrt((squares / n - o.error * o.error) / (n - 1));
	return o;
}

static void check_unbiased(const struct pattern_case *p, struct outcome o)
{
	ck_assert_msg(fabs(o.error) <= 3.5 * o.standard_error &&
			      o.standard_error <= 0.04 &&
			      fabs(o.of_false - o.true_false) <= 0.05,
		      "%s: %+.3f +- %.3f, false %.3f of %.3f", p->name, o.error,
		      o.standard_error, o.of_false, o.true_false);
}

START_TEST(epochs_armed_at_once_are_unbiased)
{
	const struct pattern_case *p = &cases[_i];
	bool few = p->pattern == pattern_startup ||
		   p->pattern == pattern_read_write;

	check_unbiased(p, try(p, TRANSFER_EPOCH, true, 0,
			      few ? SEEDS_FOR_FEW : SEEDS));
}
END_TEST

START_TEST(chains_armed_late_stay_near_the_truth)
{
	struct outcome o =
		try(&cases[_i], TRANSFER_CHAIN, true, DELAY, SEEDS_FOR_CHAINS);

	ck_assert_msg(fabs(o.error) <= 0.12 && o.standard_error <= 0.04 &&
			      fabs(o.of_false - o.true_false) <= 0.05,
		      "%s: %+.3f +- %.3f, false %.3f of %.3f", cases[_i].name,
		      o.error, o.standard_error, o.of_false, o.true_false);
}
END_TEST

/*
 * Not so if too few samples fall on a line to know it and its neighbours are
 * used otherwise, as in the pattern lines: docs/estimators.md.
 */
START_TEST(four_words_of_a_line_stay_in_sight_of_the_truth)
{
	struct outcome o;

	if (cases[_i].pattern == pattern_many_lines)
		return;
	o = try(&cases[_i], TRANSFER_EPOCH, false, 0, SEEDS);

	ck_assert_msg(fabs(o.error) <= 0.25 && o.standard_error <= 0.08,
		      "%s: %+.3f +- %.3f", cases[_i].name, o.error,
		      o.standard_error);
}
END_TEST

START_TEST(lines_of_few_stores_are_counted_by_epochs)
{
	check_unbiased(&handoff,
		       try(&handoff, TRANSFER_EPOCH, true, 0, SEEDS_FOR_FEW));
}
END_TEST

enum {
	LIVE_LINES = 128,
	BURST = 8,
	PAUSE = 6000
};

/*
 * Each of LIVE_LINES lines gets number stores, in bursts, then another line
 * takes its place. So the epochs before a pause have more transfers.
 */
static void short_lives(struct tsim *s, uint32_t thread, struct access *a)
{
	uint32_t i = rng_below(&s->rng, LIVE_LINES);
	uint64_t *line = &s->shared[i], *stores = line + LIVE_LINES,
		 *next = stores + LIVE_LINES;

	if (!pattern_chance(s, s->fraction)) {
		pattern_private(s, thread, a);
		a->flags = ACCESS_LOAD;
		return;
	}
	if (*stores == s->number) {
		++*line;
		*stores = 0;
	}
	pattern_word(a, *line * LIVE_LINES + i, rng_below(&s->rng, 8),
		     ACCESS_LOAD);
	if (s->now < *next || rng_below(&s->rng, 2))
		return;
	a->flags = ACCESS_STORE;
	if (++*stores % BURST == 0)
		*next = s->now + PAUSE;
}

struct ratio {
	double mean, error;
};

/* Estimated over exact transfers of @config and @delay, over @seeds seeds. */
static struct ratio ratio_over(tsim_pattern *pattern, uint32_t number,
			       struct transfer_config config, uint64_t delay,
			       uint64_t steps, uint64_t seeds)
{
	double sum = 0, squares = 0, n = (double)seeds;

	for (uint64_t seed = 1; seed <= seeds; seed++) {
		struct tsim *s = tsim_new(pattern, 4, PERIOD, seed);
		double x;

		s->fraction = 0.4;
		s->number = number;
		tsim_add(s, config, delay);
		tsim_run(s, steps);
		x = transfer_tally_total(s->estimator[0]->tally)
			    ->share[TRANSFER_ALL]
			    .sum /
		    exact_total(s->exact).transfers;
		sum += x;
		squares += x * x;
		tsim_free(s);
	}
	return (struct ratio){
		sum / n, sqrt((squares / n - sum / n * (sum / n)) / (n - 1))
	};
}

/*
 * A line has too few stores for most chains. If some are completed after a
 * pause, long epochs are replaced by the mean and short ones are not.
 */
START_TEST(chains_armed_at_once_are_unbiased_on_lines_of_few_stores)
{
	struct transfer_config c = {
		.kind = TRANSFER_CHAIN,
		.slots = TRANSFER_SLOTS_MAX,
		.chunk_bytes = TSIM_LINE,
		.ranges = 1,
		.settle = 1000,
	};
	struct ratio r =
		ratio_over(short_lives, 64, c, 0, STEPS, SEEDS_FOR_FEW);

	ck_assert_msg(fabs(r.mean - 1) <= 3 * r.error && r.error <= 0.02,
		      "%.3f +- %.3f", r.mean, r.error);
}
END_TEST

enum {
	USED_LINES = 8,
	USED_STORES = 150,
	USED_DELAY = 200, /* some five stores to a line */
	USED_STEPS = 200000
};

/* Each of USED_LINES lines gets USED_STORES stores, without a pause. */
static void short_use(struct tsim *s, uint32_t thread, struct access *a)
{
	uint32_t i = rng_below(&s->rng, USED_LINES);
	uint64_t *line = &s->shared[i], *stores = line + USED_LINES;

	if (!pattern_chance(s, s->fraction)) {
		pattern_private(s, thread, a);
		a->flags = ACCESS_LOAD;
		return;
	}
	if (*stores == USED_STORES) {
		++*line;
		*stores = 0;
	}
	pattern_word(a, *line * USED_LINES + i, rng_below(&s->rng, 8),
		     ACCESS_LOAD);
	if (rng_below(&s->rng, 2))
		return;
	a->flags = ACCESS_STORE;
	++*stores;
}

/*
 * Most lines end before a chain is complete. No watch sees what comes after the
 * last five stores of the 150, and nothing comes after the last one: that epoch
 * is in the means of the last hundred samples, of 1, 2, 3 ... epochs, which is
 * worth five more stores. If samples whose chain still skips stores counted
 * nothing, 32 more would be missing.
 */
START_TEST(chains_that_lines_cut_short_count_what_they_saw)
{
	struct transfer_config c = {
		.kind = TRANSFER_CHAIN,
		.slots = TRANSFER_SLOTS_MAX,
		.chunk_bytes = TSIM_LINE,
		.ranges = 1,
	};
	struct ratio r = ratio_over(short_use, 0, c, USED_DELAY, USED_STEPS,
				    SEEDS_FOR_CHAINS);

	ck_assert_msg(fabs(r.mean - 140.0 / 150) <= 3 * r.error &&
			      r.error <= 0.02,
		      "%.3f +- %.3f", r.mean, r.error);
}
END_TEST

START_TEST(epochs_armed_late_count_too_much)
{
	static const struct pattern_case runs = { "runs", pattern_write_volume,
						  4,      0.5,
						  0,      20 };
	struct outcome o = try(&runs, TRANSFER_EPOCH, true, DELAY, 4);

	/* Else the delay of the simulated watch would do nothing. */
	ck_assert_double_gt(o.error, 2);
}
END_TEST

static const struct {
	enum transfer_kind kind;
	uint64_t delay;
} kinds[] = { { TRANSFER_EPOCH, 0 }, { TRANSFER_CHAIN, DELAY } };

START_TEST(intervals_of_cells_cover_as_often_as_they_say)
{
	double covered = 0, cells = 0;

	for (int i = 0; i < CASES; i++) {
		struct outcome o;

		/* 32 threads would make most of the cells. */
		if (cases[i].threads > 8)
			continue;
		o = try(&cases[i], kinds[_i].kind, true, kinds[_i].delay,
			SEEDS_FOR_CELLS);
		covered += o.covered;
		cells += o.cells;
	}
	ck_assert_msg(cells >= 500 && covered / cells >= 0.92 &&
			      covered / cells <= 0.98,
		      "%.0f of %.0f", covered, cells);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("transfer_sim");
	TCase *tc = tcase_create("transfer_sim");

	tcase_set_timeout(tc, 300);
	tcase_add_loop_test(tc, epochs_armed_at_once_are_unbiased, 0, CASES);
	tcase_add_loop_test(tc, chains_armed_late_stay_near_the_truth, 0,
			    CASES);
	tcase_add_loop_test(tc, four_words_of_a_line_stay_in_sight_of_the_truth,
			    0, CASES);
	tcase_add_test(
		tc, chains_armed_at_once_are_unbiased_on_lines_of_few_stores);
	tcase_add_test(tc, chains_that_lines_cut_short_count_what_they_saw);
	tcase_add_test(tc, epochs_armed_late_count_too_much);
	tcase_add_test(tc, lines_of_few_stores_are_counted_by_epochs);
	tcase_add_loop_test(tc, intervals_of_cells_cover_as_often_as_they_say,
			    0, 2);
	suite_add_tcase(suite, tc);
	return run_suite(suite);
}
