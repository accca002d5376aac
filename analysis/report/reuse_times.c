/* SPDX-License-Identifier: MIT */
/*
 * reuse_times - the distribution of reuse times, for people
 */
#include <math.h>
#include <stdio.h>

#include "reuse_times.h"
#include "reuse_words.h"
#include "style.h"
#include "analysis/base/util.h"

enum {
	BAR_COLUMNS = 30,
	ROW_OCTAVES = 2,
	ROWS = REUSE_TIME_BITS / ROW_OCTAVES,
	LABEL_COLUMNS = 17,
	LIMITS_COLUMNS = 12,
};

struct interval reuse_share(const struct reuse_mass *part,
			    const struct reuse_mass *total, bool ns)
{
	double share = part->weight / total->weight;
	double n = interval_effective(total->weight, total->squares);
	struct interval v = interval_share(share * n, n);

	if (!ns && !(reuse_mass_variance(total) > 0))
		v.low = v.high = share;
	return v;
}

double reuse_median(const struct reuse_histogram *h)
{
	double half = reuse_histogram_reused(h).weight / 2, sum = 0;

	for (uint32_t i = 1; i < REUSE_BINS; i++) {
		sum += h->reuse[i].weight;
		if (sum > 0 && sum >= half)
			return reuse_mass_mean(&h->reuse[i], i);
	}
	return 0;
}

/* @most: the longest bar. */
static void print_row(struct report *out, const char *label,
		      const struct reuse_mass *m,
		      const struct reuse_mass *total, bool ns, double most)
{
	struct interval v = reuse_share(m, total, ns);
	int bar = (int)lround(m->weight / most * BAR_COLUMNS);
	char limits[32] = "";

	if (v.high > v.low)
		snprintf(limits, sizeof(limits), "%.1f to %.1f", 100 * v.low,
			 100 * v.high);
	fprintf(out->out, "  %*s %8s", LABEL_COLUMNS, label,
		percent_text(m->weight, total->weight));
	if (*limits || bar > 0)
		fprintf(out->out, "  %-*s", bar > 0 ? LIMITS_COLUMNS : 0,
			limits);
	fputs(bar > 0 ? "  " : "", out->out);
	while (bar-- > 0)
		fputc('#', out->out);
	fputc('\n', out->out);
}

/*
 * The label of row @i. With @below the row stands for all rows up to it,
 * because their times cannot be told apart.
 */
static const char *label_of(int i, bool below, bool ns)
{
	char text[48];

	snprintf(text, sizeof(text), below ? "below %s" : "%s up",
		 reuse_time_text(exp2((i + below) * ROW_OCTAVES), ns));
	return safe_text(text);
}

/* The first row whose times are told apart; -1: all are. */
static int blurred(uint64_t resolution)
{
	int row = -1;

	/* A damaged file may name any resolution. */
	while (row < ROWS - 1 &&
	       exp2((row + 1) * ROW_OCTAVES) < (double)resolution)
		row++;
	return row;
}

void reuse_times_print(struct report *out, const struct reuse_histogram *h,
		       bool ns, uint64_t resolution)
{
	struct reuse_mass total = reuse_histogram_total(h);
	struct reuse_mass never = reuse_histogram_never(h);
	struct reuse_mass taken = reuse_histogram_invalidated(h);
	struct reuse_mass row[ROWS] = { 0 };
	double most = fmax(never.weight, taken.weight);
	int first = -1, last = -1, below = ns ? blurred(resolution) : -1;

	for (uint32_t i = 1; i < REUSE_BINS; i++) {
		int at = (63 - __builtin_clzll(reuse_bin_low(i))) / ROW_OCTAVES;

		if (!(h->reuse[i].weight > 0))
			continue;
		if (at < below)
			at = below;
		reuse_mass_merge(&row[at], &h->reuse[i]);
		most = fmax(most, row[at].weight);
		first = first < 0 ? at : first;
		last = at;
	}
	if (first < 0)
		return;
	fprintf(out->out, "  %s%*s %8s%s%s\n", paint(out, PAINT_DIM),
		LABEL_COLUMNS, ns ? "CPU time to reuse" : "accesses to reuse",
		"of uses",
		ns || reuse_mass_variance(&total) > 0 ? "  95 % interval" : "",
		paint(out, PAINT_OFF));
	for (int i = first; i <= last; i++) {
		int next = i;

		while (!(row[next].weight > 0))
			next++;
		if (next > i + 1) {
			fprintf(out->out, "  %*s\n", LABEL_COLUMNS, "...");
			i = next;
		}
		print_row(out, label_of(i, i == below, ns), &row[i], &total, ns,
			  most);
	}
	if (taken.weight > 0)
		print_row(out, "invalidated", &taken, &total, ns, most);
	if (never.weight > 0)
		print_row(out, "never again", &never, &total, ns, most);
}
