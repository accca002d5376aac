/* SPDX-License-Identifier: MIT */
/*
 * transfer_sim - a machine of many threads that counts and estimates at once
 *
 * In each step one thread makes one access that a pattern generates. The access
 * goes through the exact directory, traps in each estimator that watches it,
 * and may be sampled. So the exact directory gives the truth about the stream
 * that the estimators see. The seed determines everything.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_TRANSFER_SIM_H
#define COMDET_TESTS_SRC_ENGINE_TRANSFER_SIM_H

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "src/exact/directory.h"
#include "src/engine/transfer.h"
#include "src/engine/transfer_tally.h"

enum {
	TSIM_THREADS = 64,
	TSIM_ESTIMATORS = 24,
	TSIM_LINE = 64,
	TSIM_MEMORY = 16,
	TSIM_OBJECTS = 1024
};

#define TSIM_PRIVATE 0x100000000ull /* addresses of thread i: + i * 1 MiB */

struct tsim;
typedef void tsim_pattern(struct tsim *s, uint32_t thread, struct access *a);

/* One estimator over the machine. */
struct tsim_estimator {
	struct tsim *sim;
	struct transfer *transfer;
	struct transfer_tally *tally;
	uint64_t delay; /* steps that arming takes */
	bool stalls;    /* the arming thread stands still meanwhile */
	uint64_t credits, chains;
	struct transfer_watched watched[TRANSFER_SLOTS_MAX];
	uint64_t line[TRANSFER_SLOTS_MAX]; /* watched, 1: none */
	uint32_t slots;
	size_t size;
	struct transfer_thread thread[TSIM_THREADS];
};

struct tsim {
	tsim_pattern *pattern;
	struct exact *exact;
	size_t exact_bytes;
	struct rng rng;
	uint64_t now;
	uint64_t steps; /* that this run has */
	uint64_t period, samples;
	uint32_t threads;
	uint32_t run; /* steps a thread runs at a stretch, mean */
	uint32_t running;
	double fraction; /* the pattern's */
	uint32_t number; /* the pattern's */
	uint32_t estimators;
	struct tsim_estimator *estimator[TSIM_ESTIMATORS];
	uint64_t left[TSIM_THREADS];    /* accesses to the next sample */
	uint64_t stalled[TSIM_THREADS]; /* until this step */
	struct exact_thread thread[TSIM_THREADS];
	/* The pattern's memory. */
	uint64_t fresh[TSIM_THREADS];
	uint32_t state[TSIM_THREADS][TSIM_MEMORY];
	uint64_t shared[TSIM_OBJECTS];
	double popularity[TSIM_OBJECTS]; /* cumulative, Zipf's */
};

static inline void *tsim_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static inline int tsim_arm(void *ctx, const struct transfer_watched *w,
			   uint64_t now, uint64_t *ready)
{
	struct tsim_estimator *e = ctx;

	e->watched[w->slot] = *w;
	e->line[w->slot] = w->line;
	*ready = now + e->delay;
	if (e->stalls)
		e->sim->stalled[e->sim->running] = now + e->delay;
	return 0;
}

static inline void tsim_disarm(void *ctx, uint32_t slot)
{
	((struct tsim_estimator *)ctx)->line[slot] = 1;
}

static inline void tsim_chain(void *ctx, const struct transfer_chain *c)
{
	struct tsim_estimator *e = ctx;

	e->chains++;
	e->credits += c->n;
	transfer_tally_add(e->tally, c);
}

static const struct transfer_watch tsim_watch = { tsim_arm, tsim_disarm };
static const struct transfer_sink tsim_sink = { tsim_chain };

static inline struct tsim *tsim_new(tsim_pattern *pattern, uint32_t threads,
				    uint64_t period, uint64_t seed)
{
	struct exact_config config = {
		.threads = threads,
		.line_bytes = TSIM_LINE,
		.regions = 1 << 16,
	};
	struct tsim *s = calloc(1, sizeof(*s));
	double sum = 0;

	if (!s)
		abort();
	s->exact_bytes = exact_size(&config);
	s->exact = exact_init(tsim_map(s->exact_bytes), &config);
	s->pattern = pattern;
	s->threads = threads;
	s->period = period;
	s->run = 1;
	rng_seed(&s->rng, seed, 0);
	for (uint32_t i = 0; i < threads; i++) {
		exact_thread_init(s->exact, &s->thread[i], i);
		s->left[i] = 1 + rng_below(&s->rng, period);
	}
	for (int i = 0; i < TSIM_OBJECTS; i++)
		s->popularity[i] = sum += 1.0 / (i + 1);
	return s;
}

