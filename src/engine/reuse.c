/* SPDX-License-Identifier: MIT */
/*
 * reuse - how long until data is used again, from samples
 *
 * The life of a slot, all under its lock:
 *
 *   FREE --accept--> HELD --first access, with use_next--> USED
 *    ^                 +----------- else at once ----------^ |
 *    +------------------------ decided ----------------------+
 *
 * accept also takes a slot from who holds it. The watch is changed outside the
 * lock, because that may take long, by one thread at a time, the programmer:
 * the one that found nobody else at it. Others may end the use meanwhile, which
 * changes the generation; the programmer looks at that when it is done and
 * starts again if it changed. No new use comes to the slot before.
 *
 * Free slots have a bit in a bitmap, set and cleared under the slot's lock. A
 * look at it is a hint where to look for a free slot; the lock tells.
 */
#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "src/base/rawcall.h"
#include "reuse.h"
#include "src/base/spin_lock.h"

enum {
	ALIGN = 64,
	WORD_BITS = 64,
	ROUNDS_MAX = 16,
	TRIES = 4, /* at a slot that another thread does not change */
};

enum slot_state {
	SLOT_FREE,
	SLOT_HELD, /* waits for the access that will be the use */
	SLOT_USED,
};

struct slot {
	_Alignas(ALIGN) _Atomic uint32_t lock;
	_Atomic uint32_t generation; /* changed under the lock */
	_Atomic uint32_t state;      /* enum slot_state, likewise */
	_Atomic uint32_t thread;     /* of the use, likewise */
	bool programming;
	uint64_t candidates; /* since the slot was free, this one included */
	uint64_t count;      /* when the use was made */
	uint32_t path;       /* of calls, to the use */
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
	_Atomic uint64_t *free; /* a bit each */
	uint32_t words;
	struct slot slot[];
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
	       c->line_bytes <= 64 && !(c->line_bytes & (c->line_bytes - 1)) &&
	       (!c->use_next || c->scope == REUSE_PRIVATE);
}

static uint32_t words(const struct reuse_config *c)
{
	return (c->slots + WORD_BITS - 1) / WORD_BITS;
}

static size_t slots_bytes(const struct reuse_config *c)
{
	return sizeof(struct reuse) + c->slots * sizeof(struct slot);
}

