/* SPDX-License-Identifier: MIT */
/*
 * sweep_transfer - how far the transfer estimators are off, over many seeds
 *
 * Every pattern is run with several seeds; all estimators see the same
 * streams. Printed are the mean relative error of the total with its standard
 * error, the false fraction against the true one, how many of the stated 95 %
 * intervals of totals and of cells hold the truth, with -y also of those that
 * are widened, and the median half width of the cells' intervals; at the end
 *the same over all patterns. docs/estimators.md keeps what it printed.
 *
 *	sweep_transfer [OPTION...] [PATTERN...]
 *
 *	-n STEPS     accesses of a run, of all threads together
 *	-p PERIOD    one sample in so many
 *	-d DELAY     accesses that arming takes, for the estimators named late
 *	-s SEEDS     runs
 *	-t THREADS   instead of the pattern's own number
 *	-y RELATIVE  systematic error that widens the intervals
 *	-S           the arming thread stands still meanwhile
 *	-j EPOCHS    of a chain
 *	-K STORES    of which a random number is skipped before a chain
 *	-k BURSTS    of a chain after a pause
 *	-e NAME      this estimator alone; more than once: these
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/src/engine/transfer_patterns.h"

enum {
	CELLS_MAX = 1 << 20,
	ESTIMATORS = 7
};

static const struct pattern_case cases[] = {
	{ "volume-0.001", pattern_write_volume, 8, 0.001, 0, 1 },
	{ "volume-0.01", pattern_write_volume, 8, 0.01, 0, 1 },
	{ "volume-0.1", pattern_write_volume, 8, 0.1, 0, 1 },
	{ "volume-0.5", pattern_write_volume, 8, 0.5, 0, 1 },
	{ "volume-1", pattern_write_volume, 8, 1, 0, 1 },
	{ "volume-0.5/2", pattern_write_volume, 2, 0.5, 0, 1 },
	{ "volume-0.5/32", pattern_write_volume, 32, 0.5, 0, 1 },
	{ "false-0.5", pattern_false_sharing, 8, 0.5, 0, 1 },
	{ "false-0.9", pattern_false_sharing, 8, 0.9, 0, 1 },
	{ "read-write-0.5", pattern_read_write, 8, 0.5, 0, 1 },
	{ "read-write-1", pattern_read_write, 8, 1, 0, 1 },
	{ "pairs", pattern_pairs, 8, 0, 0, 1 },
	{ "bursts-10", pattern_bursts, 8, 0, 10, 1 },
	{ "bursts-100", pattern_bursts, 8, 0, 100, 1 },
	{ "bursts-1000", pattern_bursts, 8, 0, 1000, 1 },
	{ "ring", pattern_ring, 8, 0, 0, 1 },
	{ "lock", pattern_lock, 8, 0, 0, 1 },
	{ "lines", pattern_many_lines, 8, 0, 10000, 1 },
	{ "lines-100000", pattern_many_lines, 8, 0, 100000, 1 },
	{ "read-mostly", pattern_read_mostly, 8, 0.01, 0, 1 },
	{ "counters", pattern_counters, 8, 0, 0, 1 },
	{ "volume-0.5-runs", pattern_write_volume, 8, 0.5, 0, 20 },
	{ "seqlock", pattern_seqlock, 8, 0.1, 0, 1 },
	{ "stencil", pattern_stencil, 8, 0, 64, 1 },
	{ "references", pattern_references, 8, 0.2, 1024, 1 },
	{ "tickets", pattern_tickets, 8, 0, 0, 1 },
	{ "straddling", pattern_straddling, 8, 0.3, 0, 1 },
	{ "phases", pattern_phases, 8, 0, 5000, 1 },
	{ "handoff", pattern_handoff, 8, 0, 20000, 1 },
	{ "read-write-1-turns", pattern_read_write, 4, 1, 0, 30 },
	{ "read-write-0.5-turns", pattern_read_write, 4, 0.5, 0, 30 },
	{ "startup", pattern_startup, 8, 0.3, 10, 1 },
	{ "streaming", pattern_streaming, 8, 0.5, 0, 1 },
	{ "bursts-varied", pattern_bursts_varied, 8, 0, 20, 1 },
};

enum {
	CASES = sizeof(cases) / sizeof(cases[0])
};

struct options {
	uint64_t steps, period, delay;
	uint32_t seeds, threads, epochs, bursts, skip;
	double systematic;
	bool stalls;
	const char *estimator[ESTIMATORS];
};

/* What is kept of one estimator over the seeds of a pattern. */
struct score {
	const char *name;
	uint32_t runs, covered;
	double error, error2, of_false;
	uint32_t cells, covered_cells, covered_wide;
	double *width;
};

