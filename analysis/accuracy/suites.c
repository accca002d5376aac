/* SPDX-License-Identifier: MIT */
/*
 * suites - how close estimated numbers of transfers are to the exact ones
 *
 * Write-Volume and the patterns of microbench/patterns.c, with watches over
 * whole lines and with four debug registers of 8 bytes, where arming takes no
 * time and where it takes 1000 accesses. The thesis's other sweeps are in
 * sweeps.c.
 */
#include <math.h>
#include <string.h>

#include "suites.h"
#include "coverage.h"
#include "judge.h"
#include "plan.h"
#include "sweeps.h"
#include "analysis/base/util.h"

enum {
	ARMING = 1000, /* accesses; the other value is 0 */
};

#define WORST         ACCURACY_WORST
#define MEDIAN        0.05
#define WORST_CHUNKS  0.30
#define MEDIAN_CHUNKS 0.10
#define ACCESSES      100e6
#define ACCESSES_SOME 30e6

static const uint32_t all_threads[] = { 2, 4, 8, 16, 32 };

static struct accuracy_trial *plan_arming(struct accuracy *all,
					  struct accuracy_trial *t,
					  const char *label, uint64_t arming)
{
	t->arming = arming;
	t->label =
		xasprintf("%s, arming %llu", label, (unsigned long long)arming);
	if (all->short_form)
		t->period = ACCURACY_SHORT_PERIOD;
	return t;
}

static void plan_volume(struct accuracy *all, const char *suite,
			uint32_t threads, int tenths, uint64_t arming,
			bool chunks)
{
	char *options = xasprintf("--sharing 0.%d", tenths);
	struct accuracy_trial *t;

	if (tenths == 10)
		options = xstrdup("--sharing 1");
	t = accuracy_plan(all, suite, "write_volume", threads,
			  all->short_form ? ACCURACY_SHORT : ACCESSES,
			  ACCURACY_WRITE_VOLUME, options);
	t->parameter = tenths / 10.0;
	t->chunks = chunks;
	plan_arming(all, t, xasprintf("sharing %.1f", t->parameter), arming);
}

static void plan_pattern(struct accuracy *all, const char *suite,
			 const struct accuracy_pattern *c, uint32_t threads,
			 uint64_t arming, bool chunks)
{
	struct accuracy_trial *t =
		accuracy_plan(all, suite, "patterns", threads,
			      all->short_form ? c->in_short
			      : chunks        ? ACCESSES
					      : c->in_long,
			      c->accesses, c->options);

	t->parameter = c->worst;
	t->chunks = chunks;
	plan_arming(all, t, c->label, arming);
}

static void plan_write_volume(struct accuracy *all)
{
	for (uint64_t arming = 0; arming <= ARMING; arming += ARMING)
		for (size_t i = 0; i < 5; i++)
			for (int tenths = 0; tenths <= 10; tenths++)
				if (!all->short_form ||
				    (all_threads[i] == 4 && tenths % 4 == 2))
					plan_volume(all, "write-volume",
						    all_threads[i], tenths,
						    arming, false);
}

static bool left_out(const struct accuracy *all,
		     const struct accuracy_pattern *c, uint64_t arming)
{
	return all->short_form && (!c->in_short || !arming);
}

static void plan_patterns(struct accuracy *all)
{
	for (uint64_t arming = 0; arming <= ARMING; arming += ARMING)
		for (size_t i = 0; i < ACCURACY_PATTERNS; i++) {
			if (left_out(all, &accuracy_patterns[i], arming))
				continue;
			plan_pattern(all, "patterns", &accuracy_patterns[i],
				     all->short_form ? 4 : 8, arming, false);
			if (!all->short_form)
				plan_pattern(all, "patterns",
					     &accuracy_patterns[i], 32, arming,
					     false);
		}
}

static void plan_chunks(struct accuracy *all)
{
	for (uint64_t arming = 0; arming <= ARMING; arming += ARMING) {
		for (size_t i = 0; i < 5; i += 2) /* 2, 8 and 32 threads */
			for (int tenths = 2; tenths <= 10; tenths += 4)
				plan_volume(all, "chunks", all_threads[i],
					    tenths, arming, true);
		for (size_t i = 0; i < ACCURACY_PATTERNS; i++)
			plan_pattern(all, "chunks", &accuracy_patterns[i], 8,
				     arming, true);
	}
}

/*
 * The bound of the error of a trial's total; 0: judge the total by its
 * interval.
 */
static double worst_of(const struct accuracy_trial *t)
{
	if (!strcmp(t->program, "write_volume"))
		return !(t->parameter > 0) ? 0
		       : t->chunks         ? WORST_CHUNKS
					   : WORST;
	return t->chunks && t->parameter > 0 ? WORST_CHUNKS : t->parameter;
}

