/* SPDX-License-Identifier: MIT */
/*
 * reuse_sim - a trace through engines that watch in software
 *
 * Each access of the trace traps in the slots whose use it decides, and may
 * then be sampled. The events of all uses are kept.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_REUSE_SIM_H
#define COMDET_TESTS_SRC_ENGINE_REUSE_SIM_H

#include <sys/mman.h>

#include "src/engine/reuse_table.h"
#include "tests/oracle/reuse_oracle.h"

struct sim_event {
	uint32_t use, end; /* numbers of accesses; UINT32_MAX: none */
	enum reuse_outcome outcome;
	uint64_t time, weight;
	bool temporal;
};

struct sim {
	struct reuse_config config;
	struct reuse *reuse;
	struct reuse_table *table;
	struct reuse_thread thread[TRACE_THREADS];
	uint64_t own[TRACE_THREADS], of_domain[TRACE_THREADS];
	size_t reuse_bytes, table_bytes;
	struct sim_event *event;
	uint32_t events, room;
};

static inline void *sim_map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		abort();
	return p;
}

static inline int sim_arm(void *ctx, const struct reuse_watched *w)
{
	struct sim *s = ctx;

	reuse_table_add(s->table, 0, w);
	return 0;
}

static inline void sim_disarm(void *ctx, uint32_t slot)
{
	struct sim *s = ctx;

	reuse_table_remove(s->table, 0, slot);
}

static inline uint64_t sim_count(void *ctx, const struct cpu_place *use)
{
	struct sim *s = ctx;

	return s->config.scope == REUSE_PRIVATE ? s->own[use->thread]
						: s->of_domain[use->domain];
}

static inline void sim_decided(void *ctx, const struct reuse_event *v)
{
	struct sim *s = ctx;
	struct sim_event *e;

	if (s->events == s->room) {
		s->room = 2 * s->room + 1024;
		s->event = realloc(s->event, s->room * sizeof(*s->event));
		if (!s->event)
			abort();
	}
	e = &s->event[s->events++];
	e->use = v->use.ip - 0x400000;
	e->end = v->end.flags ? v->end.ip - 0x400000 : UINT32_MAX;
	e->outcome = v->outcome;
	e->time = v->time;
	e->weight = v->weight;
	e->temporal = v->temporal;
}

static const struct reuse_watch sim_watch = { sim_arm, sim_disarm, sim_count };
static const struct reuse_sink sim_sink = { sim_decided };

static inline struct sim *sim_new(const struct reuse_config *config,
				  uint64_t seed)
{
	uint32_t slots[REUSE_TABLE_ENGINES] = { config->slots };
	struct sim *s = calloc(1, sizeof(*s));

	if (!s)
		abort();
	s->config = *config;
	s->reuse_bytes = reuse_size(config);
	s->table_bytes = reuse_table_size(slots);
	s->table = reuse_table_init(sim_map(s->table_bytes), slots);
	s->reuse = reuse_init(sim_map(s->reuse_bytes), config, &sim_watch,
			      &sim_sink);
	for (uint32_t i = 0; i < TRACE_THREADS; i++) {
		struct cpu_place place = { i, 0, 0 };

		reuse_thread_init(&s->thread[i], &place, s, seed);
	}
	return s;
}

static inline void sim_free(struct sim *s)
{
	munmap(s->table, s->table_bytes);
	munmap(s->reuse, s->reuse_bytes);
	free(s->event);
	free(s);
}

static inline uint64_t sim_now(const struct sim *s, const struct cpu_place *p)
{
	return s->config.scope == REUSE_PRIVATE ? s->own[p->thread]
						: s->of_domain[p->domain];
}

static inline void sim_access(struct sim *s, const struct trace_access *x,
			      bool sample)
{
	struct reuse_thread *t = &s->thread[x->place.thread];
	struct reuse_hit hit[REUSE_TABLE_HITS];
	uint32_t n;

	t->place = x->place;
	s->own[x->place.thread]++;
	s->of_domain[x->place.domain]++;
	do {
		n = reuse_table_find(s->table, &x->a, &x->place, hit);
		if (n && !reuse_may_watch(reuse_table_bytes(s->table),
					  x->a.addr, x->a.len))
			abort();
		for (uint32_t i = 0; i < n; i++)
			reuse_trap(s->reuse, t, hit[i].slot, hit[i].generation,
				   &x->a, sim_now(s, &x->place));
	} while (n == REUSE_TABLE_HITS);
	if (sample)
		reuse_sample(s->reuse, t, &x->a, sim_now(s, &x->place));
}

/* Each access is sampled with probability 1 / @period. */
static inline void sim_run(struct sim *s, const struct trace *t,
			   uint64_t period, struct rng *rng)
{
	for (uint32_t i = 0; i < t->n; i++)
		sim_access(s, &t->access[i],
			   period == 1 || !rng_below(rng, period));
	reuse_finish(s->reuse, &s->thread[0]);
}

#endif