/* And over all patterns. */
struct pool {
	double error[CASES]; /* magnitudes */
	uint32_t cases, worst;
	uint32_t cells, covered_cells, covered_wide;
	double *width;
};

static struct score score[ESTIMATORS];
static struct pool pool[ESTIMATORS];

static bool is_asked(const struct options *o, const char *name)
{
	for (int i = 0; i < ESTIMATORS && o->estimator[i]; i++)
		if (!strcmp(o->estimator[i], name))
			return true;
	return !o->estimator[0];
}

static int add(struct tsim *s, const struct options *o, int n, const char *name,
	       enum transfer_kind kind, bool whole, uint64_t delay)
{
	struct transfer_config c = {
		.kind = kind,
		.slots = whole ? 4 : 1,
		.chunk_bytes = whole ? TSIM_LINE : 8,
		.ranges = whole ? 1 : 4,
		.epochs = o->epochs,
		.bursts = o->bursts,
		.skip = o->skip,
	};

	if (!is_asked(o, name))
		return n;
	tsim_add(s, c, delay)->stalls = o->stalls;
	score[n].name = name;
	return n + 1;
}

static int add_estimators(struct tsim *s, const struct options *o)
{
	int n = 0;

	n = add(s, o, n, "E", TRANSFER_EPOCH, true, 0);
	n = add(s, o, n, "E,late", TRANSFER_EPOCH, true, o->delay);
	n = add(s, o, n, "CR", TRANSFER_CHAIN, true, 0);
	n = add(s, o, n, "CR,late", TRANSFER_CHAIN, true, o->delay);
	n = add(s, o, n, "E/4x8", TRANSFER_EPOCH, false, 0);
	n = add(s, o, n, "CR/4x8", TRANSFER_CHAIN, false, 0);
	return add(s, o, n, "CR,late/4x8", TRANSFER_CHAIN, false, o->delay);
}

static bool holds(const struct transfer_moment *m, const struct tsim *s,
		  double systematic, double truth)
{
	struct transfer_sampling by = tsim_sampling(s, systematic);
	struct interval i = transfer_interval(m, &by);

	return i.low <= truth && truth <= i.high;
}

static void judge_cells(const struct tsim *s, const struct tsim_estimator *e,
			double systematic, struct score *to)
{
	struct transfer_sampling by = tsim_sampling(s, 0);

	for (uint32_t b = 1; b < s->threads; b++)
		for (uint32_t a = 0; a < b; a++) {
			double truth = tsim_truth(s, a, b);
			const struct transfer_cell *c =
				transfer_tally_cell(e->tally, a, b);
			const struct transfer_moment *m =
				&c->share[TRANSFER_ALL];
			struct interval i = transfer_interval(m, &by);

			if (!c->samples || to->cells == CELLS_MAX)
				continue;
			to->covered_cells += holds(m, s, 0, truth);
			to->covered_wide += holds(m, s, systematic, truth);
			to->width[to->cells++] = (i.high - i.low) / 2 / m->sum;
		}
}

static void judge(const struct tsim *s, const struct tsim_estimator *e,
		  const struct options *o, struct score *to)
{
	const struct transfer_cell *total = transfer_tally_total(e->tally);
	const struct transfer_moment *all = &total->share[TRANSFER_ALL];
	double truth = exact_total(s->exact).transfers;
	double error = all->sum / truth - 1;

	to->runs++;
	to->error += error;
	to->error2 += error * error;
	to->of_false += total->share[TRANSFER_FALSE].sum /
			(all->sum > 0 ? all->sum : 1);
	to->covered += holds(all, s, 0, truth);
	judge_cells(s, e, o->systematic, to);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *x, size_t n)
{
	qsort(x, n, sizeof(*x), compare);
	return n ? x[n / 2] : NAN;
}

static void print_cells(uint32_t cells, uint32_t held, uint32_t wide,
			double *width, const struct options *o)
{
	printf("cells %u hold %.1f %%", cells, 100.0 * held / cells);
	if (o->systematic > 0)
		printf(" widened %.1f %%", 100.0 * wide / cells);
	printf(" half width %.1f %%\n", 100 * median(width, cells));
}

static void print_score(const struct score *r, const struct options *o)
{
	double mean = r->error / r->runs;
	double variance = r->error2 / r->runs - mean * mean;
	double se = r->runs > 1 ? sqrt(variance / (r->runs - 1)) : NAN;

	printf("    %-12s %+7.1f %% +- %4.1f  false %.3f  holds %3.0f %%  ",
	       r->name, 100 * mean, 100 * se, r->of_false / r->runs,
	       100.0 * r->covered / r->runs);
	print_cells(r->cells, r->covered_cells, r->covered_wide, r->width, o);
}

