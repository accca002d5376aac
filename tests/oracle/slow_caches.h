/* SPDX-License-Identifier: MIT */
/*
 * slow_caches - the caches of docs/simulate.md, written to be obvious
 *
 * A copy of a line is a row of one list; to find something, all rows are looked
 * at. Nothing is remembered twice: which core owns a line follows from the
 * copies. Used by slow_core.h.
 */
#ifndef COMDET_SLOW_CACHES_H
#define COMDET_SLOW_CACHES_H

#include <check.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "analysis/model/machine.h"

enum {
	SLOW_COPIES = 512,
	SLOW_CORES = 4,
	SLOW_ENTRIES = 64, /* of a queue */
	SLOW_SLOTS = 512,
};

enum slow_cache {
	SLOW_L1I,
	SLOW_L1D,
	SLOW_L2,
	SLOW_LLC /* of all cores: its copies have core 0 */
};

struct slow_copy {
	enum slow_cache cache;
	int core;
	uint64_t line, used, ready;
	char state; /* S, E or M; not of the LLC */
	bool dirty;
};

/* Entries of a queue: the times at which those in use become free. */
struct slow_queue {
	uint64_t busy[SLOW_ENTRIES];
	int n;
};

/* Until this cycle a line that others have asked for is still the core's. */
struct slow_stay {
	int core;
	uint64_t line, until;
};

/* A set of L1D takes no other miss until then. */
struct slow_busy {
	int core;
	uint64_t set, until;
};

struct slow_caches {
	const struct machine *m;
	struct slow_busy busy[SLOW_SLOTS];
	int busies;
	struct slow_stay stay[SLOW_SLOTS];
	int stays;
	struct slow_copy copy[SLOW_COPIES];
	int copies;
	uint64_t clock;
	struct slow_queue mshr[SLOW_CORES];
	uint64_t slot[SLOW_SLOTS]; /* taken ones */
	int slots;
	uint64_t misses[SLOW_CORES][4], reads, writes;
};

/* The first time from @t on at which one of @entries is free. */
static inline uint64_t slow_enter(struct slow_queue *q, int entries, uint64_t t)
{
	int first = 0;

	for (int i = 0; i < q->n;)
		if (q->busy[i] <= t)
			q->busy[i] = q->busy[--q->n];
		else
			i++;
	if (q->n < entries)
		return t;
	for (int i = 1; i < q->n; i++)
		if (q->busy[i] < q->busy[first])
			first = i;
	t = q->busy[first];
	q->busy[first] = q->busy[--q->n];
	return t;
}

static inline void slow_leave(struct slow_queue *q, uint64_t t)
{
	ck_assert_int_lt(q->n, SLOW_ENTRIES);
	q->busy[q->n++] = t;
}

static inline struct slow_copy *slow_find(struct slow_caches *c,
					  enum slow_cache cache, int core,
					  uint64_t line)
{
	for (int i = 0; i < c->copies; i++)
		if (c->copy[i].cache == cache && c->copy[i].core == core &&
		    c->copy[i].line == line)
			return &c->copy[i];
	return NULL;
}

static inline void slow_remove(struct slow_caches *c, struct slow_copy *copy)
{
	*copy = c->copy[--c->copies];
}

/* Remove a copy; true if it was there and dirty. */
static inline bool slow_drop(struct slow_caches *c, enum slow_cache cache,
			     int core, uint64_t line)
{
	struct slow_copy *x = slow_find(c, cache, core, line);
	bool dirty = x && x->dirty;

	if (x)
		slow_remove(c, x);
	return dirty;
}

static inline bool slow_drop_all(struct slow_caches *c, int core, uint64_t line)
{
	bool dirty = slow_drop(c, SLOW_L1D, core, line);

	slow_drop(c, SLOW_L1I, core, line);
	return slow_drop(c, SLOW_L2, core, line) || dirty;
}

static inline const struct machine_cache *slow_size(const struct slow_caches *c,
						    enum slow_cache cache)
{
	const struct machine_cache *all[] = { &c->m->l1i, &c->m->l1d, &c->m->l2,
					      &c->m->llc };

	return all[cache];
}

/* The copy that must go for @line to come; NULL if there is room. */
static inline struct slow_copy *slow_victim(struct slow_caches *c,
					    enum slow_cache cache, int core,
					    uint64_t line)
{
	const struct machine_cache *size = slow_size(c, cache);
	uint64_t sets = size->size / 64 / size->ways;
	struct slow_copy *oldest = NULL;
	uint32_t n = 0;

	for (int i = 0; i < c->copies; i++) {
		struct slow_copy *x = &c->copy[i];

		if (x->cache != cache || x->core != core ||
		    x->line % sets != line % sets)
			continue;
		n++;
		if (!oldest || x->used < oldest->used)
			oldest = x;
	}
	return n < size->ways ? NULL : oldest;
}

