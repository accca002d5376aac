/* SPDX-License-Identifier: MIT */
/*
 * exact_hand - an exact directory, and streams of accesses through it
 *
 * A stream is also kept as accesses to single lines, for oracles.
 */
#ifndef COMDET_TESTS_SRC_EXACT_EXACT_HAND_H
#define COMDET_TESTS_SRC_EXACT_EXACT_HAND_H

#include <check.h>
#include <sys/mman.h>

#include "src/exact/directory.h"
#include "src/base/rng.h"

enum {
	LINE = 64,
	BASE = 0x40000,
	LINES = 24, /* that streams go to, or a little beyond */
	PIECES = 6000
};

/* Eight cores, each with a cache of its own. */
static const uint32_t own_of_core[] = { 0, 1, 2, 3, 4, 5, 6, 7 };

static inline void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static inline struct exact_config config(uint32_t threads,
					 const struct topology_shape *topology)
{
	return (struct exact_config){
		.threads = threads,
		.line_bytes = LINE,
		.regions = 64,
		.topology = topology,
	};
}

/* A directory and its threads; the test's process frees them by its end. */
static inline struct exact *directory(const struct exact_config *c,
				      struct exact_thread *thread)
{
	struct exact *x = exact_init(map(exact_size(c)), c);

	ck_assert_ptr_nonnull(x);
	for (uint32_t i = 0; i < c->threads; i++)
		ck_assert_int_eq(exact_thread_init(x, &thread[i], i), 0);
	return x;
}

static inline void make(struct exact *x, struct exact_thread *t, uint64_t addr,
			uint32_t len, uint32_t flags)
{
	struct access a = { .addr = addr, .len = len, .flags = flags };

	exact_access(x, t, &a, t->id);
}

/* One line's part of an access. */
struct piece {
	uint64_t line, bytes;
	uint32_t thread, core;
	bool store;
};

struct stream {
	uint32_t n;
	struct piece piece[PIECES];
};

static inline void split(struct stream *s, const struct access *a,
			 uint32_t thread, uint32_t core)
{
	for (uint64_t byte = a->addr; byte < a->addr + a->len; byte++) {
		uint64_t line = byte / LINE * LINE;

		if (byte == a->addr || byte == line)
			s->piece[s->n++] =
				(struct piece){ line, 0, thread, core,
						a->flags & ACCESS_STORE };
		s->piece[s->n - 1].bytes |= 1ull << byte % LINE;
	}
}

__attribute__((unused)) static struct stream stream;
static struct exact_thread threads[EXACT_THREADS_MAX];

/* Random accesses; threads move between cores now and then. */
static inline void run_stream(struct exact *x, uint32_t n_threads,
			      uint32_t cores, struct stream *s, uint64_t seed)
{
	uint32_t core[EXACT_THREADS_MAX];
	struct rng r;

	rng_seed(&r, seed, 0);
	for (uint32_t i = 0; i < n_threads; i++)
		core[i] = i % cores;
	s->n = 0;
	while (s->n < PIECES - 8) {
		uint32_t t = rng_below(&r, n_threads);
		struct access a = {
			.addr = BASE + rng_below(&r, LINES * LINE / 4) * 4,
			.len = 1 + rng_below(&r, 16),
			.flags = rng_below(&r, 3) ? ACCESS_LOAD : ACCESS_STORE,
		};

		if (rng_below(&r, 50) == 0)
			a.len = 1 + rng_below(&r, 300);
		if (rng_below(&r, 10) == 0)
			a.flags = ACCESS_LOAD | ACCESS_STORE;
		if (rng_below(&r, 100) == 0)
			core[t] = rng_below(&r, cores);
		split(s, &a, t, core[t]);
		exact_access(x, &threads[t], &a, core[t]);
	}
}

#endif
