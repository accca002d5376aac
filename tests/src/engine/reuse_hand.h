/* SPDX-License-Identifier: MIT */
/*
 * reuse_hand - a reuse engine that is driven by hand
 *
 * A watch that records its calls, a sink that keeps the last event, and samples
 * and traps one by one.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_REUSE_HAND_H
#define COMDET_TESTS_SRC_ENGINE_REUSE_HAND_H

#include <check.h>
#include <string.h>
#include <sys/mman.h>

#include "src/engine/reuse.h"

enum {
	LINE = 64,
	BASE = 0x40000,
	THREADS = 4,
	SLOTS_MAX = 8,
};

/* Threads 0 and 1 share a core, 2 their domain; 3 is elsewhere. */
static const struct cpu_place places[THREADS] = {
	{ 0, 0, 0 }, { 1, 0, 0 }, { 2, 1, 0 }, { 3, 2, 1 }
};

struct hand {
	struct reuse *reuse;
	struct reuse_thread thread[THREADS];
	struct reuse_watched armed[SLOTS_MAX];
	bool live[SLOTS_MAX];
	int arms, disarms, events;
	int fail;       /* what arming returns */
	uint64_t count; /* returned by hand_count */
	struct reuse_event event;
	/* Called once while a watch is being changed. */
	void (*meanwhile)(struct hand *h);
};

static struct hand hand;

static inline void call_once(struct hand *h)
{
	void (*f)(struct hand * h) = h->meanwhile;

	h->meanwhile = NULL;
	if (f)
		f(h);
}

static inline int hand_arm(void *ctx, const struct reuse_watched *w)
{
	struct hand *h = ctx;

	h->arms++;
	call_once(h);
	if (h->fail)
		return h->fail;
	h->armed[w->slot] = *w;
	h->live[w->slot] = true;
	return 0;
}

static inline void hand_disarm(void *ctx, uint32_t slot)
{
	struct hand *h = ctx;

	h->disarms++;
	call_once(h);
	h->live[slot] = false;
}

static inline uint64_t hand_count(void *ctx, const struct cpu_place *use)
{
	return ((struct hand *)ctx)->count;
}

static inline void hand_decided(void *ctx, const struct reuse_event *v)
{
	struct hand *h = ctx;

	h->events++;
	h->event = *v;
}

static const struct reuse_watch hand_watch = { hand_arm, hand_disarm,
					       hand_count };
static const struct reuse_sink hand_sink = { hand_decided };

static inline void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static inline struct reuse_config config(enum reuse_scope scope,
					 enum reuse_granularity granularity,
					 uint32_t slots)
{
	return (struct reuse_config){
		.scope = scope,
		.granularity = granularity,
		.line_bytes = LINE,
		.slots = slots,
		.spins = 10,
	};
}

static inline struct hand *start(struct reuse_config c, uint64_t seed)
{
	struct hand *h = &hand;

	memset(h, 0, sizeof(*h));
	h->reuse = reuse_init(map(reuse_size(&c)), &c, &hand_watch, &hand_sink);
	ck_assert_ptr_nonnull(h->reuse);
	for (int i = 0; i < THREADS; i++)
		reuse_thread_init(&h->thread[i], &places[i], h, seed);
	return h;
}

static inline struct access at(uint64_t addr, bool store)
{
	return (struct access){
		.addr = addr,
		.ip = store ? 0x5707e : 0x10ad,
		.len = 8,
		.flags = store ? ACCESS_STORE : ACCESS_LOAD,
	};
}

static inline void sample(struct hand *h, int thread, uint64_t addr, bool store,
			  uint64_t count)
{
	struct access a = at(addr, store);

	reuse_sample(h->reuse, &h->thread[thread], &a, count);
}

/* A trap of slot 0 as it is armed now. */
static inline void trap(struct hand *h, int thread, uint64_t addr, bool store,
			uint64_t count)
{
	struct access a = at(addr, store);

	reuse_trap(h->reuse, &h->thread[thread], 0, h->armed[0].generation, &a,
		   count);
}

#endif