static inline struct slow_copy *slow_add(struct slow_caches *c,
					 enum slow_cache cache, int core,
					 uint64_t line, char state)
{
	ck_assert_int_lt(c->copies, SLOW_COPIES);
	c->copy[c->copies] = (struct slow_copy){ .cache = cache,
						 .core = core,
						 .line = line,
						 .state = state,
						 .used = ++c->clock };
	return &c->copy[c->copies++];
}

/* How long a transfer at @t waits for the bus. */
static inline uint64_t slow_bus(struct slow_caches *c, uint64_t t)
{
	double bytes = 64, cycles = bytes / c->m->memory_gbs * c->m->ghz;
	uint64_t slot = (uint64_t)((double)t / cycles), begin;

	for (int i = 0; i < c->slots; i++)
		if (c->slot[i] == slot) {
			slot++;
			i = -1;
		}
	ck_assert_int_lt(c->slots, SLOW_SLOTS);
	c->slot[c->slots++] = slot;
	begin = (uint64_t)((double)slot * cycles);
	return begin > t ? begin - t : 0;
}

static inline uint64_t slow_to_llc(const struct slow_caches *c)
{
	return c->m->l1d.tag + c->m->l2.tag;
}

/* The core whose copy is exclusive or modified; -1 if none is. */
static inline int slow_owner(struct slow_caches *c, uint64_t line)
{
	for (int i = 0; i < SLOW_CORES; i++) {
		struct slow_copy *b = slow_find(c, SLOW_L2, i, line);

		if (b && b->state != 'S')
			return i;
	}
	return -1;
}

static inline bool slow_others_have(struct slow_caches *c, int core,
				    uint64_t line)
{
	for (int i = 0; i < SLOW_CORES; i++)
		if (i != core && slow_find(c, SLOW_L2, i, line))
			return true;
	return false;
}

static inline void slow_drop_others(struct slow_caches *c, int core,
				    uint64_t line)
{
	for (int i = 0; i < SLOW_CORES; i++)
		if (i != core && slow_drop_all(c, i, line))
			slow_find(c, SLOW_LLC, 0, line)->dirty = true;
}

/* The owner's copies become shared; true if one was dirty. */
static inline bool slow_share(struct slow_caches *c, int owner, uint64_t line)
{
	bool dirty = false;

	for (int k = SLOW_L1I; k <= SLOW_L2; k++) {
		struct slow_copy *x =
			slow_find(c, (enum slow_cache)k, owner, line);

		if (!x)
			continue;
		dirty |= x->dirty;
		x->dirty = false;
		x->state = 'S';
	}
	if (dirty)
		slow_find(c, SLOW_LLC, 0, line)->dirty = true;
	return dirty;
}

/* When the line that is on its way to @core is there; 0: it does not come. */
static inline uint64_t slow_comes(struct slow_caches *c, int core,
				  uint64_t line)
{
	const struct slow_copy *a = slow_find(c, SLOW_L1D, core, line);
	const struct slow_copy *b = slow_find(c, SLOW_L2, core, line);

	if (a && b)
		return a->ready > b->ready ? a->ready : b->ready;
	return b ? b->ready : 0;
}

/* When @core, which asks at @t, may have the line: after those that lose it. */
static inline uint64_t slow_turn(struct slow_caches *c, int core, uint64_t line,
				 bool store, uint64_t t)
{
	uint64_t turn = t;

	for (int i = 0; c->m->in_turn && i < SLOW_CORES; i++) {
		uint64_t comes = slow_comes(c, i, line);

		if (i == core || comes <= t ||
		    (!store && slow_owner(c, line) != i))
			continue;
		ck_assert_int_lt(c->stays, SLOW_SLOTS);
		c->stay[c->stays++] = (struct slow_stay){ i, line, comes };
		turn = comes > turn ? comes : turn;
	}
	return turn;
}

/* Until when the line is still @core's; 0: it is not, at @t. */
static inline uint64_t slow_stays(const struct slow_caches *c, int core,
				  uint64_t line, uint64_t t)
{
	for (int i = c->stays - 1; i >= 0; i--)
		if (c->stay[i].core == core && c->stay[i].line == line)
			return t < c->stay[i].until ? c->stay[i].until : 0;
	return 0;
}

static inline void slow_fill_llc(struct slow_caches *c, uint64_t line,
				 uint64_t t)
{
	struct slow_copy *x = slow_victim(c, SLOW_LLC, 0, line);

	if (x) {
		uint64_t gone = x->line;
		bool dirty = x->dirty;

		for (int i = 0; i < SLOW_CORES; i++)
			dirty |= slow_drop_all(c, i, gone);
		slow_drop(c, SLOW_LLC, 0, gone);
		if (dirty) {
			slow_bus(c, t);
			c->writes++;
		}
	}
	slow_add(c, SLOW_LLC, 0, line, 'S');
}