size_t reuse_size(const struct reuse_config *c)
{
	if (!config_valid(c))
		return 0;
	return slots_bytes(c) + words(c) * sizeof(uint64_t);
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
	e->words = words(c);
	e->free = (void *)((unsigned char *)mem + slots_bytes(c));
	for (uint32_t i = 0; i < c->slots; i++)
		e->free[i / WORD_BITS] |= UINT64_C(1) << i % WORD_BITS;
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

static uint32_t generation(const struct slot *s)
{
	return atomic_load_explicit(&s->generation, memory_order_relaxed);
}

static enum slot_state state(const struct slot *s)
{
	return atomic_load_explicit(&s->state, memory_order_relaxed);
}

/* What was watched before has no meaning from here on. */
static void change(struct reuse *e, struct slot *s, enum slot_state new)
{
	uint32_t i = s - e->slot;
	uint64_t bit = UINT64_C(1) << i % WORD_BITS;

	atomic_store_explicit(&s->generation, generation(s) + 1,
			      memory_order_relaxed);
	atomic_store_explicit(&s->state, new, memory_order_relaxed);
	if (new == SLOT_FREE)
		atomic_fetch_or_explicit(&e->free[i / WORD_BITS], bit,
					 memory_order_relaxed);
	else
		atomic_fetch_and_explicit(&e->free[i / WORD_BITS], ~bit,
					  memory_order_relaxed);
}

/*
 * Bring the watch in line with what the slot is to watch. Called with the
 * lock, returns without.
 */
static void program(struct reuse *e, struct reuse_thread *t, struct slot *s)
{
	if (s->programming) {
		spin_unlock(&s->lock);
		return;
	}
	s->programming = true;
	for (int round = 0;; round++) {
		struct reuse_watched w = s->watched;
		bool arm = state(s) != SLOT_FREE;
		uint32_t meant = generation(s);
		int err = 0;

		w.generation = meant;
		spin_unlock(&s->lock);
		if (arm)
			err = e->watch->arm(t->ctx, &w);
		else
			e->watch->disarm(t->ctx, w.slot);
		/* Nobody else could undo s->programming: this one waits. */
		spin_lock(&s->lock);
		if (generation(s) != meant && round < ROUNDS_MAX)
			continue;
		if (generation(s) == meant && !err)
			break;
		count(&e->stats.arm_failed, 1);
		if (state(s) != SLOT_FREE) {
			count(&e->stats.failed, s->candidates);
			change(e, s, SLOT_FREE);
		}
		break;
	}
	s->programming = false;
	spin_unlock(&s->lock);
}

/* A free slot that can be armed at once; locked. */
static struct slot *pick_free(struct reuse *e, struct reuse_thread *t)
{
	uint32_t first = rng_below(&t->rng, e->words);

	for (uint32_t i = 0; i < e->words; i++) {
		uint32_t w = (first + i) % e->words;
		uint64_t bits =
			atomic_load_explicit(&e->free[w], memory_order_relaxed);

		for (; bits; bits &= bits - 1) {
			struct slot *s =
				&e->slot[w * WORD_BITS + __builtin_ctzll(bits)];

			if (!spin_try_lock(&s->lock, 1))
				continue;
			if (state(s) == SLOT_FREE && !s->programming)
				return s;
			spin_unlock(&s->lock);
		}
	}
	return NULL;
}

/*
 * A free slot, else a random one; locked. NULL if it is busy.
 *
 * Never one whose watch another thread is changing. That thread may have lost
 * its core, and what is watched only when it has it back may have been used
 * long before.
 */
static struct slot *pick(struct reuse *e, struct reuse_thread *t)
{
	for (uint32_t n = 1;; n++) {
		struct slot *s = pick_free(e, t);

		if (s)
			return s;
		s = &e->slot[rng_below(&t->rng, e->config.slots)];
		if (!spin_try_lock(&s->lock, e->config.spins))
			return NULL;
		if (!s->programming)
			return s;
		spin_unlock(&s->lock);
		if (n % TRIES)
			continue;
		if (e->config.spins)
			return NULL;
		rawcall1(SYS_sched_yield, 0);
	}
}

static void accept(struct reuse *e, struct reuse_thread *t, struct slot *s,
		   const struct reuse_watched *w, const struct access *a,
		   uint64_t now)
{
	count(&e->stats.accepted, 1);
	if (state(s) != SLOT_FREE)
		count(&e->stats.displaced, 1);
	s->watched = *w;
	s->watched.slot = s - e->slot;
	s->use = *a;
	s->path = t->path;
	s->count = now;
	atomic_store_explicit(&s->thread, t->place.thread,
			      memory_order_relaxed);
	change(e, s, e->config.use_next ? SLOT_HELD : SLOT_USED);
	program(e, t, s);
}

/* One use competes for a slot. */
static void offer(struct reuse *e, struct reuse_thread *t,
		  const struct reuse_watched *w, const struct access *a,
		  uint64_t now)
{
	struct slot *s;

	count(&e->stats.uses, 1);
	s = pick(e, t);
	if (!s) {
		count(&e->stats.busy, 1);
		return;
	}
	if (state(s) == SLOT_FREE)
		s->candidates = 0;
	s->candidates++;
	if (s->candidates > 1 && rng_below(&t->rng, s->candidates))
		spin_unlock(&s->lock);
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

static struct reuse_event decide(struct slot *s, enum reuse_outcome outcome)
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

/* Counts of several threads may lag behind each other. */
static uint64_t elapsed(uint64_t since, uint64_t now)
{
	return now > since ? now - since : 1;
}

/* To an end that is no access of the use's stream: as if it were the next. */
static uint64_t elapsed_elsewhere(struct reuse *e, struct reuse_thread *t,
				  const struct slot *s)
{
	uint64_t now = REUSE_TIME_UNKNOWN;

	if (e->watch->count)
		now = e->watch->count(t->ctx, &s->watched.place);
	return now == REUSE_TIME_UNKNOWN ? now : elapsed(s->count, now + 1);
}

/* Hand over and free the slot. Called with the lock, returns without. */
static void end_use(struct reuse *e, struct reuse_thread *t, struct slot *s,
		    const struct reuse_event *v)
{
	change(e, s, SLOT_FREE);
	program(e, t, s);
	e->sink->decided(t->ctx, v);
}

/* The slot is locked; returns without the lock. */
static void follow(struct reuse *e, struct reuse_thread *t, struct slot *s,
		   const struct access *a, uint64_t now)
{
	enum reuse_outcome outcome =
		reuse_verdict(e->config.scope, &s->watched.place, &t->place,
			      access_stores(a));
	struct reuse_event v;

	if (state(s) == SLOT_HELD && outcome == REUSE_REUSED) {
		s->use = *a;
		s->path = t->path;
		s->count = now;
		atomic_store_explicit(&s->state, SLOT_USED,
				      memory_order_relaxed);
		outcome = REUSE_NOTHING;
	}
	if (state(s) == SLOT_HELD || outcome == REUSE_NOTHING) {
		count(&e->stats.idle, 1);
		spin_unlock(&s->lock);
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
	v.time = outcome == REUSE_INVALIDATED ? elapsed_elsewhere(e, t, s)
					      : elapsed(s->count, now);
	end_use(e, t, s, &v);
}

void reuse_trap(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		uint32_t armed, const struct access *a, uint64_t now)
{
	struct slot *s = slot < e->config.slots ? &e->slot[slot] : NULL;

	if (!s || generation(s) != armed) {
		count(&e->stats.stale, 1);
		return;
	}
	if (!a->flags) {
		count(&e->stats.idle, 1);
		return;
	}
	if (!spin_try_lock(&s->lock, e->config.spins)) {
		count(&e->stats.busy_traps, 1);
		return;
	}
	if (generation(s) != armed || state(s) == SLOT_FREE) {
		count(&e->stats.stale, 1);
		spin_unlock(&s->lock);
		return;
	}
	follow(e, t, s, a, now);
}

/* The slot is locked; returns without the lock. */
static void fail(struct reuse *e, struct reuse_thread *t, struct slot *s)
{
	count(&e->stats.failed, s->candidates);
	change(e, s, SLOT_FREE);
	program(e, t, s);
}

uint64_t reuse_drop(struct reuse *e, struct reuse_thread *t, uint32_t slot,
		    uint32_t armed)
{
	struct slot *s = slot < e->config.slots ? &e->slot[slot] : NULL;
	uint64_t weight;

	if (!s || generation(s) != armed ||
	    !spin_try_lock(&s->lock, e->config.spins))
		return 0;
	if (generation(s) != armed || state(s) == SLOT_FREE) {
		spin_unlock(&s->lock);
		return 0;
	}
	weight = s->candidates;
	fail(e, t, s);
	return weight;
}

/* The slot is locked; returns without the lock. */
static void dangle(struct reuse *e, struct reuse_thread *t, struct slot *s)
{
	struct reuse_event v = decide(s, REUSE_DANGLING);

	if (state(s) == SLOT_USED) {
		v.time = elapsed_elsewhere(e, t, s);
		end_use(e, t, s, &v);
		return;
	}
	count(&e->stats.waiting, s->candidates);
	fail(e, t, s);
}

void reuse_thread_end(struct reuse *e, struct reuse_thread *t)
{
	uint32_t id = t->place.thread;

	if (e->config.scope != REUSE_PRIVATE)
		return;
	for (uint32_t i = 0; i < e->config.slots; i++) {
		struct slot *s = &e->slot[i];

		if (state(s) == SLOT_FREE ||
		    atomic_load_explicit(&s->thread, memory_order_relaxed) !=
			    id)
			continue;
		spin_lock(&s->lock);
		if (state(s) != SLOT_FREE && s->watched.place.thread == id)
			dangle(e, t, s);
		else
			spin_unlock(&s->lock);
	}
}

void reuse_finish(struct reuse *e, struct reuse_thread *t)
{
	for (uint32_t i = 0; i < e->config.slots; i++) {
		struct slot *s = &e->slot[i];

		spin_lock(&s->lock);
		if (state(s) != SLOT_FREE)
			dangle(e, t, s);
		else
			spin_unlock(&s->lock);
	}
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