static void judge_fewest(struct accuracy *all, const char *suite, size_t first)
{
	struct accuracy_row *r =
		accuracy_row(all, suite, "all runs", "accesses, the fewest");
	uint64_t fewest = UINT64_MAX;

	for (size_t i = first; i < all->trials; i++)
		if (!all->trial[i].failed &&
		    all->trial[i].outcome.accesses < fewest)
			fewest = all->trial[i].outcome.accesses;
	r->measured = (double)fewest;
	r->truth = all->short_form ? ACCURACY_SHORT : ACCESSES;
	r->error = r->measured / r->truth - 1;
	accuracy_verdict(r, r->error >= 0);
}

static void judge_arming(struct accuracy *all, size_t first, uint64_t arming)
{
	const char *suite = all->trial[first].suite;
	bool chunks = all->trial[first].chunks;
	size_t rows = all->rows, end = all->trials, n = 0;
	char *name = xasprintf("all, arming %llu", (unsigned long long)arming);

	for (size_t i = first; i < end; i++) {
		const struct accuracy_trial *t = &all->trial[i];

		if (t->arming != arming)
			continue;
		n++;
		if (worst_of(t) > 0)
			accuracy_judge_total(all, t, worst_of(t));
		else
			accuracy_judge_interval(all, t);
	}
	if (n)
		accuracy_judge_median(all, suite, name, rows,
				      all->short_form ? NAN
				      : chunks        ? MEDIAN_CHUNKS
						      : MEDIAN);
}

static void judge(struct accuracy *all, size_t first)
{
	judge_arming(all, first, 0);
	judge_arming(all, first, ARMING);
	judge_fewest(all, all->trial[first].suite, first);
}

static const struct accuracy_suite write_volume = {
	.name = "write-volume",
	.title = "Write-Volume: transfers, whole lines watched",
	.in_short = true,
	.plan = plan_write_volume,
	.judge = judge,
};

static const struct accuracy_suite other_patterns = {
	.name = "patterns",
	.title = "Other ways to share: transfers, whole lines watched",
	.in_short = true,
	.plan = plan_patterns,
	.judge = judge,
};

static const struct accuracy_suite chunks = {
	.name = "chunks",
	.title = "The same with four debug registers of 8 bytes",
	.plan = plan_chunks,
	.judge = judge,
};

/* Compare the estimators, and the map, on the same programs. */
static void plan_estimators(struct accuracy *all)
{
	static const struct {
		const char *algorithm;
		uint64_t arming;
	} ways[] = {
		{ "comdetective", 0 }, { "epoch", 0 },      { "chain", 0 },
		{ "epoch", ARMING },   { "chain", ARMING },
	};

	for (size_t i = 0; i < ACCURACY_PATTERNS; i++)
		for (size_t k = 0; k < sizeof(ways) / sizeof(*ways); k++) {
			const struct accuracy_pattern *c =
				&accuracy_patterns[i];
			struct accuracy_trial *t = accuracy_plan(
				all, "estimators", "patterns", 8, ACCESSES_SOME,
				c->accesses, c->options);

			t->algorithm = ways[k].algorithm;
			t->arming = ways[k].arming;
			t->label = xasprintf("%s, %s, arming %lu", c->label,
					     t->algorithm,
					     (unsigned long)t->arming);
		}
}

static void judge_estimators(struct accuracy *all, size_t first)
{
	for (size_t i = first; i < all->trials; i++) {
		const struct accuracy_trial *t = &all->trial[i];

		if (strcmp(t->algorithm, "comdetective"))
			accuracy_judge_total(all, t, NAN);
		else
			accuracy_judge_value(
				all, t, "volume of the map", t->outcome.volume,
				(double)t->outcome.exact, true, NAN);
	}
}

static const struct accuracy_suite estimators = {
	.name = "estimators",
	.title = "What the estimators and the map make of the same programs",
	.plan = plan_estimators,
	.judge = judge_estimators,
};

static const struct accuracy_suite intervals = {
	.name = "intervals",
	.title = "The cells' 95 % intervals, over programs and seeds",
	.plan = accuracy_plan_intervals,
	.judge = accuracy_judge_intervals,
};

const struct accuracy_suite *const accuracy_suites[] = {
	&write_volume,
	&other_patterns,
	&accuracy_false_sharing,
	&accuracy_read_write,
	&accuracy_point_to_point,
	&intervals,
	&chunks,
	&accuracy_register_counts,
	&accuracy_board_sizes,
	&accuracy_operations,
	&accuracy_placement,
	&accuracy_periods,
	&accuracy_slices,
	&estimators,
};
const size_t accuracy_suite_count =
	sizeof(accuracy_suites) / sizeof(*accuracy_suites);
