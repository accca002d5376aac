/* SPDX-License-Identifier: MIT */
/*
 * recall - recognize the path of an allocation without a walk
 */
#include <stdatomic.h>

#include "recall.h"
#include "src/base/signal_safe.h"

enum {
	WORD = 8,
	SET_BITS = 11,
	WAYS = 4,
	RBPS_MAX = HEAP_PATH_MAX - 1,
};

/*
 * Words are counted from the innermost frame; frame[1] is the first return
 * address. Of a path with fewer calls the first one stands several times.
 */
struct path {
	/* A sequence, and the generation, or 0: being written, or empty. */
	_Alignas(128) _Atomic uint64_t state;
	_Atomic uint32_t number;
	_Atomic uint16_t farthest, rbps;
	_Atomic uint64_t address[HEAP_PATH_MAX];
	_Atomic uint64_t at[HEAP_PATH_MAX / 4]; /* 16 bits each */
	_Atomic uint16_t rbp_at[RBPS_MAX];
	_Atomic int16_t rbp[RBPS_MAX]; /* words from the frame */
};
_Static_assert(sizeof(struct path) == 128, "two lines");

#define SEQUENCE (UINT64_C(1) << 32)

static struct path paths[1 << SET_BITS][WAYS];
static _Atomic uint32_t generation = 1; /* odd */
static _Atomic uint32_t victim;

#define GET(field) atomic_load_explicit(&(field), memory_order_relaxed)
#define SET(field, value)                                                      \
	atomic_store_explicit(&(field), value, memory_order_relaxed)

void recall_forget(void)
{
	atomic_fetch_add_explicit(&generation, 2, memory_order_relaxed);
}

void recall_path_begin(struct recall_path *p, uint64_t caller,
		       const uint64_t *frame)
{
	p->generation = GET(generation);
	p->calls = 1;
	p->rbps = 0;
	p->frame = frame;
	p->lasting = true;
	p->address[0] = caller;
	p->at[0] = (uint64_t)(uintptr_t)(frame + 1);
}

void recall_path_call(struct recall_path *p, uint64_t at, uint64_t address)
{
	p->at[p->calls] = at;
	p->address[p->calls++] = address;
}

void recall_path_rbp(struct recall_path *p, uint64_t at, uint64_t rbp)
{
	p->rbp_at[p->rbps] = at;
	p->rbp[p->rbps++] = rbp;
}

static struct path *set_of(const struct own_stack *s, uint64_t caller,
			   const uint64_t *frame)
{
	uint64_t depth = s->high - (uint64_t)(uintptr_t)frame;

	return paths[(caller ^ depth << 32) * 0x9E3779B97F4A7C15u >>
		     (64 - SET_BITS)];
}

__attribute__((noinline)) static uint64_t rbps_differ(const struct path *p,
						      const uint64_t *frame,
						      uint16_t farthest,
						      unsigned rbps)
{
	uint64_t differ = 0;

	for (unsigned i = 0; i < rbps && i < RBPS_MAX; i++) {
		uint16_t at = GET(p->rbp_at[i]);

		if (at > farthest)
			return true;
		differ |= frame[at] ^
			  (uint64_t)(uintptr_t)(frame + GET(p->rbp[i]));
	}
	return differ;
}

/*
 * Are the words of @p on the stack, if it has the @state? Nothing beyond the
 * stack is read, even if another path is written meanwhile. frame[1] has been
 * compared.
 */
static inline bool matches(const struct path *p, const struct own_stack *s,
			   const uint64_t *frame, uint64_t state)
{
	uint64_t low = GET(p->at[0]), high = GET(p->at[1]), differ;
	uint16_t farthest = GET(p->farthest);
	unsigned rbps = GET(p->rbps);

	/* (B) pairs with (C): a writer that changed them is seen. */
	atomic_thread_fence(memory_order_acquire);
	if (GET(p->state) != state ||
	    (uint64_t)(uintptr_t)(frame + farthest) >= s->high)
		return false;
	differ = frame[high & UINT16_MAX] ^ GET(p->address[4]);
#pragma GCC unroll 4
	for (int i = 1; i < HEAP_PATH_MAX / 2; i++) {
		low >>= 16;
		high >>= 16;
		differ |= frame[low & UINT16_MAX] ^ GET(p->address[i]);
		differ |= frame[high & UINT16_MAX] ^
			  GET(p->address[i + HEAP_PATH_MAX / 2]);
	}
	if (__builtin_expect(rbps, 0))
		differ |= rbps_differ(p, frame, farthest, rbps);
	return !differ;
}

