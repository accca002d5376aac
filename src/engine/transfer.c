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
	QUIET = 4, /* candidates without an event on the line */
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

/*
 * Hand over the finished sample @c, if it has transfers, and program the
 * registers as the slot wants. Called with the lock, returns without.
 */
static void program(struct transfer *e, struct transfer_thread *t,
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

/* The bytes of @a on @line, as chunks of it. */
static uint32_t chunks_of(const struct transfer_config *c, uint64_t line,
			  const struct access *a)
{
	uint64_t first = a->addr > line ? a->addr - line : 0;
	uint64_t last = access_last(a) - line;

	last = last < c->line_bytes ? last : c->line_bytes - 1;
	first /= c->chunk_bytes;
	last /= c->chunk_bytes;
	return ((2u << last) - 1) & ~((1u << first) - 1);
}

/* Draw one of the lines that the access touches; *@lines is their number. */
static uint64_t draw_line(const struct transfer *e, struct transfer_thread *t,
			  const struct access *a, double *lines)
{
	uint64_t bytes = e->config.line_bytes;
	uint64_t first = a->addr & -bytes;
	uint64_t n = ((access_last(a) & -bytes) - first) / bytes + 1;

	*lines = n;
	return n == 1 ? first : first + rng_below(&t->rng, n) * bytes;
}

static void select_ranges(const struct transfer *e, struct transfer_thread *t,
			  struct transfer_slot *s, uint64_t line,
			  const struct access *a)
{
	const struct transfer_config *c = &e->config;
	struct transfer_watched *w = &s->watched;
	uint32_t left;

	s->selection = (struct selection){ 1, 1, 1, false };
	if (e->footprints.word)
		s->selection = footprints_select(
			&e->footprints, &t->rng, line / c->line_bytes, t->id,
			chunks_of(c, line, a), c->line_bytes / c->chunk_bytes,
			c->ranges);
	w->line = line;
	w->n = 0;
	for (left = s->selection.chunks; left; left &= left - 1) {
		w->range[w->n].addr =
			line + __builtin_ctz(left) * c->chunk_bytes;
		w->range[w->n++].len = c->chunk_bytes;
	}
}

/*
 * Find a free slot, else take a random one. Returns it locked, or NULL if busy.
 */
static struct transfer_slot *pick(struct transfer *e, struct transfer_thread *t)
{
	struct transfer_slot *s;

	for (uint32_t i = 0; i < e->config.slots; i++) {
		s = &e->slot[i];
		if (slot_lock_if_free(&s->slot))
			return s;
	}
	s = &e->slot[rng_below(&t->rng, e->config.slots)];
	return spin_try_lock(&s->slot.lock, e->config.spins) ? s : NULL;
}

/*
 * How many candidates may pass before a quiet line loses its slot: more than
 * any line has needed so far. The first slot's patience grows, to find lines
 * that need more.
 */
static double patience(const struct transfer *e, const struct transfer_slot *s)
{
	double longest = 2 * (double)atomic_load_explicit(&e->longest_idle,
							  memory_order_relaxed);
	double p = longest > TRANSFER_PATIENCE ? longest : TRANSFER_PATIENCE;

	if (s == e->slot && e->config.slots > 1 && s->offered / 16.0 > p)
		p = s->offered / 16.0;
	return p;
}

/*
 * True if the next candidate displaces the sample in the slot. The probability
 * p must not depend on the candidate. A candidate that wins gets weight 1 / p,
 * a sample that stays 1 / (1 - p) times its weight, so that each candidate
 * counts for itself in the mean. The usual p makes both weights equal.
 */
static bool displaces(struct transfer *e, struct transfer_thread *t,
		      struct transfer_slot *s)
{
	double p = 1 / (s->stands_for + 1), most = patience(e, s);

	s->offered++;
	if (slot_state(&s->slot) == SLOT_FREE) {
		s->stands_for = 1;
		return true;
	}
	if (s->idle >= QUIET)
		transfer_count(&e->unfollowed);
	if (s->idle++ > most && p < 1 / most)
		p = 1 / most;
	if ((double)(rng_next(&t->rng) >> 11) * 0x1p-53 < p) {
		s->stands_for = 1 / p;
		return true;
	}
	s->stands_for /= 1 - p;
	return false;
}

static void accept(struct transfer *e, struct transfer_thread *t,
		   struct transfer_slot *s, uint64_t line, double lines,
		   const struct access *a, uint64_t now, uint32_t core)
{
	transfer_count(&e->stats.accepted);
	s->sampled = *a;
	s->sampler = t->id;
	s->alone = atomic_load_explicit(&e->ids, memory_order_relaxed) < 2;
	s->lines = lines;
	s->sampled_at = now;
	s->watched.slot = s - e->slot;
	select_ranges(e, t, s, line, a);
	transfer_epochs_begin(e, t, s, now, core);
}

/* If two threads are new at once, one may be noticed later: harmless. */
static void notice(struct transfer *e, const struct transfer_thread *t,
		   const struct access *a)
{
	transfer_regions_learn(e, t->id, a->addr);
	if (t->id >= atomic_load_explicit(&e->ids, memory_order_relaxed))
		atomic_store_explicit(&e->ids, t->id + 1, memory_order_relaxed);
}

void transfer_sample(struct transfer *e, struct transfer_thread *t,
		     const struct access *a, uint64_t now, uint32_t core)
{
	transfer_sample_part(e, t, a, 1, now, core);
}

void transfer_sample_part(struct transfer *e, struct transfer_thread *t,
			  const struct access *a, uint32_t parts, uint64_t now,
			  uint32_t core)
{
	struct transfer_chain done = { .n = 0 };
	struct transfer_slot *s;
	uint64_t line;
	double lines;

	transfer_count(&e->stats.samples);
	line = draw_line(e, t, a, &lines);
	if (e->footprints.word)
		footprints_learn(&e->footprints, line / e->config.line_bytes,
				 t->id, chunks_of(&e->config, line, a),
				 access_stores(a));
	if (t->id >= e->config.threads)
		return;
	notice(e, t, a);
	if (!access_stores(a))
		return;
	transfer_count(&e->stats.candidates);
	s = pick(e, t);
	if (!s) {
		transfer_count(&e->stats.busy);
		return;
	}
	if (!displaces(e, t, s)) {
		spin_unlock(&s->slot.lock);
		return;
	}
	if (slot_state(&s->slot) != SLOT_FREE) {
		transfer_count(&e->stats.displaced);
		/* A displaced epoch keeps the transfers that it has seen. */
		if (e->config.kind != TRANSFER_CHAIN)
			transfer_epochs_result(e, s, &done);
	}
	accept(e, t, s, line, lines / parts, a, now, core);
	slot_change(&s->slot, SLOT_ARMING);
	transfer_epochs_await(e, s, t);
	program(e, t, s, &done, now);
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
	program(e, t, s, &done, now);
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
