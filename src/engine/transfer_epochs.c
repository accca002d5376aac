/* SPDX-License-Identifier: MIT */
/*
 * transfer_epochs - find transfers among the accesses to a watched line
 *
 * An epoch begins with a store and ends with the next one. Each other thread's
 * first touch in it is a transfer, false sharing until the thread touches
 * bytes of the store.
 */
#include <string.h>

#include "transfer_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	REST_ARMINGS = 8, /* a line is at rest after so much longer than arming
			     takes */
};

/* Clocks of two cores may disagree. */
static uint64_t elapsed(uint64_t since, uint64_t now)
{
	return now > since ? now - since : 0;
}

static uint64_t arming(const struct transfer_slot *s)
{
	return elapsed(s->sampled_at, s->ready);
}

/* Accesses of other threads were not seen for a while after the sample. */
static bool armed_late(const struct transfer_slot *s)
{
	return s->armed > s->sampled_at;
}

static void begin_epoch(const struct transfer *e, struct transfer_slot *s,
			const struct access *store,
			const struct transfer_thread *from, uint32_t core,
			uint64_t now)
{
	s->open = true;
	s->store = *store;
	s->from = from->id;
	s->from_core = core;
	s->store_path = from->path;
	s->began = now;
	s->n_epoch = s->n;
	memset(s->touched, 0, e->words * sizeof(s->touched[0]));
	memset(s->pending, 0, e->words * sizeof(s->pending[0]));
	set_insert(s->touched, from->id);
}

/*
 * E begins with the sampled store. So does CR, but it keeps that epoch apart:
 * it counts if no chain is completed.
 */
void transfer_epochs_begin(const struct transfer *e,
			   const struct transfer_thread *t,
			   struct transfer_slot *s, uint64_t now, uint32_t core)
{
	s->epochs = s->traps = s->n = s->n_own = s->idle = 0;
	s->stored = s->stored_again = s->by_own = s->skipping = false;
	s->by_sampler = s->by_others = false;
	begin_epoch(e, s, &s->sampled, t, core, now);
	if (e->config.kind == TRANSFER_NEEDED)
		transfer_needed_begin(e, s);
	s->own = e->config.kind == TRANSFER_CHAIN;
	s->last = now;
}

/*
 * Another thread's sample may have taken the slot meanwhile. A slot whose
 * sample is never made, because a handler of the program jumped away, counts
 * nothing until another sample takes it.
 */
void transfer_made(struct transfer *e, struct transfer_thread *t)
{
	uint32_t mine = t->id + 1;

	if (t->latest.generation)
		atomic_compare_exchange_strong_explicit(
			&e->slot[t->latest.slot].awaited, &mine, 0,
			memory_order_relaxed, memory_order_relaxed);
	t->latest.generation = 0;
}

bool transfer_awaits(const struct transfer *e, uint32_t slot)
{
	return slot < e->config.slots &&
	       atomic_load_explicit(&e->slot[slot].awaited,
				    memory_order_relaxed);
}

/* The epoch of the sample itself is over. */
static void end_own(struct transfer_slot *s)
{
	if (s->own)
		s->n_own = s->n;
	s->own = false;
}

/* Weigh the @n events at @v: how many epochs they are of is known only now. */
static void weigh_chain(const struct transfer *e, const struct transfer_slot *s,
			struct transfer_event *v, uint32_t n, uint32_t epochs)
{
	double w = transfer_weight(e, s) / epochs;

	for (; n--; v++) {
		/* While the chain ran weight_false was 1 for false, or 0. */
		v->weight = v->weight_false ? w * s->selection.factor_false : w;
		v->weight_false *= v->weight;
	}
}

void transfer_epochs_result(const struct transfer *e, struct transfer_slot *s,
			    struct transfer_chain *c)
{
	*c = (struct transfer_chain){
		.line = s->watched.line,
		.sampled = s->sampled,
		.sampler = s->sampler,
		.epochs = s->by_own ? 1 : s->epochs,
		.traps = s->traps,
		.model_corrected = s->selection.corrected,
		.n = s->by_own ? s->n_own : s->n - s->n_own,
		.event = s->event + (s->by_own ? 0 : s->n_own),
	};
	if (e->config.kind == TRANSFER_CHAIN)
		weigh_chain(e, s, s->event + (c->event - s->event), c->n,
			    c->epochs);
}

static struct transfer_event *event_of(struct transfer_slot *s, uint32_t to)
{
	for (uint32_t i = s->n_epoch; i < s->n; i++)
		if (s->event[i].to == to)
			return &s->event[i];
	return NULL;
}