uint32_t recall(const struct own_stack *s, uint64_t caller,
		const uint64_t *frame)
{
	const struct path *p = set_of(s, caller, frame);
	uint32_t now = GET(generation);

	/* The frame itself can be read. */
	if ((uint64_t)(uintptr_t)(frame + 2) < s->low)
		return 0;
	for (int i = 0; i < WAYS; i++, p++) {
		/* (A) pairs with (D): the words are those of this state. */
		uint64_t state =
			atomic_load_explicit(&p->state, memory_order_acquire);
		uint32_t number = GET(p->number);

		if (GET(p->address[0]) != caller || (uint32_t)state != now ||
		    !matches(p, s, frame, state))
			continue;
		/* (E) pairs with (C), as (B). */
		atomic_thread_fence(memory_order_acquire);
		if (GET(p->state) == state)
			return number;
	}
	return 0;
}

/* What @p has in words, and whether it fits. */
struct words {
	uint64_t at[HEAP_PATH_MAX / 4];
	uint16_t farthest;
	uint16_t rbp_at[RBPS_MAX];
	int16_t rbp[RBPS_MAX];
};

static bool word_of(const struct own_stack *s, const struct recall_path *p,
		    uint64_t at, uint16_t *out, uint16_t *farthest)
{
	uint64_t word = (at - (uint64_t)(uintptr_t)p->frame) / WORD;

	if (at >= s->high || word > UINT16_MAX)
		return false;
	*out = (uint16_t)word;
	if (*out > *farthest)
		*farthest = *out;
	return true;
}

static bool to_words(const struct own_stack *s, const struct recall_path *p,
		     struct words *w)
{
	*w = (struct words){ .farthest = 0 };
	for (unsigned i = 0; i < HEAP_PATH_MAX; i++) {
		uint16_t at;

		if (!word_of(s, p, p->at[i < p->calls ? i : 0], &at,
			     &w->farthest))
			return false;
		w->at[i / 4] |= (uint64_t)at << 16 * (i % 4);
	}
	for (unsigned i = 0; i < p->rbps; i++) {
		int64_t from =
			(int64_t)(p->rbp[i] - (uint64_t)(uintptr_t)p->frame);

		if (from % WORD || from / WORD != (int16_t)(from / WORD) ||
		    !word_of(s, p, p->rbp_at[i], &w->rbp_at[i], &w->farthest))
			return false;
		w->rbp[i] = (int16_t)(from / WORD);
	}
	return true;
}

/* A path that is of no use any more, or any. */
static struct path *to_replace(struct path *set)
{
	uint32_t now = GET(generation), i = GET(victim);

	for (int w = 0; w < WAYS; w++)
		if ((uint32_t)GET(set[w].state) != now)
			return &set[w];
	SET(victim, i + 1);
	return &set[i % WAYS];
}

void recall_put(const struct own_stack *s, const struct recall_path *r,
		uint32_t number)
{
	struct words w;
	struct path *p;
	uint64_t before, sequence;

	if (!r->lasting || (uint64_t)(uintptr_t)(r->frame + 2) < s->low ||
	    !to_words(s, r, &w))
		return;
	p = to_replace(set_of(s, r->address[0], r->frame));
	before = GET(p->state);
	sequence = (before / SEQUENCE + 1) * SEQUENCE;
	/* 0: empty. */
	if ((before && !(uint32_t)before) ||
	    !atomic_compare_exchange_strong_explicit(
		    &p->state, &before, sequence, memory_order_relaxed,
		    memory_order_relaxed))
		return;
	/* (C) pairs with (B). */
	atomic_thread_fence(memory_order_release);
	SET(p->number, number);
	SET(p->farthest, w.farthest);
	SET(p->rbps, (uint16_t)r->rbps);
	for (unsigned i = 0; i < HEAP_PATH_MAX; i++)
		SET(p->address[i], r->address[i < r->calls ? i : 0]);
	for (unsigned i = 0; i < HEAP_PATH_MAX / 4; i++)
		SET(p->at[i], w.at[i]);
	for (unsigned i = 0; i < r->rbps; i++) {
		SET(p->rbp_at[i], w.rbp_at[i]);
		SET(p->rbp[i], w.rbp[i]);
	}
	/* (D) pairs with (A). */
	atomic_store_explicit(&p->state, sequence | r->generation,
			      memory_order_release);
}
