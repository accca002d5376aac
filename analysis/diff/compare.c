/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "compare.h"
#include "analysis/base/student.h"

/* Wilson's interval of @hits of @trials, @z standard deviations wide. */
static struct interval share_within(double hits, double trials, double z)
{
	double p = hits / trials, zz = z * z / trials;
	double middle = (p + zz / 2) / (1 + zz);
	double half =
		z / (1 + zz) * sqrt(p * (1 - p) / trials + zz / (4 * trials));

	/* The limits of 0 and of all are exact, without rounding. */
	return (struct interval){ hits > 0 ? middle - half : 0,
				  hits < trials ? middle + half : 1 };
}

static struct run_count pooled(const struct run_count *run, size_t n)
{
	struct run_count sum = { 0, 0 };

	for (size_t i = 0; i < n; i++) {
		sum.events += run[i].events;
		sum.exposure += run[i].exposure;
	}
	return sum;
}

/* Pearson's statistic of runs whose rate is that of @all; counts the runs. */
static double scatter(const struct run_count *run, size_t n,
		      struct run_count all, unsigned int *runs)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		double expected = all.events * run[i].exposure / all.exposure;

		if (!(expected > 0))
			continue;
		sum += (run[i].events - expected) * (run[i].events - expected) /
		       expected;
		++*runs;
	}
	return sum;
}

static enum verdict verdict_of(struct interval by)
{
	return by.high < 1  ? VERDICT_FEWER
	       : by.low > 1 ? VERDICT_MORE
			    : VERDICT_NOISE;
}

/* The ratio of two shares of one whole, at equal exposures @odds. */
static double ratio_of_share(double share, double odds)
{
	return share < 1 ? share / (1 - share) * odds : INFINITY;
}

struct comparison compare_rates(const struct run_count *before, size_t n,
				const struct run_count *after, size_t m,
				double level)
{
	struct run_count a = pooled(before, n), b = pooled(after, m);
	struct comparison c = {
		.before = a.exposure > 0 ? a.events / a.exposure : NAN,
		.after = b.exposure > 0 ? b.events / b.exposure : NAN,
		.ratio = NAN,
		.by = { 0, INFINITY }
	};
	double events = a.events + b.events, dispersion = 1, chi, odds;
	unsigned int runs = 0, sides, df = 0;
	struct interval share;

	if (!(a.exposure > 0 && b.exposure > 0))
		return c;
	if (!(events > 0)) {
		c.verdict = VERDICT_NOISE;
		return c;
	}
	chi = scatter(before, n, a, &runs) + scatter(after, m, b, &runs);
	sides = (a.events > 0) + (b.events > 0);
	if (runs > sides) {
		df = runs - sides;
		dispersion = fmax(1, chi / df);
	}
	odds = a.exposure / b.exposure;
	share = share_within(b.events / dispersion, events / dispersion,
			     student_quantile(level / 2, df));
	c.ratio = a.events > 0 ? b.events / a.events * odds : INFINITY;
	c.by = (struct interval){ ratio_of_share(share.low, odds),
				  ratio_of_share(share.high, odds) };
	c.verdict = verdict_of(c.by);
	return c;
}

/* Mean and squared error of the mean of the logarithms. */
static void log_mean(const double *x, size_t n, double *mean, double *error)
{
	double sum = 0, squares = 0;

	for (size_t i = 0; i < n; i++)
		sum += log(x[i]);
	*mean = sum / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += (log(x[i]) - *mean) * (log(x[i]) - *mean);
	*error = n > 1 ? squares / (double)(n - 1) / (double)n : NAN;
}

struct comparison compare_values(const double *before, size_t n,
				 const double *after, size_t m, double level)
{
	struct comparison c = {
		.before = NAN, .after = NAN, .ratio = NAN, .by = { 0, INFINITY }
	};
	double a, b, error_a, error_b, half;
	size_t least = n < m ? n : m;

	for (size_t i = 0; i < n; i++)
		if (!(before[i] > 0))
			return c;
	for (size_t i = 0; i < m; i++)
		if (!(after[i] > 0))
			return c;
	if (!least)
		return c;
	log_mean(before, n, &a, &error_a);
	log_mean(after, m, &b, &error_b);
	c.before = exp(a);
	c.after = exp(b);
	c.ratio = exp(b - a);
	if (least < 2)
		return c;
	/* Welch's degrees of freedom are at least these. */
	half = student_quantile(level / 2, (unsigned int)least - 1) *
	       sqrt(error_a + error_b);
	c.by = (struct interval){ exp(b - a - half), exp(b - a + half) };
	c.verdict = verdict_of(c.by);
	return c;
}
