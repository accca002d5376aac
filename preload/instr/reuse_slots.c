/* SPDX-License-Identifier: MIT */
/*
 * reuse_slots - the ranges that the reuse engines watch, visible to all threads
 *
 * One thread writes a slot at a time: the one for which the engine armed it. A
 * slot's range is 0 while it changes. A reader reads the generation before the
 * range; if the slot changes in between, the engine drops what comes with the
 * old generation.
 *
 * A filter counts, for each byte of a hashed address, the ranges that have it,
 * so that most accesses need not be compared with all slots.
 */
#include <stdatomic.h>
#include <string.h>

#include "config.h"
#include "place.h"
#include "reuse.h"
#include "reuse_internal.h"
#include "state.h"
#include "watch.h"
#include "src/base/signal_safe.h"

enum {
	LEN_SHIFT = 56, /* a range is one word: its length in the bits from here
			   on, its address below */
	FILTER_BYTES = 1 << 16,
};

_Static_assert(INSTR_REUSE_SLOTS_MAX + INSTR_WATCHED_BESIDE < 256,
	       "the bytes of the hooks' table count marks");

static struct instr_watched watched[INSTR_REUSE_SLOTS_MAX];
/* The first bytes are repeated at the end, for accesses that reach over it. */
static _Atomic uint8_t filter[FILTER_BYTES + INSTR_WIDEST];

void instr_reuse_slots_init(void)
{
	memset(watched, 0, sizeof(watched));
	memset((void *)filter, 0, sizeof(filter));
}

struct instr_watched *instr_reuse_slots(uint32_t first)
{
	return &watched[first];
}

static uint64_t range_addr(uint64_t range)
{
	return range & ((UINT64_C(1) << LEN_SHIFT) - 1);
}

static uint64_t range_bytes(uint64_t range)
{
	return range >> LEN_SHIFT;
}

static void mark(uint64_t range, int change)
{
	uint64_t addr = range_addr(range), bytes = range_bytes(range);

	for (uint64_t i = 0; i < bytes; i++) {
		uint64_t at = (addr + i) % FILTER_BYTES;

		atomic_fetch_add_explicit(&filter[at], change,
					  memory_order_relaxed);
		if (at < INSTR_WIDEST)
			atomic_fetch_add_explicit(&filter[at + FILTER_BYTES],
						  change, memory_order_relaxed);
	}
	if (range)
		instr_watch_mark(addr, bytes, change);
}

bool instr_reuse_slots_may_touch(const struct access *a)
{
	const void *at = (const void *)&filter[a->addr % FILTER_BYTES];
	uint64_t part[2];

	if (!a->len || a->len > INSTR_WIDEST)
		return true;
	memcpy(part, at, sizeof(part));
	if (a->len < sizeof(part[0]))
		return part[0] << 8 * (sizeof(part[0]) - a->len);
	return part[0] || (a->len > sizeof(part[0]) &&
			   part[1] << 8 * (INSTR_WIDEST - a->len));
}

void instr_reuse_slots_arm(struct instr_watched *s,
			   const struct reuse_watched *w)
{
	uint64_t range = w->addr | (uint64_t)w->len << LEN_SHIFT;

	atomic_store_explicit(&s->range, 0, memory_order_relaxed);
	/* (J) pairs with (K): the old range is gone before the generation. */
	atomic_store_explicit(&s->generation, w->generation,
			      memory_order_release);
	atomic_store_explicit(&s->thread, w->place.thread,
			      memory_order_relaxed);
	atomic_store_explicit(&s->range, range, memory_order_relaxed);
	mark(range, 1);
	mark(s->marked, -1);
	s->marked = range;
}

void instr_reuse_slots_disarm(struct instr_watched *s)
{
	atomic_store_explicit(&s->range, 0, memory_order_relaxed);
	mark(s->marked, -1);
	s->marked = 0;
}

bool instr_reuse_slot(uint32_t slot, struct instr_slot *s)
{
	uint64_t range;

	/* (K) pairs with (J). */
	s->generation = atomic_load_explicit(&watched[slot].generation,
					     memory_order_acquire);
	range = atomic_load_explicit(&watched[slot].range,
				     memory_order_relaxed);
	s->thread = atomic_load_explicit(&watched[slot].thread,
					 memory_order_relaxed);
	s->range.addr = range_addr(range);
	s->range.len = range_bytes(range);
	return range;
}

/* Find for slot @s alone. */
static bool decides(const struct instr_watched *s, enum reuse_scope scope,
		    const struct thread *t, const struct access *a,
		    struct access *piece, uint32_t *generation)
{
	struct cpu_place use;
	uint64_t range, addr, end;

	/* (K) pairs with (J). */
	*generation =
		atomic_load_explicit(&s->generation, memory_order_acquire);
	range = atomic_load_explicit(&s->range, memory_order_relaxed);
	addr = range_addr(range);
	end = addr + range_bytes(range);
	if (a->addr >= end || addr >= a->addr + a->len)
		return false;
	use = instr_place(
		atomic_load_explicit(&s->thread, memory_order_relaxed));
	if (reuse_verdict(scope, &use, &instr_of(t)->place, access_stores(a)) ==
	    REUSE_NOTHING)
		return false;
	*piece = *a;
	if (a->len > INSTR_REUSE_LINE_BYTES) {
		piece->addr = a->addr > addr ? a->addr : addr;
		piece->len = (a->addr + a->len < end ? a->addr + a->len : end) -
			     piece->addr;
	}
	return true;
}

uint32_t instr_reuse_slots_find(const struct instr_watched *s, uint32_t n,
				uint32_t i, enum reuse_scope scope,
				const struct thread *t, const struct access *a,
				struct access *piece, uint32_t *generation)
{
	while (i < n && !decides(&s[i], scope, t, a, piece, generation))
		i++;
	return i;
}
