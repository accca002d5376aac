/* SPDX-License-Identifier: MIT */
/*
 * reuse - how long until data is used again, from samples
 *
 * The life of a slot, all under its lock (slot.h):
 *
 *   FREE --accept--> HELD --first access, with use_next--> USED
 *    ^                 +----------- else at once ----------^ |
 *    +------------------------ decided ----------------------+
 *
 * accept also takes a slot from the use that holds it. While a thread changes
 * the slot's watch, others may end the use, but no new use comes to the slot.
 *
 * Free slots have a bit in a bitmap, set and cleared under the slot's lock. The
 * bit only hints at a free slot; what the slot's state says under the lock
 * counts.
 */
#include <stdatomic.h>
#include <string.h>

#include "reuse.h"
#include "slot.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	ALIGN = 64,
	WORD_BITS = 64,
	TRIES = 4, /* to find a slot that nobody changes */
};

/* States of a slot, after SLOT_FREE. */
enum {
	SLOT_HELD = 1, /* waits for the access that will be the use */
	SLOT_USED,
};

struct reuse_slot {
	_Alignas(ALIGN) struct slot slot;
	_Atomic uint32_t thread; /* of the use; changed under the lock */
	uint64_t candidates; /* since the slot was free, this one included */
	uint64_t count;      /* the thread's count at the use */
	uint32_t path;       /* the calls that led to the use */
	struct reuse_watched watched;
	struct access use;
};

struct reuse {
	struct reuse_config config;
	const struct reuse_watch *watch;
	const struct reuse_sink *sink;
	struct {
		_Atomic uint64_t uses, accepted, displaced, traps, idle, stale,
			busy, busy_traps, arm_failed, failed, waiting;
	} stats;
	_Atomic uint64_t *free_slots; /* a bit each */
	uint32_t words;
	struct reuse_slot slot[];
};

static void count(_Atomic uint64_t *counter, uint64_t n)
{
	atomic_fetch_add_explicit(counter, n, memory_order_relaxed);
}

static bool config_valid(const struct reuse_config *c)
{
	return c->scope < REUSE_SCOPES &&
	       c->granularity < REUSE_GRANULARITIES && c->slots >= 1 &&
	       c->slots <= REUSE_SLOTS_MAX && c->line_bytes >= 8 &&
	       c->line_bytes <= 64 && is_power_of_two(c->line_bytes) &&
	       (!c->use_next || c->scope == REUSE_PRIVATE);
}

static size_t slots_bytes(const struct reuse_config *c)
{
	return sizeof(struct reuse) + c->slots * sizeof(struct reuse_slot);
}

size_t reuse_size(const struct reuse_config *c)
{
	if (!config_valid(c))
		return 0;
	return slots_bytes(c) + set_words(c->slots) * sizeof(uint64_t);
}

