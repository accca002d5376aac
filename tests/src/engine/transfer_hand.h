/* SPDX-License-Identifier: MIT */
/*
 * transfer_hand - an estimator that is driven by hand
 *
 * A watch that records its calls, a sink that keeps the last chain, and samples
 * and traps one by one.
 */
#ifndef COMDET_TESTS_SRC_ENGINE_TRANSFER_HAND_H
#define COMDET_TESTS_SRC_ENGINE_TRANSFER_HAND_H

#include <check.h>
#include <string.h>
#include <sys/mman.h>

#include "src/engine/transfer.h"

enum {
	LINE = 64,
	BASE = 0x40000,
	PERIOD = 1000,
	THREADS = 4
};

/* The caller of an estimator; all of its threads share one. */
struct hand {
	struct transfer *transfer;
	struct transfer_thread thread[THREADS];
	struct transfer_watched armed[TRANSFER_SLOTS_MAX];
	bool live[TRANSFER_SLOTS_MAX];
	int arms, disarms, chains;
	int fail;       /* what arming returns */
	uint64_t delay; /* that arming takes */
	struct transfer_chain chain;
	struct transfer_event event[16];
	/* Called once while the registers are being programmed. */
	void (*meanwhile)(struct hand *h);
	/* Called once by the sink, before it looks at the events. */
	void (*in_sink)(struct hand *h);
};

static inline void call_once(struct hand *h, void (**what)(struct hand *h))
{
	void (*f)(struct hand * h) = *what;

	*what = NULL;
	if (f)
		f(h);
}

static inline int hand_arm(void *ctx, const struct transfer_watched *w,
			   uint64_t now, uint64_t *ready)
{
	struct hand *h = ctx;

	h->arms++;
	call_once(h, &h->meanwhile);
	*ready = now + h->delay;
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
	call_once(h, &h->meanwhile);
	h->live[slot] = false;
}

static inline void hand_chain(void *ctx, const struct transfer_chain *c)
{
	struct hand *h = ctx;

	h->chains++;
	h->chain = *c;
	call_once(h, &h->in_sink);
	memcpy(h->event, c->event, (c->n < 16 ? c->n : 16) * sizeof(*c->event));
}

static const struct transfer_watch hand_watch = { hand_arm, hand_disarm };
static const struct transfer_sink hand_sink = { hand_chain };

static inline void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	return p;
}

static inline struct transfer_config config(enum transfer_kind kind)
{
	return (struct transfer_config){
		.kind = kind,
		.threads = THREADS,
		.slots = 1,
		.line_bytes = LINE,
		.chunk_bytes = LINE,
		.ranges = 1,
		.skip = 1,
		.spins = 10,
		.period = PERIOD,
	};
}

static struct hand hand;

static inline struct hand *start(struct transfer_config c, uint64_t seed)
{
	struct hand *h = &hand;

	memset(h, 0, sizeof(*h));
	ck_assert_uint_ne(transfer_size(&c), 0);
	h->transfer = transfer_init(map(transfer_size(&c)), &c, &hand_watch,
				    &hand_sink);
	ck_assert_ptr_nonnull(h->transfer);
	for (uint32_t i = 0; i < THREADS; i++)
		transfer_thread_init(&h->thread[i], i, h, seed);
	return h;
}

static inline struct access word(uint32_t line, uint32_t n, uint32_t flags)
{
	return (struct access){ .addr = BASE + line * LINE + n * 8,
				.len = 8,
				.flags = flags };
}

static inline void sample(struct hand *h, uint32_t thread, struct access a,
			  uint64_t now)
{
	transfer_sample(h->transfer, &h->thread[thread], &a, now, 0);
}

static inline enum transfer_need trap(struct hand *h, uint32_t thread,
				      struct access a, uint64_t now)
{
	return transfer_trap(h->transfer, &h->thread[thread], 0,
			     h->armed[0].generation, 0, &a, now, 10 + thread);
}

static inline struct transfer_stats stats(const struct hand *h)
{
	return transfer_stats(h->transfer);
}

#endif
