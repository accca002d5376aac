/* SPDX-License-Identifier: MIT */
/*
 * reuse_traces - generated interleavings with reuses of many kinds
 */
#ifndef COMDET_TESTS_SRC_ENGINE_REUSE_TRACES_H
#define COMDET_TESTS_SRC_ENGINE_REUSE_TRACES_H

#include "tests/oracle/reuse_oracle.h"

struct trace_shape {
	uint32_t threads, cores, domains;
	uint32_t stretch; /* accesses of a thread at a time, mean */
	uint32_t shared;  /* in a hundred */
	uint32_t stores;  /* in a hundred */
};

static inline struct cpu_place trace_place(const struct trace_shape *shape,
					   uint32_t thread)
{
	uint32_t core = thread % shape->cores;

	return (struct cpu_place){
		.thread = thread,
		.core = core,
		.domain = core * shape->domains / shape->cores,
	};
}

/*
 * Some accesses go to a few lines that all threads share, the others to the
 * thread's own memory: a sweep of 600 bytes, a hot spot, or any of 40 lines.
 * Accesses have 1 to 16 bytes at any address, so some touch two lines.
 */
static inline struct trace *trace_mixed(const struct trace_shape *shape,
					uint32_t n, uint64_t seed)
{
	struct trace *t = trace_new(n);
	uint32_t at[TRACE_THREADS] = { 0 }, thread = 0;
	struct rng rng;

	rng_seed(&rng, seed, 0);
	while (t->n < n) {
		struct cpu_place place;
		uint64_t own, addr;
		uint32_t len = 1u << rng_below(&rng, 5);
		bool store = rng_below(&rng, 100) < shape->stores;

		if (!rng_below(&rng, shape->stretch))
			thread = rng_below(&rng, shape->threads);
		place = trace_place(shape, thread);
		own = TRACE_BASE + 64 * (64 + thread * 60ull);
		if (rng_below(&rng, 100) < shape->shared) {
			addr = TRACE_BASE + rng_below(&rng, 16 * 64);
		} else {
			switch (rng_below(&rng, 4)) {
			case 0:
			case 1:
				addr = own + at[thread];
				at[thread] = (at[thread] + 5) % 600;
				break;
			case 2:
				addr = own + 8 * rng_below(&rng, 3);
				break;
			default:
				addr = own + rng_below(&rng, 40 * 64);
			}
		}
		trace_add(t, &place, addr, len, store);
	}
	return t;
}

#endif
