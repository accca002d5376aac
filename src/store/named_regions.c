/* SPDX-License-Identifier: MIT */
/*
 * named_regions - samples and detections by the regions that a program names
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "named_regions.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	EMPTY, /* states of a slot, in this order */
	FILLING,
	NAMED,
};

enum {
	LOCK_TRIES = 1000,
	OTHERS = 0, /* the slot of names for which there is no other */
};

/* Now and once: a handler on this thread may look at the place or change it. */
#define NOW(place) (*(volatile __typeof__(place) *)&(place))

/* The name as it is kept. */
static void take_name(char *kept, const char *name)
{
	size_t n = 0;

	if (!name || !*name)
		name = "(no name)";
	for (; n < CDP_REGION_NAME_BYTES - 1 && name[n]; n++)
		kept[n] = name[n];
	memset(kept + n, 0, CDP_REGION_NAME_BYTES - n);
}

static uint32_t first_slot(const char *kept)
{
	uint32_t h = 2166136261u;

	for (; *kept; kept++)
		h = (h ^ (uint8_t)*kept) * 16777619u;
	return h;
}

static bool is_named(const struct named_region *g, const char *kept)
{
	return !memcmp(g->name, kept, CDP_REGION_NAME_BYTES);
}

static uint16_t slot_of(struct named_regions *r, const char *kept)
{
	uint32_t first = first_slot(kept);

	for (uint32_t n = 0; n < NAMED_REGIONS_MAX; n++) {
		uint32_t i = (first + n) % NAMED_REGIONS_MAX, empty = EMPTY;
		struct named_region *g = &r->slot[i];
		/* (A) pairs with (B): the name is complete. */
		uint32_t state =
			atomic_load_explicit(&g->state, memory_order_acquire);

		if (i == OTHERS)
			continue;
		if (state == NAMED && is_named(g, kept))
			return (uint16_t)i;
		if (state == EMPTY &&
		    atomic_compare_exchange_strong_explicit(
			    &g->state, &empty, FILLING, memory_order_relaxed,
			    memory_order_relaxed)) {
			memcpy(g->name, kept, CDP_REGION_NAME_BYTES);
			/* (B) pairs with (A). */
			atomic_store_explicit(&g->state, NAMED,
					      memory_order_release);
			return (uint16_t)i;
		}
	}
	return OTHERS;
}

void named_region_begin(struct named_regions *r, struct region_stack *stack,
			const char *name)
{
	uint32_t depth = NOW(stack->depth);
	char kept[CDP_REGION_NAME_BYTES];
	uint16_t slot;

	if (depth < REGION_DEPTH_MAX) {
		take_name(kept, name);
		slot = slot_of(r, kept);
		NOW(stack->open[depth]) = slot;
		NOW(stack->depth) = depth + 1;
		/* A handler that came between has used the place. */
		NOW(stack->open[depth]) = slot;
	} else if (depth < UINT32_MAX) {
		NOW(stack->depth) = depth + 1;
	}
}

void named_region_end(struct named_regions *r, struct region_stack *stack,
		      const char *name)
{
	uint32_t depth = NOW(stack->depth);
	char kept[CDP_REGION_NAME_BYTES];

	if (depth > REGION_DEPTH_MAX) {
		NOW(stack->depth) = depth - 1;
		return;
	}
	take_name(kept, name);
	while (depth--) {
		uint16_t slot = NOW(stack->open[depth]);

		if (slot != OTHERS && (slot >= NAMED_REGIONS_MAX ||
				       !is_named(&r->slot[slot], kept)))
			continue;
		NOW(stack->depth) = depth;
		return;
	}
}

static struct cdp_memory *new_record(struct named_regions *r, struct store *s,
				     struct named_region *g)
{
	struct cdp_memory *m;

	r->writer.section = CDP_MEMORY;
	m = store_record(s, &r->writer);
	if (!m)
		return NULL;
	m->kind = CDP_MEMORY_REGION;
	memcpy(m->region.name, g == &r->slot[OTHERS] ? "(others)" : g->name,
	       g == &r->slot[OTHERS] ? sizeof("(others)") : sizeof(g->name));
	store_commit(&r->writer);
	/* (C) pairs with (D): the record is complete. */
	atomic_store_explicit(&g->record, m, memory_order_release);
	return m;
}

/* The slot of the innermost region, or NULL: there is none. */
static struct named_region *innermost(struct named_regions *r,
				      const struct region_stack *stack)
{
	/* Read once: a thread of a raw clone may share the stack. */
	uint32_t depth = NOW(stack->depth);
	uint16_t slot;

	if (!depth)
		return NULL;
	if (depth > REGION_DEPTH_MAX)
		depth = REGION_DEPTH_MAX;
	slot = NOW(stack->open[depth - 1]);
	return &r->slot[slot < NAMED_REGIONS_MAX ? slot : OTHERS];
}

/* Returns 0 and *@m, -ENOSPC, or -EAGAIN: another thread keeps the lock. */
static int record_of(struct named_regions *r, struct store *s,
		     struct named_region *g, struct cdp_memory **m)
{
	/* (D) pairs with (C). */
	*m = atomic_load_explicit(&g->record, memory_order_acquire);
	if (*m)
		return 0;
	if (!spin_try_lock(&r->lock, LOCK_TRIES))
		return -EAGAIN;
	*m = atomic_load_explicit(&g->record, memory_order_relaxed);
	if (!*m)
		*m = new_record(r, s, g);
	spin_unlock(&r->lock);
	return *m ? 0 : -ENOSPC;
}

int named_region_sample(struct named_regions *r, struct store *s,
			const struct region_stack *stack, enum sample_kind kind,
			uint32_t weight)
{
	struct named_region *g = innermost(r, stack);
	struct cdp_memory *m;
	int error = g ? record_of(r, s, g, &m) : 0;

	if (!g || error)
		return error;
	shared_add(&m->region.samples[kind], 1);
	if (weight > 1)
		shared_add(&m->region.samples_skipped, weight - 1);
	return 0;
}

int named_region_detected(struct named_regions *r, struct store *s,
			  const struct region_stack *stack,
			  const struct detection *d)
{
	uint64_t weight = d->weight ? d->weight : 1;
	struct named_region *g = innermost(r, stack);
	struct cdp_memory *m;
	int error = g ? record_of(r, s, g, &m) : 0;

	if (!g || error)
		return error;
	shared_add(&m->region.detections[d->sharing], weight);
	if (d->padding == PADDING_AVOIDS)
		shared_add(&m->region.avoidable, weight);
	if (d->padding == PADDING_KEEPS)
		shared_add(&m->region.unavoidable, weight);
	return 0;
}

void named_regions_restart(struct named_regions *r)
{
	for (uint32_t i = 0; i < NAMED_REGIONS_MAX; i++)
		if (atomic_load_explicit(&r->slot[i].record,
					 memory_order_relaxed))
			atomic_store_explicit(&r->slot[i].record, NULL,
					      memory_order_relaxed);
	r->writer = (struct store_writer){ .section = CDP_MEMORY };
	atomic_store_explicit(&r->lock, 0, memory_order_relaxed);
}