/* From the LLC, another core or memory into L2; returns when it is there. */
static inline uint64_t slow_get(struct slow_caches *c, int core, uint64_t line,
				bool store, uint64_t t)
{
	int owner = slow_owner(c, line);
	uint64_t done = t + slow_to_llc(c) + c->m->llc.latency, ask;
	struct slow_copy *x;
	bool alone;

	c->misses[core][SLOW_L2]++;
	if (slow_find(c, SLOW_LLC, 0, line)) {
		done += slow_turn(c, core, line, store, t) - t;
		if (owner >= 0 && slow_share(c, owner, line))
			done += c->m->transfer;
		if (store)
			slow_drop_others(c, core, line);
	} else {
		c->misses[core][SLOW_LLC]++;
		c->reads++;
		ask = slow_to_llc(c) + c->m->llc.tag + c->m->directory;
		done = t + slow_bus(c, t + ask) +
		       (uint64_t)llround((double)ask +
					 c->m->memory_ns * c->m->ghz +
					 64 / c->m->memory_gbs * c->m->ghz);
		slow_fill_llc(c, line, done);
	}
	slow_find(c, SLOW_LLC, 0, line)->used = ++c->clock;
	alone = !slow_others_have(c, core, line);
	x = slow_victim(c, SLOW_L2, core, line);
	if (x) {
		uint64_t gone = x->line;

		if (slow_drop_all(c, core, gone))
			slow_find(c, SLOW_LLC, 0, gone)->dirty = true;
	}
	x = slow_add(c, SLOW_L2, core, line, store ? 'M' : alone ? 'E' : 'S');
	x->ready = done;
	return done;
}

/* A miss waits while the set is busy, and then keeps it busy, if it does. */
static inline uint64_t slow_set(struct slow_caches *c, int core, uint64_t line,
				bool store, uint64_t t)
{
	uint64_t set = line % (c->m->l1d.size / 64 / c->m->l1d.ways);
	uint32_t busy = store ? c->m->after_store : c->m->after_load;

	for (int i = 0; i < c->busies; i++)
		if (c->busy[i].core == core && c->busy[i].set == set &&
		    t < c->busy[i].until)
			t = c->busy[i].until;
	ck_assert_int_lt(c->busies, SLOW_SLOTS);
	if (busy)
		c->busy[c->busies++] =
			(struct slow_busy){ core, set, t + busy };
	return t;
}

/* An access at @t; returns when it is complete. */
static inline uint64_t slow_access(struct slow_caches *c, int core,
				   uint64_t line, bool store, bool fetch,
				   uint64_t t)
{
	enum slow_cache first = fetch ? SLOW_L1I : SLOW_L1D;
	struct slow_copy *a = slow_find(c, first, core, line), *b, *x;
	uint64_t done = fetch ? 0 : slow_stays(c, core, line, t);

	if (done)
		return done;
	if (!a)
		c->misses[core][first]++;
	if (a && (!store || a->state != 'S')) {
		a->used = ++c->clock;
		if (store) {
			a->state = 'M';
			a->dirty = true;
		}
		done = fetch ? t : t + c->m->l1d.latency;
		return done > a->ready ? done : a->ready;
	}
	if (!fetch && !a)
		t = slow_set(c, core, line, store, t);
	if (!fetch)
		t = slow_enter(&c->mshr[core], (int)c->m->mshrs, t);
	b = slow_find(c, SLOW_L2, core, line);
	if (b && store && b->state == 'S') {
		t = slow_turn(c, core, line, true, t);
		slow_drop_others(c, core, line);
		b = slow_find(c, SLOW_L2, core, line);
		b->state = 'M';
		b->used = ++c->clock;
		done = t + slow_to_llc(c) + c->m->llc.latency;
	} else if (b) {
		b->used = ++c->clock;
		if (store)
			b->state = 'M';
		done = t + c->m->l1d.tag + c->m->l2.latency;
		if (b->ready > done)
			done = b->ready;
	} else {
		done = slow_get(c, core, line, store, t);
	}
	a = slow_find(c, first, core, line);
	if (!a) {
		x = slow_victim(c, first, core, line);
		if (x && x->dirty) {
			b = slow_find(c, SLOW_L2, core, x->line);
			b->dirty = true;
			b->state = 'M';
		}
		if (x)
			slow_remove(c, x);
		a = slow_add(c, first, core, line, 'S');
	}
	a->used = ++c->clock;
	a->state = slow_find(c, SLOW_L2, core, line)->state;
	a->dirty |= store;
	a->ready = done;
	if (!fetch)
		slow_leave(&c->mshr[core], done);
	return done;
}

/* What holds at any time: inclusion, and one owner who is alone. */
static inline void slow_caches_check(struct slow_caches *c)
{
	for (int i = 0; i < c->copies; i++) {
		const struct slow_copy *x = &c->copy[i];

		if (x->cache == SLOW_LLC)
			continue;
		ck_assert_ptr_nonnull(slow_find(c, SLOW_LLC, 0, x->line));
		ck_assert_ptr_nonnull(slow_find(c, SLOW_L2, x->core, x->line));
		ck_assert(x->state == 'S' ||
			  !slow_others_have(c, x->core, x->line));
		ck_assert(!x->dirty || x->state == 'M');
	}
}

#endif