struct reuse *reuse_init(void *mem, const struct reuse_config *c,
			 const struct reuse_watch *watch,
			 const struct reuse_sink *sink)
{
	struct reuse *e = mem;

	if (!config_valid(c))
		return NULL;
	e->config = *c;
	e->watch = watch;
	e->sink = sink;
	e->words = set_words(c->slots);
	e->free_slots = (void *)((unsigned char *)mem + slots_bytes(c));
	for (uint32_t i = 0; i < c->slots; i++)
		e->free_slots[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
	return e;
}

void reuse_thread_init(struct reuse_thread *t, const struct cpu_place *place,
		       void *ctx, uint64_t seed)
{
	memset(t, 0, sizeof(*t));
	t->ctx = ctx;
	t->place = *place;
	rng_seed(&t->rng, seed, place->thread);
}

static void unlock(struct reuse_slot *s)
{
	spin_unlock(&s->slot.lock);
}

/* With the lock. Traps of what the slot watched before are stale from here. */
static void change(struct reuse *e, struct reuse_slot *s, uint32_t new)
{
	uint32_t i = s - e->slot;
	uint64_t bit = UINT64_C(1) << i % WORD_BITS;

	slot_change(&s->slot, new);
	if (new == SLOT_FREE)
		atomic_fetch_or_explicit(&e->free_slots[i / WORD_BITS], bit,
					 memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&e->free_slots[i / WORD_BITS], ~bit,
					  memory_order_relaxed);
}

/* A change of the slot's watch that this thread has to make. */
struct turn {
	struct slot_turn slot;
	struct reuse_watched watched;
};

/* Called with the lock, returns without. */
static void look(struct reuse_slot *s, struct turn *turn)
{
	turn->watched = s->watched;
	turn->watched.generation = turn->slot.generation;
	unlock(s);
}

/* Called with the lock, returns without. */
static bool begin_turn(struct reuse_slot *s, struct turn *turn)
{
	if (!slot_begin_turn(&s->slot, &turn->slot)) {
		unlock(s);
		return false;
	}
	look(s, turn);
	return true;
}

/* Bring the watch in line with what the slot is to watch. Without the lock. */
static void program(struct reuse *e, struct reuse_thread *t,
		    struct reuse_slot *s, struct turn *turn)
{
	enum slot_progress progress;

	for (;;) {
		int err = 0;

		if (turn->slot.arm)
			err = e->watch->arm(t->ctx, &turn->watched);
		else
			e->watch->disarm(t->ctx, turn->watched.slot);
		progress = slot_check_turn(&s->slot, &turn->slot, err);
		if (progress != SLOT_AGAIN)
			break;
		look(s, turn);
	}
	if (progress == SLOT_FAILED) {
		count(&e->stats.arm_failed, 1);
		if (slot_state(&s->slot) != SLOT_FREE) {
			count(&e->stats.failed, s->candidates);
			change(e, s, SLOT_FREE);
		}
	}
	slot_end_turn(&s->slot);
}

/* Find a free slot that can be armed at once. Returns it locked, or NULL. */
static struct reuse_slot *pick_free(struct reuse *e, struct reuse_thread *t)
{
	uint32_t first = rng_below(&t->rng, e->words);

	for (uint32_t i = 0; i < e->words; i++) {
		uint32_t w = (first + i) % e->words;
		uint64_t bits = atomic_load_explicit(&e->free_slots[w],
						     memory_order_relaxed);

		for (; bits; bits &= bits - 1) {
			struct reuse_slot *s =
				&e->slot[w * WORD_BITS + __builtin_ctzll(bits)];

			if (!slot_lock_if_free(&s->slot))
				continue;
			if (!s->slot.programming)
				return s;
			unlock(s);
		}
	}
	return NULL;
}

/*
 * Find a free slot, else take a random one. Returns it locked, or NULL if it is
 * busy.
 *
 * Never takes a slot whose watch another thread is changing: that thread may
 * have lost its core, and would arm this use long after the data was used
 * again.
 */
static struct reuse_slot *pick(struct reuse *e, struct reuse_thread *t)
{
	for (uint32_t n = 1;; n++) {
		struct reuse_slot *s = pick_free(e, t);

		if (s)
			return s;
		s = &e->slot[rng_below(&t->rng, e->config.slots)];
		if (!spin_try_lock(&s->slot.lock, e->config.spins))
			return NULL;
		if (!s->slot.programming)
			return s;
		unlock(s);
		if (n % TRIES)
			continue;
		if (e->config.spins)
			return NULL;
		spin_give_way(n / TRIES);
	}
}

static void accept(struct reuse *e, struct reuse_thread *t,
		   struct reuse_slot *s, const struct reuse_watched *w,
		   const struct access *a, uint64_t now)
{
	struct turn turn;

	count(&e->stats.accepted, 1);
	if (slot_state(&s->slot) != SLOT_FREE)
		count(&e->stats.displaced, 1);
	s->watched = *w;
	s->watched.slot = s - e->slot;
	s->use = *a;
	s->path = t->path;
	s->count = now;
	atomic_store_explicit(&s->thread, t->place.thread,
			      memory_order_relaxed);
	change(e, s, e->config.use_next ? SLOT_HELD : SLOT_USED);
	if (begin_turn(s, &turn))
		program(e, t, s, &turn);
}

/* One use competes for a slot. */
static void offer(struct reuse *e, struct reuse_thread *t,
		  const struct reuse_watched *w, const struct access *a,
		  uint64_t now)
{
	struct reuse_slot *s;

	count(&e->stats.uses, 1);
	s = pick(e, t);
	if (!s) {
		count(&e->stats.busy, 1);
		return;
	}
	if (slot_state(&s->slot) == SLOT_FREE)
		s->candidates = 0;
	s->candidates++;
	if (s->candidates > 1 && rng_below(&t->rng, s->candidates))
		unlock(s);
	else
		accept(e, t, s, w, a, now);
}

void reuse_sample(struct reuse *e, struct reuse_thread *t,
		  const struct access *a, uint64_t now)
{
	uint64_t bytes = e->config.line_bytes, last = access_last(a) & -bytes;
	struct reuse_watched w = {
		.addr = a->addr,
		.len = access_last(a) - a->addr + 1,
		.scope = e->config.scope,
		.place = t->place,
	};

	if (e->config.granularity == REUSE_ADDRESS) {
		offer(e, t, &w, a, now);
		return;
	}
	w.len = bytes;
	for (w.addr = a->addr & -bytes;; w.addr += bytes) {
		offer(e, t, &w, a, now);
		if (w.addr == last)
			break;
	}
}

static struct reuse_event decide(struct reuse_slot *s,
				 enum reuse_outcome outcome)
{
	return (struct reuse_event){
		.outcome = outcome,
		.use = s->use,
		.use_place = s->watched.place,
		.at = s->count,
		.weight = s->candidates,
		.use_path = s->path,
		.pairing = access_stores(&s->use) ? REUSE_RAW : REUSE_RAR,
	};
}

/* Another thread's count may lag behind. */
static uint64_t elapsed(uint64_t since, uint64_t now)
{
	return now > since ? now - since : 1;
}

/*
 * The access that ends the use is not in the use's stream: count it as if it
 * were the stream's next one.
 */
static uint64_t elapsed_elsewhere(struct reuse *e, struct reuse_thread *t,
				  const struct reuse_event *v)
{
	uint64_t now = REUSE_TIME_UNKNOWN;

	if (e->watch->count)
		now = e->watch->count(t->ctx, &v->use_place);
	return now == REUSE_TIME_UNKNOWN ? now : elapsed(v->at, now + 1);
}

/*
 * Free the slot and hand over the use. Called with the lock, returns without.
 * The count is asked for without the lock, but before the watch is changed,
 * which takes time.
 */
static void end_use(struct reuse *e, struct reuse_thread *t,
		    struct reuse_slot *s, struct reuse_event *v)
{
	struct turn turn;
	bool ours;

	change(e, s, SLOT_FREE);
	ours = begin_turn(s, &turn);
	if (v->outcome == REUSE_INVALIDATED || v->outcome == REUSE_DANGLING)
		v->time = elapsed_elsewhere(e, t, v);
	if (ours)
		program(e, t, s, &turn);
	e->sink->decided(t->ctx, v);
}

/* The slot is locked; returns without the lock. */
static void follow(struct reuse *e, struct reuse_thread *t,
		   struct reuse_slot *s, const struct access *a, uint64_t now)
{
	enum reuse_outcome outcome =
		reuse_verdict(e->config.scope, &s->watched.place, &t->place,
			      access_stores(a));
	struct reuse_event v;

	if (slot_state(&s->slot) == SLOT_HELD && outcome == REUSE_REUSED) {
		s->use = *a;
		s->path = t->path;
		s->count = now;
		slot_set_state(&s->slot, SLOT_USED);
		outcome = REUSE_NOTHING;
	}
	if (slot_state(&s->slot) == SLOT_HELD || outcome == REUSE_NOTHING) {
		count(&e->stats.idle, 1);
		unlock(s);
		return;
	}
	count(&e->stats.traps, 1);
	v = decide(s, outcome);
	v.end = *a;
	v.end_place = t->place;
	v.end_path = t->path;
	v.temporal = access_overlaps(&s->use, a);
	if (access_stores(a))
		v.pairing = v.pairing == REUSE_RAW ? REUSE_WAW : REUSE_WAR;
	v.time = elapsed(s->count, now);
	end_use(e, t, s, &v);
}

void reuse_trap(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		uint32_t armed, const struct access *a, uint64_t now)
{
	struct reuse_slot *s = slot < e->config.slots ? &e->slot[slot] : NULL;

	if (!s || slot_generation(&s->slot) != armed) {
		count(&e->stats.stale, 1);
		return;
	}
	if (!a->flags) {
		count(&e->stats.idle, 1);
		return;
	}
	switch (slot_lock_armed(&s->slot, armed, e->config.spins)) {
	case 0:
		follow(e, t, s, a, now);
		break;
	case -EBUSY:
		count(&e->stats.busy_traps, 1);
		break;
	default:
		count(&e->stats.stale, 1);
		break;
	}
}

/* The slot is locked; returns without the lock. */
static void fail(struct reuse *e, struct reuse_thread *t, struct reuse_slot *s)
{
	struct turn turn;

	count(&e->stats.failed, s->candidates);
	change(e, s, SLOT_FREE);
	if (begin_turn(s, &turn))
		program(e, t, s, &turn);
}

uint64_t reuse_drop(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		    uint32_t armed)
{
	struct reuse_slot *s = slot < e->config.slots ? &e->slot[slot] : NULL;
	uint64_t weight;

	if (!s || slot_lock_armed(&s->slot, armed, e->config.spins))
		return 0;
	weight = s->candidates;
	fail(e, t, s);
	return weight;
}

/* The slot is locked; returns without the lock. */
static void dangle(struct reuse *e, struct reuse_thread *t,
		   struct reuse_slot *s)
{
	struct reuse_event v = decide(s, REUSE_DANGLING);

	if (slot_state(&s->slot) == SLOT_USED) {
		end_use(e, t, s, &v);
		return;
	}
	count(&e->stats.waiting, s->candidates);
	fail(e, t, s);
}

/* The uses of thread @t dangle, or those of @all threads. */
static void end_uses(struct reuse *e, struct reuse_thread *t, bool all)
{
	uint32_t id = t->place.thread;

	for (uint32_t i = 0; i < e->config.slots; i++) {
		struct reuse_slot *s = &e->slot[i];

		if (slot_state(&s->slot) == SLOT_FREE ||
		    (!all && atomic_load_explicit(&s->thread,
						  memory_order_relaxed) != id))
			continue;
		spin_lock(&s->slot.lock);
		if (slot_state(&s->slot) != SLOT_FREE &&
		    (all || s->watched.place.thread == id))
			dangle(e, t, s);
		else
			unlock(s);
	}
}

void reuse_thread_end(struct reuse *e, struct reuse_thread *t)
{
	if (e->config.scope == REUSE_PRIVATE)
		end_uses(e, t, false);
}

void reuse_finish(struct reuse *e, struct reuse_thread *t)
{
	end_uses(e, t, true);
}

struct reuse_stats reuse_stats(const struct reuse *e)
{
#define GET(name)                                                              \
	.name = atomic_load_explicit(&e->stats.name, memory_order_relaxed)
	return (struct reuse_stats){
		GET(uses),   GET(accepted),   GET(displaced), GET(traps),
		GET(idle),   GET(stale),      GET(busy),      GET(busy_traps),
		GET(failed), GET(arm_failed), GET(waiting),
	};
#undef GET
}
