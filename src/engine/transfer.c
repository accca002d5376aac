/* SPDX-License-Identifier: MIT */
/*
 * transfer - how many cache lines move between threads, from samples
 *
 * A slot holds one accepted sample and what is being followed for it. Its
 * life, all under its lock (slot.h):
 *
 *   FREE --accept--> ARMING --armed--> LIVE --done--> FREE
 *                      ^ |               |
 *                      +-+----accept-----+
 *
 * A finished sample is handed over without the lock, by the thread that
 * programs the slot's registers next. The slot is not live before that thread
 * has done both, so the events that it hands over do not change.
 */
#include "transfer_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	FOOTPRINTS_DEFAULT = 1 << 16,
};

static uint32_t footprint_words(const struct transfer_config *c)
{
	if (c->chunk_bytes == c->line_bytes)
		return 0;
	return c->footprints ? c->footprints : FOOTPRINTS_DEFAULT;
}

static bool config_valid(const struct transfer_config *c)
{
	return c->threads >= 1 && c->threads <= TRANSFER_THREADS_MAX &&
	       c->slots >= 1 && c->slots <= TRANSFER_SLOTS_MAX &&
	       is_power_of_two(c->line_bytes) && c->line_bytes >= 8 &&
	       c->line_bytes <= 64 && is_power_of_two(c->chunk_bytes) &&
	       c->chunk_bytes <= c->line_bytes &&
	       c->line_bytes / c->chunk_bytes <= TRANSFER_CHUNKS_MAX &&
	       c->ranges >= 1 && c->ranges <= TRANSFER_RANGES_MAX &&
	       c->epochs <= TRANSFER_EPOCHS_MAX &&
	       c->skip <= TRANSFER_EPOCHS_MAX &&
	       c->bursts <= TRANSFER_EPOCHS_MAX &&
	       (!c->footprints || is_power_of_two(c->footprints)) &&
	       c->kind <= TRANSFER_NEEDED &&
	       (c->kind != TRANSFER_NEEDED ||
		c->chunk_bytes == c->line_bytes) &&
	       c->period >= 1;
}

size_t transfer_size(const struct transfer_config *c)
{
	if (!config_valid(c))
		return 0;
	return round_up(sizeof(struct transfer) +
				c->slots * sizeof(struct transfer_slot),
			TRANSFER_ALIGN) +
	       round_up((size_t)c->slots * TRANSFER_EVENTS *
				sizeof(struct transfer_event),
			TRANSFER_ALIGN) +
	       footprint_words(c) * sizeof(uint64_t);
}

struct transfer *transfer_init(void *mem, const struct transfer_config *c,
			       const struct transfer_watch *watch,
			       const struct transfer_sink *sink)
{
	struct transfer *e = mem;
	unsigned char *next = mem;
	struct transfer_event *events;

	if (!config_valid(c))
		return NULL;
	e->config = *c;
	if (!e->config.skip)
		e->config.skip = TRANSFER_SKIP;
	if (!e->config.epochs)
		e->config.epochs = TRANSFER_EPOCHS;
	if (!e->config.bursts)
		e->config.bursts = TRANSFER_BURSTS;
	e->watch = watch;
	e->sink = sink;
	e->words = set_words(c->threads);
	transfer_regions_init(e);
	next += round_up(sizeof(struct transfer) +
				 c->slots * sizeof(struct transfer_slot),
			 TRANSFER_ALIGN);
	events = (void *)next;
	for (uint32_t i = 0; i < c->slots; i++)
		e->slot[i].event = events + (size_t)i * TRANSFER_EVENTS;
	next += round_up((size_t)c->slots * TRANSFER_EVENTS *
				 sizeof(struct transfer_event),
			 TRANSFER_ALIGN);
	if (footprint_words(c)) {
		e->footprints.word = (void *)next;
		e->footprints.mask = footprint_words(c) - 1;
	}
	return e;
}

void transfer_thread_init(struct transfer_thread *t, uint32_t id, void *ctx,
			  uint64_t seed)
{
	*t = (struct transfer_thread){ .ctx = ctx, .id = id };
	rng_seed(&t->rng, seed, id);
}

/* The time from which on the estimator counts accesses to the line. */
static uint64_t settled(const struct transfer *e, const struct transfer_slot *s,
			uint64_t ready)
{
	uint64_t t = s->sampled_at + e->config.settle;

	return e->config.kind == TRANSFER_CHAIN && ready < t ? t : ready;
}

/* A change of the slot's watch that this thread has to make. */
struct turn {
	struct slot_turn slot;
	struct transfer_watched watched;
	uint64_t since; /* when the sample was taken */
};

/* Called with the lock, returns without. */
static void look(struct transfer_slot *s, struct turn *turn)
{
	turn->watched = s->watched;
	turn->watched.generation = turn->slot.generation;
	if (turn->slot.arm)
		turn->since = s->sampled_at;
	spin_unlock(&s->slot.lock);
}

