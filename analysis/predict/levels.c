/* SPDX-License-Identifier: MIT */
/*
 * levels - which cache of a machine has the line of an access
 */
#include <math.h>
#include <string.h>

#include "levels.h"

/* Reuse times, of all kinds of accesses that the cache sees. */
struct times {
	double n[WORKLOAD_REUSES], all;
};

static void add_window(struct times *to, const struct window *w, bool global)
{
	for (int k = 0; k < WINDOW_KINDS; k++) {
		const uint32_t *from = global ? w->global[k] : w->reuse[k];

		if (!global && k == WINDOW_FETCHES)
			continue;
		for (int i = 0; i < WORKLOAD_REUSES; i++) {
			to->n[i] += from[i];
			to->all += from[i];
		}
	}
}

static void add_thread(struct times *to, const struct workload_thread *t,
		       bool global)
{
	for (size_t i = 0; i < t->windows; i++)
		add_window(to, &t->window[i], global);
}

/*
 * The reuse time at which the expected stack distance reaches @lines: the sum
 * over k of the share of accesses whose time is above k. Within a bin the
 * accesses are spread evenly.
 */
static void find_reach(struct levels_cache *c, const struct times *t,
		       double lines)
{
	double left = t->all, distance = 0;

	c->bin = REUSE_BINS;
	c->partly = 0;
	for (uint32_t i = 1; i < REUSE_BINS && t->all > 0; i++) {
		double width = (double)(reuse_bin_high(i) - reuse_bin_low(i));
		double step = width * (left - t->n[i] / 2) / t->all;

		if (distance + step >= lines) {
			c->bin = i + 1;
			c->partly = 1 - (lines - distance) / step;
			return;
		}
		distance += step;
		left -= t->n[i];
	}
}

/* Which depth says what the cache holds; -1: none does. */
static int depth_of(const struct machine_cache *m, int first, bool paper)
{
	uint64_t sets = (m->size >> MACHINE_LINE_SHIFT) / m->ways;
	int size = sets ? 63 - __builtin_clzll(sets) - DEPTH_SETS_MIN : -1;

	if (paper || size < first || size >= DEPTH_SIZES ||
	    m->ways > DEPTH_WAYS)
		return -1;
	return size - first;
}

static struct levels_cache init_cache(const struct machine_cache *m, int size,
				      const struct times *t)
{
	struct levels_cache c = { .size = size, .ways = m->ways };

	if (size < 0)
		find_reach(&c, t, (double)(m->size >> MACHINE_LINE_SHIFT));
	return c;
}

/* The times of each thread's accesses; @global: of all, by all. */
static struct times times_of(const struct workload *w, size_t thread,
			     bool global)
{
	struct times t = { { 0 }, 0 };

	for (size_t i = 0; i < w->threads; i++)
		if (global || i == thread)
			add_thread(&t, &w->thread[i], global);
	return t;
}

void levels_init(struct levels *l, const struct workload *w, size_t thread,
		 const struct machine *m, bool paper)
{
	const struct machine_cache *from[] = { &m->l1i, &m->l1d, &m->l2,
					       &m->llc };
	struct levels_cache *to[] = { &l->l1i, &l->l1d, &l->l2, &l->llc };
	struct times own;
	bool summed = false;

	l->prefetcher = m->prefetcher;
	l->turns = machine_has_turns(m);
	for (int i = 0; i < 4; i++) {
		bool global = i == 3 && w->threads > 1;
		int size = depth_of(from[i], global ? SHARED_FIRST : 0,
				    paper || (global && !w->shared));
		struct times all;

		/* Sums take long: none where depths say enough. */
		if (size < 0 && !global && !summed) {
			own = times_of(w, thread, false);
			summed = true;
		}
		if (size < 0 && global)
			all = times_of(w, thread, true);
		*to[i] = init_cache(from[i], size, global ? &all : &own);
		to[i]->global = global;
	}
}

/* True if the cache lacks the line. */
static bool misses(const struct levels_cache *c, const struct micro_access *a)
{
	uint16_t bin = c->global ? a->global : a->reuse;

	if (c->size >= 0 && c->global)
		return a->shared[c->size] >= c->ways;
	if (c->size >= 0)
		return a->depth[c->size] >= c->ways;
	return bin >= c->bin || (bin + 1u == c->bin && c->partly > 0.5);
}

static enum caches_level level_of(const struct levels *l,
				  const struct levels_cache *first,
				  const struct micro_access *a)
{
	if (!misses(first, a))
		return LEVEL_L1;
	if (!misses(&l->l2, a))
		return LEVEL_L2;
	if (misses(&l->llc, a))
		return LEVEL_MEMORY;
	return a->reuse == WORKLOAD_INVALID ? LEVEL_CORE : LEVEL_LLC;
}

enum caches_level levels_of_data(const struct levels *l,
				 const struct micro_access *a)
{
	return level_of(l, &l->l1d, a);
}

enum caches_level levels_of_code(const struct levels *l,
				 const struct micro_access *a)
{
	return level_of(l, &l->l1i, a);
}

unsigned int levels_of_micro(const struct levels *l,
			     const struct workload_thread *t,
			     const struct micro_trace *m,
			     uint8_t level[MICRO_UOPS])
{
	unsigned int used = 1u << LEVEL_L1;

	for (uint32_t i = 0; i < m->uops; i++) {
		const struct micro_uop *u = &t->uop[m->first + i];
		int data = LEVEL_L1, code = LEVEL_L1;

		if (u->access)
			data = levels_of_data(l, &t->access[u->access - 1]);
		if (u->fetch)
			code = levels_of_code(l, &t->access[u->fetch - 1]);
		level[i] = (uint8_t)(data | code << LEVELS_CODE_SHIFT);
		used |= 1u << data | 1u << code;
	}
	return used;
}

static double count_from(const struct levels_cache *c, const struct window *w,
			 enum window_kind kind)
{
	const uint32_t *bins = c->global ? w->global[kind] : w->reuse[kind];
	double n = 0;

	if (c->size >= 0) {
		const uint32_t *depth = c->global ? w->shared[kind][c->size]
						  : w->depth[kind][c->size];

		for (uint32_t i = c->ways; i <= DEPTH_WAYS; i++)
			n += depth[i];
		return n;
	}
	for (uint32_t i = c->bin; i < WORKLOAD_REUSES; i++)
		n += bins[i];
	return c->bin < REUSE_BINS ? n + c->partly * bins[c->bin - 1] : n;
}

struct levels_misses levels_count(const struct levels *l,
				  const struct window *w, enum window_kind kind)
{
	struct levels_misses m = { 0 };

	for (int i = 0; i <= DEPTH_WAYS; i++)
		m.accesses += w->depth[kind][0][i];
	m.l1 = count_from(kind == WINDOW_FETCHES ? &l->l1i : &l->l1d, w, kind);
	m.l2 = fmin(m.l1, count_from(&l->l2, w, kind));
	m.llc = fmin(m.l2, count_from(&l->llc, w, kind));
	m.core = fmin(m.l2 - m.llc, w->reuse[kind][WORKLOAD_INVALID]);
	return m;
}