/* The thread touched the store's bytes after all: its sharing is true. */
static void take_back(const struct transfer *e, struct transfer_slot *s,
		      uint32_t thread)
{
	struct transfer_event *v = event_of(s, thread);
	double w = transfer_weight(e, s), h = s->selection.factor_false;

	set_erase(s->pending, thread);
	if (!v)
		return;
	if (e->config.kind == TRANSFER_CHAIN) {
		v->weight_false = 0;
		return;
	}
	/*
	 * Use the present weight, which may have grown since the event. A
	 * sample that was displaced in between keeps its wrong judgement; the
	 * larger weight makes up for that in the mean.
	 */
	v->weight += w - w * h;
	v->weight_false -= w * h;
}

/*
 * Thread @t touches the line in an epoch. There is room for one more event.
 * Returns false if nothing changes.
 */
static bool touch(const struct transfer *e, const struct transfer_thread *t,
		  struct transfer_slot *s, const struct access *a,
		  uint32_t core)
{
	/* Two accesses to one line that overlap, overlap on that line. */
	bool is_false = !access_overlaps(a, &s->store);
	double w = transfer_weight(e, s);

	if (set_has(s->touched, t->id)) {
		if (is_false || !set_has(s->pending, t->id))
			return false;
		take_back(e, s, t->id);
		return true;
	}
	set_insert(s->touched, t->id);
	if (is_false) {
		set_insert(s->pending, t->id);
		w *= s->selection.factor_false;
	}
	s->event[s->n] = (struct transfer_event){
		.store = s->store,
		.touch = *a,
		.from = s->from,
		.to = t->id,
		.from_core = s->from_core,
		.to_core = core,
		.store_path = s->store_path,
		.touch_path = t->path,
		.weight = w,
		.weight_false = is_false ? w : 0,
	};
	if (e->config.kind == TRANSFER_CHAIN)
		s->event[s->n].weight_false = is_false;
	s->n++;
	return true;
}

/* What was seen of stores that are skipped does not count. */
static void drop_skipped(struct transfer_slot *s)
{
	s->epochs = 0;
	s->n = s->n_own;
	s->open = false;
}

static void end_epoch(struct transfer_slot *s)
{
	if (s->open && !s->own)
		s->epochs++;
	end_own(s);
	s->open = false;
}

/*
 * True if the chain ends with this epoch. If a chain began after a pause, its
 * origin stands for all stores in as much time as arming took, provided that
 * they were one burst. So the chain consists of whole bursts. It has several,
 * because the mean of the ratios of short chains is not the ratio of their
 * means. If a burst is longer than arming took and longer than other chains,
 * the chain covers only the time that arming took: the rest of the burst has
 * origins of its own.
 */
static bool is_done(const struct transfer *e, struct transfer_slot *s,
		    uint64_t now)
{
	uint64_t length = elapsed(s->began, now), d = arming(s);

	if (e->config.kind == TRANSFER_EPOCH ||
	    s->epochs >= TRANSFER_EPOCHS_MAX)
		return true;
	if (!s->after_pause)
		return s->epochs >= e->config.epochs;
	if (length > d)
		return ++s->bursts >= e->config.bursts && s->epochs >= s->least;
	s->busy += length;
	return !s->bursts && s->busy > d &&
	       s->epochs >= e->config.skip + e->config.epochs;
}

/*
 * The first store after arming was seen. After a pause it is the origin: it
 * stands for the end of the previous burst. Otherwise the origin is a random
 * number of stores later. The first store is not a fair draw from the places in
 * a burst, because it is more often one after a gap than one that follows at
 * once. A store some bursts later is a fair draw.
 *
 * Armed at once, the sample's own epoch is right where no chain is completed.
 * Whether one is must not depend on how long that epoch is. So after a pause,
 * too, a chain needs as many stores as it would otherwise.
 */
static void choose_origin(const struct transfer *e, struct transfer_thread *t,
			  struct transfer_slot *s, uint64_t now)
{
	s->stored = true;
	s->after_pause = elapsed(s->ready, now) > arming(s);
	s->busy = s->bursts = 0;
	s->skip = s->least = 0;
	if (s->after_pause && armed_late(s))
		return;
	s->skip = rng_below(&t->rng, e->config.skip);
	if (!s->after_pause)
		return;
	s->least = s->skip + e->config.epochs;
	s->skip = 0;
}

