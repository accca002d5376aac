/* SPDX-License-Identifier: MIT */
/*
 * transfer_tally - estimates by pair of threads, with their variance
 *
 * A chain lists transfers of several cells in any order. Its credit for each
 * cell is first summed in a scratch table, because the sum is squared.
 */
#include <emmintrin.h>
#include <stdbool.h>

#include "transfer_tally.h"
#include "src/base/signal_safe.h"

#define Z_95      1.959963984540054 /* normal quantile of 0.975 */
#define NONE_SEEN 3.688879454113936 /* -log(0.025) */

enum {
	ALIGN = 64,
	FEW_SAMPLES = 30
};

struct credit {
	double all, of_false, a_to_b;
	uint32_t seen;
};

struct transfer_tally {
	uint32_t threads;
	struct transfer_cell total;
	struct credit *credit;
	struct transfer_cell cell[];
};

static size_t cells(uint32_t threads)
{
	return (size_t)threads * (threads - 1) / 2;
}

static size_t cells_bytes(uint32_t threads)
{
	size_t bytes = sizeof(struct transfer_tally) +
		       cells(threads) * sizeof(struct transfer_cell);

	return (bytes + ALIGN - 1) / ALIGN * ALIGN;
}

size_t transfer_tally_size(uint32_t threads)
{
	if (threads < 1 || threads > TRANSFER_THREADS_MAX)
		return 0;
	return cells_bytes(threads) + cells(threads) * sizeof(struct credit);
}

struct transfer_tally *transfer_tally_init(void *mem, uint32_t threads)
{
	struct transfer_tally *t = mem;

	if (!transfer_tally_size(threads))
		return NULL;
	t->threads = threads;
	t->credit = (void *)((unsigned char *)mem + cells_bytes(threads));
	return t;
}

static size_t index_of(uint32_t a, uint32_t b)
{
	return a < b ? cells(b) + a : cells(a) + b;
}

static void add(struct transfer_cell *cell, const struct credit *c)
{
	double z[TRANSFER_SHARES] = {
		[TRANSFER_ALL] = c->all,
		[TRANSFER_TRUE] = c->all - c->of_false,
		[TRANSFER_FALSE] = c->of_false,
	};

	for (int i = 0; i < TRANSFER_SHARES; i++) {
		cell->share[i].sum += z[i];
		cell->share[i].square += z[i] * z[i];
	}
	cell->a_to_b += c->a_to_b;
	cell->seen += c->seen;
	cell->samples++;
}

static bool in_range(const struct transfer_tally *t,
		     const struct transfer_event *v)
{
	return v->from < t->threads && v->to < t->threads && v->from != v->to;
}

static void collect(struct credit *c, const struct transfer_event *v)
{
	c->all += v->weight;
	c->of_false += v->weight_false;
	c->a_to_b += v->from < v->to ? v->weight : 0;
	c->seen++;
}

void transfer_tally_add(struct transfer_tally *t,
			const struct transfer_chain *c)
{
	struct credit total = { 0, 0, 0, 0 };

	for (uint32_t i = 0; i < c->n; i++) {
		const struct transfer_event *v = &c->event[i];

		if (!in_range(t, v))
			continue;
		collect(&t->credit[index_of(v->from, v->to)], v);
		collect(&total, v);
	}
	for (uint32_t i = 0; i < c->n; i++) {
		const struct transfer_event *v = &c->event[i];
		size_t at;

		if (!in_range(t, v))
			continue;
		at = index_of(v->from, v->to);
		if (!t->credit[at].seen)
			continue;
		add(&t->cell[at], &t->credit[at]);
		t->credit[at] = (struct credit){ 0, 0, 0, 0 };
	}
	if (total.seen)
		add(&t->total, &total);
}

void transfer_cell_add(struct transfer_cell *to,
		       const struct transfer_cell *from)
{
	for (int i = 0; i < TRANSFER_SHARES; i++) {
		to->share[i].sum += from->share[i].sum;
		to->share[i].square += from->share[i].square;
	}
	to->a_to_b += from->a_to_b;
	to->seen += from->seen;
	to->samples += from->samples;
}

void transfer_tally_merge(struct transfer_tally *t,
			  const struct transfer_tally *from)
{
	transfer_cell_add(&t->total, &from->total);
	for (size_t i = 0; i < cells(t->threads); i++)
		transfer_cell_add(&t->cell[i], &from->cell[i]);
}

const struct transfer_cell *transfer_tally_cell(const struct transfer_tally *t,
						uint32_t a, uint32_t b)
{
	return &t->cell[index_of(a, b)];
}

const struct transfer_cell *transfer_tally_total(const struct transfer_tally *t)
{
	return &t->total;
}

/* One instruction; the compiler's sqrt would need libm, which sets errno. */
static double root(double x)
{
	__m128d v = _mm_set_sd(x);

	return _mm_cvtsd_f64(_mm_sqrt_sd(v, v));
}

double transfer_variance(const struct transfer_moment *m,
			 const struct transfer_sampling *s)
{
	double v = m->square;

	if (s->samples > 0)
		v -= (1 - s->jitter) * m->sum * m->sum / s->samples;
	return v > 0 ? v : 0;
}

/*
 * Low limit of a Poisson count @x whose variance is @rho times the mean, by
 * Wilson and Hilferty (PNAS 17, 1931): for few samples the score interval does
 * not go down far enough, because a cell that nothing was seen of is not shown.
 */
static double few(double x, double rho)
{
	double t = 1 - rho / (9 * x) - Z_95 * root(rho) / (3 * root(x));

	return t > 0 ? x * t * t * t : 0;
}

/*
 * In units of square / sum the estimate x is a count of samples of equal
 * weight, whose variance is rho times the mean: solve (x - mean)^2 = z^2 rho
 * mean.
 */
struct interval transfer_interval(const struct transfer_moment *m,
				  const struct transfer_sampling *s)
{
	struct interval i = { 0, 0 };
	double unit, x, zr, half, low, high, extra;

	if (!(m->sum > 0) || !(m->square > 0)) {
		i.high = NONE_SEEN * s->weight;
		return i;
	}
	unit = m->square / m->sum;
	x = m->sum / unit;
	zr = Z_95 * Z_95 * transfer_variance(m, s) / m->square;
	half = root(x * zr + zr * zr / 4);
	low = half - zr / 2;
	if (x < FEW_SAMPLES)
		low = x - few(x, zr / (Z_95 * Z_95));
	high = half + zr / 2;
	extra = s->systematic * x;
	low = root(low * low + extra * extra);
	high = root(high * high + extra * extra);
	i.low = low < x ? (x - low) * unit : 0;
	i.high = (x + high) * unit;
	return i;
}