static void add_to_pool(struct pool *to, const struct score *r, uint32_t which)
{
	double error = fabs(r->error / r->runs);
	uint32_t n = r->cells;

	if (!to->cases || error > to->error[to->worst])
		to->worst = which;
	to->error[which] = error;
	to->cases++;
	if (n > CELLS_MAX - to->cells)
		n = CELLS_MAX - to->cells;
	memcpy(to->width + to->cells, r->width, n * sizeof(*r->width));
	to->cells += n;
	to->covered_cells += r->covered_cells;
	to->covered_wide += r->covered_wide;
}

static void print_pool(const char *name, struct pool *p,
		       const struct options *o)
{
	const char *worst = cases[p->worst].name;
	double most = p->error[p->worst], errors[CASES];
	uint32_t n = 0;

	/* What was not run is 0, which no error is. */
	for (int i = 0; i < CASES; i++)
		if (p->error[i] > 0)
			errors[n++] = p->error[i];
	printf("    %-12s error %.1f %% in the median, %.1f %% at worst (%s)\n"
	       "%17s",
	       name, 100 * median(errors, n), 100 * most, worst, "");
	print_cells(p->cells, p->covered_cells, p->covered_wide, p->width, o);
}

/* Returns how many estimators took part. */
static int run_case(uint32_t which, const struct options *o)
{
	const struct pattern_case *p = &cases[which];
	double truth = 0, of_false = 0;
	int n = 0;

	for (int i = 0; i < ESTIMATORS; i++) {
		double *width = score[i].width;

		score[i] = (struct score){ .width = width };
	}
	for (uint32_t seed = 1; seed <= o->seeds; seed++) {
		struct tsim *s = tsim_new(p->pattern,
					  o->threads ? o->threads : p->threads,
					  o->period, seed);
		struct exact_cell x;

		s->fraction = p->fraction;
		s->number = p->number;
		s->run = p->run;
		n = add_estimators(s, o);
		tsim_run(s, o->steps);
		x = exact_total(s->exact);
		truth += x.transfers;
		of_false += (double)x.false_sharing / x.transfers;
		for (int i = 0; i < n; i++)
			judge(s, s->estimator[i], o, &score[i]);
		tsim_free(s);
	}
	printf("%s: %.0f transfers, %.3f of them false\n", p->name,
	       truth / o->seeds, of_false / o->seeds);
	for (int i = 0; i < n; i++) {
		print_score(&score[i], o);
		add_to_pool(&pool[i], &score[i], which);
	}
	fflush(stdout);
	return n;
}

static bool is_wanted(const char *name, char **wanted)
{
	if (!*wanted)
		return true;
	for (; *wanted; wanted++)
		if (!strcmp(name, *wanted))
			return true;
	return false;
}

int main(int argc, char **argv)
{
	struct options o = {
		.steps = 10000000, .period = 1000, .delay = 100, .seeds = 20
	};
	int c, n = 0, named = 0;

	while ((c = getopt(argc, argv, "n:p:d:s:t:y:e:j:k:K:S")) != -1) {
		switch (c) {
		case 'n':
			o.steps = strtod(optarg, NULL);
			break;
		case 'p':
			o.period = strtod(optarg, NULL);
			break;
		case 'd':
			o.delay = strtod(optarg, NULL);
			break;
		case 's':
			o.seeds = strtoul(optarg, NULL, 10);
			break;
		case 't':
			o.threads = strtoul(optarg, NULL, 10);
			break;
		case 'y':
			o.systematic = strtod(optarg, NULL);
			break;
		case 'j':
			o.epochs = strtoul(optarg, NULL, 10);
			break;
		case 'k':
			o.bursts = strtoul(optarg, NULL, 10);
			break;
		case 'e':
			if (named < ESTIMATORS)
				o.estimator[named++] = optarg;
			break;
		case 'K':
			o.skip = strtoul(optarg, NULL, 10);
			break;
		case 'S':
			o.stalls = true;
			break;
		default:
			return 2;
		}
	}
	for (int i = 0; i < ESTIMATORS; i++) {
		score[i].width = tsim_map(CELLS_MAX * sizeof(double));
		pool[i].width = tsim_map(CELLS_MAX * sizeof(double));
	}
	printf("%.0f accesses, period %lu, arming takes %lu, %u seeds\n",
	       (double)o.steps, o.period, o.delay, o.seeds);
	for (uint32_t i = 0; i < CASES; i++)
		if (is_wanted(cases[i].name, argv + optind))
			n = run_case(i, &o);
	printf("all of these:\n");
	for (int i = 0; i < n; i++)
		print_pool(score[i].name, &pool[i], &o);
	return 0;
}
