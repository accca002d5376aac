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
	REST_ARMINGS = 8, /* a line at rest: for so much longer than arming, */
	REST_PARTS = 4,   /* and than it was in use */
};

/*
 * How many transfers each one that is seen now stands for: one store in period
 * was sampled, one candidate in stands_for was kept.
 */
static double weight(const struct transfer *e, const struct transfer_slot *s)
{
	return e->config.period * s->lines * s->stands_for *
	       s->selection.factor;
}

/* Clocks of two cores may disagree. */
static uint64_t elapsed(uint64_t since, uint64_t now)
{
	return now > since ? now - since : 0;
}

static uint64_t arming(const struct transfer_slot *s)
{
	return elapsed(s->sampled_at, s->ready);
}

static void begin_epoch(const struct transfer *e, struct transfer_slot *s,
			const struct access *store, uint32_t from,
			uint32_t core, uint64_t now)
{
	s->open = true;
	s->store = *store;
	s->from = from;
	s->from_core = core;
	s->began = now;
	s->n_epoch = s->n;
	memset(s->touched, 0, e->words * sizeof(s->touched[0]));
	memset(s->pending, 0, e->words * sizeof(s->pending[0]));
	set_insert(s->touched, from);
}

/* E begins with the sampled store, CR with the first one after arming. */
void transfer_epochs_begin(const struct transfer *e, struct transfer_slot *s,
			   uint64_t now, uint32_t core)
{
	s->epochs = s->traps = s->n = s->n_epoch = s->idle = 0;
	s->open = s->stored = false;
	s->last = now;
	memset(s->touched, 0, e->words * sizeof(s->touched[0]));
	if (e->config.kind == TRANSFER_EPOCH)
		begin_epoch(e, s, &s->sampled, s->sampler, core, now);
}

/* Weigh a chain's events: the number of its epochs is known only now. */
static void weigh_chain(const struct transfer *e, struct transfer_slot *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct transfer_event *v = &s->event[i];
		double w = weight(e, s) / s->epochs;

		/* While the chain ran weight_false was 1 for false, or 0. */
		v->weight = v->weight_false ? w * s->selection.factor_false : w;
		v->weight_false *= v->weight;
	}
}

void transfer_epochs_result(const struct transfer *e, struct transfer_slot *s,
			    struct transfer_chain *c)
{
	if (e->config.kind == TRANSFER_CHAIN)
		weigh_chain(e, s);
	*c = (struct transfer_chain){
		.line = s->watched.line,
		.sampled = s->sampled,
		.sampler = s->sampler,
		.epochs = s->epochs,
		.traps = s->traps,
		.model_corrected = s->selection.corrected,
		.n = s->n,
		.event = s->event,
	};
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
	double w = weight(e, s), h = s->selection.factor_false;

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
 * Thread @thread touches the line in an epoch. There is room for one more
 * event. Returns false if nothing changes.
 */
static bool touch(const struct transfer *e, struct transfer_slot *s,
		  uint32_t thread, const struct access *a, uint32_t core)
{
	/* Two accesses to one line that overlap, overlap on that line. */
	bool is_false = !access_overlaps(a, &s->store);
	double w = weight(e, s);

	if (set_has(s->touched, thread)) {
		if (is_false || !set_has(s->pending, thread))
			return false;
		take_back(e, s, thread);
		return true;
	}
	set_insert(s->touched, thread);
	if (is_false) {
		set_insert(s->pending, thread);
		w *= s->selection.factor_false;
	}
	s->event[s->n] = (struct transfer_event){
		.store = s->store,
		.touch = *a,
		.from = s->from,
		.to = thread,
		.from_core = s->from_core,
		.to_core = core,
		.weight = w,
		.weight_false = is_false ? w : 0,
	};
	if (e->config.kind == TRANSFER_CHAIN)
		s->event[s->n].weight_false = is_false;
	s->n++;
	return true;
}

void transfer_epochs_end(struct transfer_slot *s)
{
	if (s->open)
		s->epochs++;
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
		return ++s->bursts >= e->config.bursts;
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
 */
static void choose_origin(const struct transfer *e, struct transfer_thread *t,
			  struct transfer_slot *s, uint64_t now)
{
	s->stored = true;
	s->after_pause = elapsed(s->ready, now) > arming(s);
	s->busy = s->bursts = 0;
	s->skip = s->after_pause ? 0 : rng_below(&t->rng, e->config.skip);
}

/* Returns false if the access changes nothing. */
static bool follow(const struct transfer *e, struct transfer_thread *t,
		   struct transfer_slot *s, const struct access *a,
		   uint64_t now, uint32_t core, bool *done)
{
	if (!s->open) {
		if (!s->stored && t->id != s->sampler)
			set_insert(s->touched, t->id);
		if (!access_stores(a))
			return false;
		if (!s->stored)
			choose_origin(e, t, s, now);
		if (s->skip)
			s->skip--;
		else
			begin_epoch(e, s, a, t->id, core, now);
		return true;
	}
	if (!access_stores(a))
		return touch(e, s, t->id, a, core);
	touch(e, s, t->id, a, core);
	transfer_epochs_end(s);
	*done = is_done(e, s, now);
	if (!*done)
		begin_epoch(e, s, a, t->id, core, now);
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

	if (s->n == TRANSFER_EVENTS) {
		transfer_count(&e->stats.overflow);
		transfer_epochs_end(s);
		return true;
	}
	told = follow(e, t, s, a, now, core, &done);
	s->last = now;
	s->traps += told;
	if (told)
		end_idle(e, s);
	transfer_count(told ? &e->stats.traps : &e->stats.idle_traps);
	return done;
}

/*
 * A chain that is under way when the program ends is as good as others. One
 * whose line has been at rest for long would never end.
 */
static double missed(const struct transfer *e, const struct transfer_slot *s,
		     uint64_t now)
{
	uint64_t rest = elapsed(s->last, now);
	double n = 0;

	if (rest < REST_ARMINGS * arming(s))
		return 0;
	if (s->stored)
		return rest > REST_PARTS * elapsed(s->sampled_at, s->last);
	for (uint32_t i = 0; i < e->words; i++)
		n += __builtin_popcountll(s->touched[i]);
	return n;
}

void transfer_epochs_left(const struct transfer *e,
			  const struct transfer_slot *s, uint64_t now,
			  struct transfer_left *left)
{
	double w = weight(e, s);

	if (e->config.kind != TRANSFER_CHAIN)
		return;
	w *= missed(e, s, now);
	left->missed += w;
	left->missed_square += w * w;
}

enum transfer_need transfer_epochs_need(const struct transfer *e,
					const struct transfer_slot *s,
					uint32_t thread)
{
	if (e->config.kind == TRANSFER_CHAIN || !set_has(s->touched, thread))
		return TRANSFER_NEED_ALL;
	return set_has(s->pending, thread) ? TRANSFER_NEED_STORES_AND_ORIGIN
					   : TRANSFER_NEED_STORES;
}