void transfer_program(struct transfer *e, struct transfer_thread *t,
		      struct transfer_slot *s, const struct transfer_chain *c,
		      uint64_t now)
{
	enum slot_progress progress;
	uint64_t ready = now;
	struct turn turn;

	if (!slot_begin_turn(&s->slot, &turn.slot)) {
		spin_unlock(&s->slot.lock);
		return;
	}
	look(s, &turn);
	if (c->n)
		e->sink->chain(t->ctx, c);
	for (;;) {
		int err = 0;

		if (turn.slot.arm)
			err = e->watch->arm(t->ctx, &turn.watched, turn.since,
					    &ready);
		else
			e->watch->disarm(t->ctx, turn.watched.slot);
		progress = slot_check_turn(&s->slot, &turn.slot, err);
		if (progress != SLOT_AGAIN)
			break;
		look(s, &turn);
	}
	if (progress == SLOT_FAILED) {
		transfer_count(&e->stats.arm_failed);
		slot_change(&s->slot, SLOT_FREE);
	} else if (turn.slot.arm) {
		s->armed = ready;
		s->ready = settled(e, s, ready);
		slot_set_state(&s->slot, SLOT_LIVE);
	}
	slot_end_turn(&s->slot);
}

/* An access to several ranges counts once, for the first of them. */
static bool is_first_range(const struct transfer_slot *s, uint32_t range,
			   const struct access *a)
{
	for (uint32_t i = 0; i < range && i < s->watched.n; i++) {
		const struct watch_range *r = &s->watched.range[i];

		if (a->addr < r->addr + r->len && r->addr <= access_last(a))
			return false;
	}
	return range < s->watched.n;
}

/* The sample is finished. Called with the lock, returns without. */
static void finish(struct transfer *e, struct transfer_thread *t,
		   struct transfer_slot *s, uint64_t now)
{
	struct transfer_chain done;

	transfer_epochs_result(e, s, &done);
	slot_change(&s->slot, SLOT_FREE);
	transfer_program(e, t, s, &done, now);
}

/* The sampler of a chain arms itself at once, the other threads later. */
static bool sees(const struct transfer *e, const struct transfer_slot *s,
		 const struct transfer_thread *t, uint64_t now)
{
	return now >= s->armed ||
	       (e->config.kind == TRANSFER_CHAIN && t->id == s->sampler);
}

enum transfer_need transfer_trap(struct transfer *e, struct transfer_thread *t,
				 uint32_t slot, uint32_t armed, uint32_t range,
				 const struct access *a, uint64_t now,
				 uint32_t core)
{
	enum transfer_need needed = TRANSFER_NEED_ALL;
	struct transfer_slot *s =
		slot < e->config.slots ? &e->slot[slot] : NULL;
	int err;

	if (!s || slot_generation(&s->slot) != armed) {
		transfer_count(&e->stats.stale);
		return TRANSFER_NEED_NOTHING;
	}
	if (!a->flags || t->id >= e->config.threads) {
		transfer_count(&e->stats.inexact);
		return needed;
	}
	err = slot_lock_armed(&s->slot, armed, e->config.spins);
	if (err == -EBUSY) {
		transfer_count(&e->stats.busy);
		return needed;
	}
	if (err) {
		transfer_count(&e->stats.stale);
		return TRANSFER_NEED_NOTHING;
	}
	if (slot_state(&s->slot) != SLOT_LIVE || !sees(e, s, t, now) ||
	    transfer_awaits(e, slot)) {
		transfer_count(&e->stats.early);
	} else if (!is_first_range(s, range, a)) {
		transfer_count(&e->stats.idle_traps);
	} else if (transfer_epochs_follow(e, t, s, a, now, core)) {
		transfer_count(&e->stats.finished);
		finish(e, t, s, now);
		return TRANSFER_NEED_NOTHING;
	} else {
		needed = transfer_epochs_need(e, s, t->id);
	}
	spin_unlock(&s->slot.lock);
	return needed;
}

/* The time of the last sample in a slot, or access to its line. */
static uint64_t latest(const struct transfer *e)
{
	uint64_t time = 0;

	for (uint32_t i = 0; i < e->config.slots; i++)
		if (e->slot[i].last > time)
			time = e->slot[i].last;
	return time;
}

void transfer_finish(struct transfer *e, struct transfer_thread *t)
{
	uint64_t now = latest(e);

	e->left.slots = e->config.slots;
	for (uint32_t i = 0; i < e->config.slots; i++) {
		struct transfer_slot *s = &e->slot[i];

		spin_lock(&s->slot.lock);
		if (slot_state(&s->slot) == SLOT_FREE) {
			spin_unlock(&s->slot.lock);
			continue;
		}
		transfer_epochs_end(e, s, now, &e->left);
		finish(e, t, s, 0);
	}
}

struct transfer_left transfer_left(const struct transfer *e)
{
	struct transfer_left left = e->left;

	left.unfollowed = (double)atomic_load_explicit(&e->unfollowed,
						       memory_order_relaxed);
	return left;
}

struct transfer_stats transfer_stats(const struct transfer *e)
{
#define GET(name)                                                              \
	.name = atomic_load_explicit(&e->stats.name, memory_order_relaxed)
	return (struct transfer_stats){
		GET(samples),    GET(candidates), GET(accepted),
		GET(displaced),  GET(finished),   GET(traps),
		GET(idle_traps), GET(early),      GET(stale),
		GET(inexact),    GET(busy),       GET(arm_failed),
		GET(overflow),
	};
#undef GET
}