/* Returns false if the access changes nothing. */
static bool follow(const struct transfer *e, struct transfer_thread *t,
		   struct transfer_slot *s, const struct access *a,
		   uint64_t now, uint32_t core, bool *done)
{
	bool told = s->open && touch(e, t, s, a, core);

	if (!access_stores(a))
		return told;
	if (s->own) {
		s->stored_again = now < s->armed;
		end_epoch(s);
	}
	if (now < s->ready)
		return told;
	if (s->open) {
		end_epoch(s);
		*done = !s->skipping && is_done(e, s, now);
		if (*done)
			return true;
	}
	if (!s->stored)
		choose_origin(e, t, s, now);
	if (s->skip) {
		s->skip--;
		s->skipping = true;
		/* Armed at once, the sample's own epoch serves instead. */
		if (!armed_late(s))
			return true;
	} else if (s->skipping) {
		drop_skipped(s);
		s->skipping = false;
	}
	begin_epoch(e, s, a, t, core, now);
	return true;
}

/* If two slots raise longest_idle at once, one value is lost: harmless. */
static void end_idle(struct transfer *e, struct transfer_slot *s)
{
	if (s->idle >
	    atomic_load_explicit(&e->longest_idle, memory_order_relaxed))
		atomic_store_explicit(&e->longest_idle, s->idle,
				      memory_order_relaxed);
	s->idle = 0;
}

bool transfer_epochs_follow(struct transfer *e, struct transfer_thread *t,
			    struct transfer_slot *s, const struct access *a,
			    uint64_t now, uint32_t core)
{
	bool done = false, told;

	if (s->n == TRANSFER_EVENTS && s->skipping)
		drop_skipped(s);
	if (s->n == TRANSFER_EVENTS) {
		transfer_count(&e->stats.overflow);
		end_epoch(s);
		s->by_own = e->config.kind == TRANSFER_CHAIN && !s->epochs;
		return true;
	}
	if (e->config.kind == TRANSFER_NEEDED)
		told = transfer_needed_follow(e, s, t->id, a, core, &done);
	else
		told = follow(e, t, s, a, now, core, &done);
	s->last = now;
	if (now >= s->armed)
		*(t->id == s->sampler ? &s->by_sampler : &s->by_others) = true;
	s->traps += told;
	if (told)
		end_idle(e, s);
	transfer_count(told ? &e->stats.traps : &e->stats.idle_traps);
	return done;
}

/*
 * The program ends before the chain does. Stores of lines that get few stores
 * have no chain, so the own epoch of the sample counts for them. If other
 * threads were armed late, what they did before is missing from it. That is
 * more than the mean of the epochs so far is off, also of those that were to be
 * skipped; after a pause, if a whole burst was among them: what follows the
 * sample by a pause is seen in its own epoch.
 */
static bool is_by_own(const struct transfer *e, const struct transfer_slot *s)
{
	if (e->config.kind != TRANSFER_CHAIN)
		return false;
	if (!s->epochs || !armed_late(s))
		return true;
	return s->after_pause && !s->bursts;
}

/*
 * Another thread may have touched the line before it was watched there, and
 * never again. Not so where only one thread was sampled, or goes on to use the
 * line alone: that is private memory. Lines that are in use at the end say
 * nothing.
 */
static bool may_lack(const struct transfer *e, const struct transfer_slot *s,
		     uint64_t now)
{
	if (!s->by_own || !armed_late(s) || s->n_own || s->stored_again)
		return false;
	if (s->alone || !transfer_regions_shared(e, s->watched.line))
		return false;
	if (s->by_sampler && !s->by_others)
		return false;
	return elapsed(s->last, now) >= REST_ARMINGS * arming(s);
}

void transfer_epochs_end(const struct transfer *e, struct transfer_slot *s,
			 uint64_t now, struct transfer_left *left)
{
	double w = transfer_weight(e, s);

	end_epoch(s);
	s->by_own = is_by_own(e, s);
	if (!may_lack(e, s, now))
		return;
	left->missed += w;
	left->missed_square += w * w;
}

enum transfer_need transfer_epochs_need(const struct transfer *e,
					const struct transfer_slot *s,
					uint32_t thread)
{
	if (e->config.kind == TRANSFER_NEEDED)
		return transfer_needed_need(s, thread);
	if (e->config.kind == TRANSFER_CHAIN || !set_has(s->touched, thread))
		return TRANSFER_NEED_ALL;
	return set_has(s->pending, thread) ? TRANSFER_NEED_STORES_AND_ORIGIN
					   : TRANSFER_NEED_STORES;
}
