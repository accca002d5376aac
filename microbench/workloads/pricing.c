/* SPDX-License-Identifier: MIT */
/*
 * pricing - prices of options from data that threads only read; a join at the
 * end
 *
 * A call less a put is worth the share less the discounted strike.
 */
#include <math.h>

#include "work.h"

enum {
	OPTIONS = 4096,
};

struct option {
	double share, strike, rate, spread, years;
};

static struct option option[OPTIONS];
static double call[OPTIONS], put[OPTIONS];
static long rounds;

static void prepare(void)
{
	rounds = size * 1000000 / (OPTIONS * 500);
	if (!rounds)
		rounds = 1;
	for (int i = 0; i < OPTIONS; i++) {
		uint64_t x = work_hash((uint64_t)i);

		option[i] = (struct option){
			.share = 50 + (double)(x % 100),
			.strike = 50 + (double)(x / 100 % 100),
			.rate = 0.01 + (double)(x / 10000 % 8) / 100,
			.spread = 0.1 + (double)(x / 80000 % 5) / 10,
			.years = 0.25 * (1 + (double)(x / 400000 % 8)),
		};
	}
}

static double below(double x)
{
	return 0.5 * erfc(-x * M_SQRT1_2);
}

static void price(const struct option *o, double *c, double *p)
{
	double root = o->spread * sqrt(o->years);
	double d = (log(o->share / o->strike) +
		    (o->rate + o->spread * o->spread / 2) * o->years) /
		   root;
	double discounted = o->strike * exp(-o->rate * o->years);

	*c = o->share * below(d) - discounted * below(d - root);
	*p = discounted * below(root - d) - o->share * below(-d);
}

static void work(int id)
{
	long from = work_part(OPTIONS, id), to = work_part(OPTIONS, id + 1);

	for (long k = 0; k < rounds; k++)
		for (long i = from; i < to; i++)
			price(&option[i], &call[i], &put[i]);
}

static bool check(void)
{
	for (int i = 0; i < OPTIONS; i++) {
		const struct option *o = &option[i];
		double parity = o->share - o->strike * exp(-o->rate * o->years);

		if (!(fabs(call[i] - put[i] - parity) < 1e-9) || call[i] <= 0)
			return false;
	}
	return true;
}