static inline struct tsim_estimator *tsim_add(struct tsim *s,
					      struct transfer_config c,
					      uint64_t delay)
{
	struct tsim_estimator *e = calloc(1, sizeof(*e));

	if (!e || s->estimators == TSIM_ESTIMATORS)
		abort();
	c.threads = s->threads;
	c.line_bytes = TSIM_LINE;
	c.period = s->period;
	e->sim = s;
	e->delay = delay;
	e->size = transfer_size(&c);
	e->transfer =
		transfer_init(tsim_map(e->size), &c, &tsim_watch, &tsim_sink);
	e->tally = transfer_tally_init(
		tsim_map(transfer_tally_size(s->threads)), s->threads);
	e->slots = c.slots;
	for (uint32_t i = 0; i < e->slots; i++)
		e->line[i] = 1;
	for (uint32_t i = 0; i < s->threads; i++)
		transfer_thread_init(&e->thread[i], i, e,
				     rng_next(&s->rng) + s->estimators);
	return s->estimator[s->estimators++] = e;
}

static inline void tsim_free(struct tsim *s)
{
	for (uint32_t i = 0; i < s->estimators; i++) {
		struct tsim_estimator *e = s->estimator[i];

		munmap(e->tally, transfer_tally_size(s->threads));
		munmap(e->transfer, e->size);
		free(e);
	}
	munmap(s->exact, s->exact_bytes);
	free(s);
}

static inline void tsim_traps(struct tsim *s, struct tsim_estimator *e,
			      uint32_t thread, const struct access *a)
{
	uint64_t first = a->addr & -TSIM_LINE;
	uint64_t last = (a->addr + a->len - 1) & -TSIM_LINE;

	for (uint32_t i = 0; i < e->slots; i++) {
		const struct transfer_watched *w = &e->watched[i];
		uint32_t n;

		if (e->line[i] != first && e->line[i] != last)
			continue;
		for (n = 0; n < w->n; n++)
			if (a->addr < w->range[n].addr + w->range[n].len &&
			    w->range[n].addr < a->addr + a->len)
				break;
		if (n < w->n)
			transfer_trap(e->transfer, &e->thread[thread], i,
				      w->generation, n, a, s->now, 0);
	}
}

static inline void tsim_access(struct tsim *s, uint32_t thread,
			       const struct access *a)
{
	s->now++;
	exact_access(s->exact, &s->thread[thread], a, thread);
	for (uint32_t i = 0; i < s->estimators; i++)
		tsim_traps(s, s->estimator[i], thread, a);
	if (--s->left[thread])
		return;
	s->left[thread] = s->period / 2 + rng_below(&s->rng, s->period + 1);
	s->samples++;
	for (uint32_t i = 0; i < s->estimators; i++)
		transfer_sample(s->estimator[i]->transfer,
				&s->estimator[i]->thread[thread], a, s->now, 0);
}

static inline void tsim_run(struct tsim *s, uint64_t steps)
{
	uint32_t thread = 0;

	s->steps = steps;
	while (s->now < steps) {
		struct access a = { .len = 8 };

		if (s->run <= 1 || s->now == 0 || !rng_below(&s->rng, s->run))
			thread = rng_below(&s->rng, s->threads);
		if (s->stalled[thread] > s->now) {
			/* If all stand still, time passes all the same. */
			if (rng_below(&s->rng, s->threads) == 0)
				s->now++;
			thread = rng_below(&s->rng, s->threads);
			continue;
		}
		s->running = thread;
		s->pattern(s, thread, &a);
		tsim_access(s, thread, &a);
	}
	for (uint32_t i = 0; i < s->estimators; i++)
		transfer_finish(s->estimator[i]->transfer,
				&s->estimator[i]->thread[0]);
}

static inline struct transfer_sampling tsim_sampling(const struct tsim *s,
						     double systematic)
{
	return (struct transfer_sampling){ s->samples, 1.0 / 12, systematic,
					   0 };
}

static inline double tsim_truth(const struct tsim *s, uint32_t a, uint32_t b)
{
	return exact_cell(s->exact, a, b).transfers +
	       exact_cell(s->exact, b, a).transfers;
}

#endif
