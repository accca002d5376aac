/* SPDX-License-Identifier: MIT */
/*
 * transfer_sample - a sample gets a slot, or takes that of another
 */
#include "transfer_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	QUIET = 4, /* candidates without an event on the line */
};

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

/*
 * A candidate wins a slot, or none. Returns it locked. *@done is what the
 * sample that it displaces has seen.
 */
static struct transfer_slot *win(struct transfer *e, struct transfer_thread *t,
				 struct transfer_chain *done)
{
	struct transfer_slot *s;

	transfer_count(&e->stats.candidates);
	s = pick(e, t);
	if (!s) {
		transfer_count(&e->stats.busy);
		return NULL;
	}
	if (!displaces(e, t, s)) {
		spin_unlock(&s->slot.lock);
		return NULL;
	}
	transfer_count(&e->stats.accepted);
	if (slot_state(&s->slot) != SLOT_FREE) {
		transfer_count(&e->stats.displaced);
		/* A displaced epoch keeps the transfers that it has seen. */
		if (e->config.kind != TRANSFER_CHAIN)
			transfer_epochs_result(e, s, done);
	}
	return s;
}

/* With config.awaits: @s, to be programmed anew, waits for a sample of @t. */
static void await(const struct transfer *e, const struct transfer_thread *t,
		  struct transfer_slot *s, struct transfer_awaited *awaited)
{
	atomic_store_explicit(&s->awaited, e->config.awaits ? t->id + 1 : 0,
			      memory_order_relaxed);
	if (!e->config.awaits)
		return;
	awaited->slot = s - e->slot;
	awaited->generation = slot_generation(&s->slot);
}

/* The slot that was won gets its watch. Called with the lock, returns without.
 */
static void arm(struct transfer *e, struct transfer_thread *t,
		struct transfer_slot *s, const struct transfer_chain *done,
		struct transfer_awaited *awaited, uint64_t now)
{
	slot_change(&s->slot, SLOT_ARMING);
	await(e, t, s, awaited);
	transfer_program(e, t, s, done, now);
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
	s = win(e, t, &done);
	if (!s)
		return;
	accept(e, t, s, line, lines / parts, a, now, core);
	arm(e, t, s, &done, &t->latest, now);
}

void transfer_expect(struct transfer *e, struct transfer_thread *t,
		     uint64_t now, uint32_t core)
{
	const struct access none = { .len = 1, .flags = ACCESS_STORE };
	struct transfer_chain done = { .n = 0 };
	struct transfer_slot *s;

	transfer_count(&e->stats.samples);
	if (t->id >= e->config.threads)
		return;
	s = win(e, t, &done);
	if (!s)
		return;
	accept(e, t, s, 0, 1, &none, now, core);
	arm(e, t, s, &done, &t->expected, now);
}

/* With the lock: the slot's sample is @a. */
static void meet(struct transfer *e, struct transfer_thread *t,
		 struct transfer_slot *s, const struct access *a, uint32_t core)
{
	struct transfer_watched w;
	uint64_t line, ready;
	double lines;

	line = draw_line(e, t, a, &lines);
	accept(e, t, s, line, lines, a, s->sampled_at, core);
	w = s->watched;
	w.generation = t->expected.generation;
	e->watch->arm(t->ctx, &w, s->sampled_at, &ready);
}

void transfer_met(struct transfer *e, struct transfer_thread *t,
		  const struct access *a, uint32_t core)
{
	struct transfer_slot *s = &e->slot[t->expected.slot];

	notice(e, t, a);
	if (!t->expected.generation)
		return;
	if (!slot_lock_armed(&s->slot, t->expected.generation,
			     e->config.spins)) {
		if (slot_state(&s->slot) == SLOT_LIVE)
			meet(e, t, s, a, core);
		spin_unlock(&s->slot.lock);
	}
	t->latest = t->expected;
	t->expected.generation = 0;
}

/* A sample that is never made counts nothing, so nothing is lost with it. */
void transfer_give_up(struct transfer *e, struct transfer_thread *t,
		      uint64_t now)
{
	struct transfer_slot *s = &e->slot[t->expected.slot];
	const struct transfer_chain none = { .n = 0 };

	if (!t->expected.generation)
		return;
	if (!slot_lock_armed(&s->slot, t->expected.generation,
			     e->config.spins)) {
		slot_change(&s->slot, SLOT_FREE);
		transfer_program(e, t, s, &none, now);
	}
	t->expected.generation = 0;
}
