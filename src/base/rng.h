/* SPDX-License-Identifier: MIT */
/*
 * rng - one generator per thread (xoshiro256**, seeded through splitmix64)
 *
 * Published tools seed every thread with time(NULL), which correlates their
 * reservoirs. Here each thread has a state of its own, seeded with the run's
 * seed and the thread's id. Not for cryptography. Context: any.
 */
#ifndef COMDET_BASE_RNG_H
#define COMDET_BASE_RNG_H

#include <stdint.h>

struct rng {
	uint64_t s[4];
};

static inline uint64_t rng_splitmix(uint64_t *x)
{
	uint64_t z = (*x += 0x9E3779B97F4A7C15ull);

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
	return z ^ (z >> 31);
}

static inline void rng_seed(struct rng *r, uint64_t run_seed, uint64_t stream)
{
	uint64_t x = run_seed ^ (stream * 0xD1342543DE82EF95ull + 1);

	for (int i = 0; i < 4; i++)
		r->s[i] = rng_splitmix(&x);
}

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t *s = r->s, t = s[1] << 17, x = s[1] * 5;
	uint64_t result = ((x << 7) | (x >> 57)) * 9;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = (s[3] << 45) | (s[3] >> 19);
	return result;
}

/* Uniform in [0, @n), @n > 0; the bias is below n / 2^64. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	return (uint64_t)(((unsigned __int128)rng_next(r) * n) >> 64);
}

/*
 * Uniform from @mean - @width / 2 to @mean + @width / 2, with @width <= 2
 * @mean. The mean is exactly @mean, for odd and even @width.
 */
static inline uint64_t rng_around(struct rng *r, uint64_t mean, uint64_t width)
{
	return mean - width / 2 + rng_below(r, width / 2 * 2 + 1);
}

/*
 * Draw one thing of every @period, at a random place in each. Returns how many
 * come before the next one drawn. *@rest is 0 at the start, later how many of
 * the period come after the one drawn.
 */
static inline uint64_t rng_skip(struct rng *r, uint64_t period, uint64_t *rest)
{
	uint64_t before = rng_below(r, period);
	uint64_t skip = *rest + before;

	*rest = period - 1 - before;
	return skip;
}

/*
 * Draws of one in @period on average, each independent of all others. The bits
 * of how many come before the next one drawn, a geometric variate, are
 * independent: with q the chance that one is not drawn, bit k is set with
 * chance x / (1 + x), where x is q^(2^k).
 */
struct rng_rare {
	uint64_t bit[64]; /* that chance, times 2^64 */
	uint32_t bits;
};

static inline void rng_rare_init(struct rng_rare *g, uint64_t period)
{
	double x = 1 - 1 / (double)period;

	for (g->bits = 0; g->bits < 48 && x > 0x1p-60; x *= x)
		g->bit[g->bits++] = (uint64_t)(x / (1 + x) * 0x1p64);
}

/* How many come before the next one drawn. */
static inline uint64_t rng_rare_skip(struct rng *r, const struct rng_rare *g)
{
	uint64_t skip = 0;

	for (uint32_t k = 0; k < g->bits; k++)
		skip |= (uint64_t)(rng_next(r) < g->bit[k]) << k;
	return skip;
}

#endif
