/* SPDX-License-Identifier: MIT */
/*
 * leaders - a few micro-traces that stand for all of a profile
 *
 * The first group is around the largest window. Each further one begins with
 * the window that is farthest from its group, weighted by what it executes, and
 * takes the windows that are closer to that.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "leaders.h"
#include "analysis/base/util.h"

enum {
	GROUPS_PART = 2, /* at most a group for so many leaders */
	DEPTHS = 4,      /* sizes of caches that are looked at */
	FEATURES = UOP_CLASSES + PREDICTORS + 2 * (DEPTHS + 1) + 1,
	FAR_WAYS = 8,
};
/* Windows closer than this, in about cycles a micro-operation, are alike. */
#define ALIKE 0.01

/* About what each costs, in cycles. */
static const int depth_size[DEPTHS] = { 2, 5, 7, 9 };
static const double depth_cost[DEPTHS] = { 5, 15, 20, 40 };
#define WRONG_COST   5
#define INVALID_COST 40
#define CHAIN_COST   2

struct member {
	uint32_t thread, window, group;
	size_t micro, micros;
	double uops, distance;
	double feature[FEATURES];
};

/* The longest chain of dependences of a micro-trace, for each operation. */
static double chain_of(const struct workload_thread *t,
		       const struct micro_trace *m)
{
	static _Thread_local uint16_t length[MICRO_UOPS];
	uint16_t longest = 0;

	for (uint32_t i = 0; i < m->uops; i++) {
		const struct micro_uop *u = &t->uop[m->first + i];

		length[i] = 1;
		for (int k = 0; k < u->sources; k++)
			if (length[i - u->source[k]] >= length[i])
				length[i] = length[i - u->source[k]] + 1;
		if (length[i] > longest)
			longest = length[i];
	}
	return m->uops ? (double)longest / m->uops : 0;
}

static void take_misses(double *to, const struct window *w,
			enum window_kind kind, double uops)
{
	for (int i = 0; i < DEPTHS; i++) {
		double n = 0;

		for (int k = FAR_WAYS; k <= DEPTH_WAYS; k++)
			n += w->depth[kind][depth_size[i]][k];
		to[i] = n / uops * depth_cost[i];
	}
	to[DEPTHS] = w->reuse[kind][WORKLOAD_INVALID] / uops * INVALID_COST;
}

static void describe(struct member *m, const struct workload_thread *t)
{
	const struct window *w = &t->window[m->window];
	double *to = m->feature;

	for (int i = 0; i < UOP_CLASSES; i++)
		m->uops += w->uops[i];
	if (!(m->uops > 0))
		return;
	for (int i = 0; i < UOP_CLASSES; i++)
		*to++ = w->uops[i] / m->uops;
	for (int i = 0; i < PREDICTORS; i++)
		*to++ = w->wrong[i] / m->uops * WRONG_COST;
	take_misses(to, w, WINDOW_LOADS, m->uops);
	take_misses(to + DEPTHS + 1, w, WINDOW_STORES, m->uops);
	to += 2 * (DEPTHS + 1);
	for (size_t i = 0; i < m->micros; i++)
		*to += chain_of(t, &t->micro[m->micro + i]) /
		       (double)m->micros * CHAIN_COST;
}

/* Without a micro-trace in one of them, their chains are not compared. */
static double distance(const struct member *a, const struct member *b)
{
	int n = a->micros && b->micros ? FEATURES : FEATURES - 1;
	double sum = 0;

	for (int i = 0; i < n; i++)
		sum += fabs(a->feature[i] - b->feature[i]);
	return sum;
}

static struct member *members_of(const struct workload *w, size_t *n)
{
	struct member *m;
	size_t all = 0;

	for (size_t i = 0; i < w->threads; i++)
		all += w->thread[i].windows;
	m = xcalloc(all + 1, sizeof(*m));
	*n = 0;
	for (size_t i = 0; i < w->threads; i++) {
		const struct workload_thread *t = &w->thread[i];
		size_t micro = 0;

		for (size_t k = 0; k < t->windows; k++) {
			struct member *x = &m[(*n)++];

			x->thread = (uint32_t)i;
			x->window = (uint32_t)k;
			x->micro = micro;
			while (micro < t->micros && t->micro[micro].window == k)
				micro++;
			x->micros = micro - x->micro;
			x->distance = INFINITY;
			describe(x, t);
		}
	}
	return m;
}

/* The member that a new group begins with, or NULL: all are close. */
static struct member *farthest(struct member *m, size_t n)
{
	struct member *best = NULL;
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		double far = isinf(m[i].distance) ? 1 : m[i].distance;

		if (!m[i].micros || m[i].distance < ALIKE)
			continue;
		if (far * m[i].uops > most) {
			most = far * m[i].uops;
			best = &m[i];
		}
	}
	return best;
}

static size_t group(struct member *m, size_t n, size_t most)
{
	size_t groups = 0;
	struct member *next;

	while (groups < most && (next = farthest(m, n))) {
		const struct member center = *next;

		for (size_t i = 0; i < n; i++) {
			double d = distance(&m[i], &center);

			if (d < m[i].distance) {
				m[i].distance = d;
				m[i].group = (uint32_t)groups;
			}
		}
		groups++;
	}
	return groups;
}

/* Of a group with @micros near its center, @wanted that are evenly spread. */
static void take_leaders(struct leaders *l, const struct member *m, size_t n,
			 uint32_t of, double near, size_t micros, size_t wanted)
{
	size_t seen = 0, taken = 0;

	for (size_t i = 0; i < n; i++) {
		if (m[i].group != of || m[i].distance > near)
			continue;
		for (size_t k = 0; k < m[i].micros; k++, seen++) {
			if (taken == wanted ||
			    (2 * taken + 1) * micros / (2 * wanted) > seen)
				continue;
			l->leader[l->n++] = (struct leader){
				m[i].thread, (uint32_t)(m[i].micro + k), of
			};
			taken++;
		}
	}
}

/*
 * Each group has one leader, and more by what it executes. They are of windows
 * that are closer to its center than the mean.
 */
static void choose(struct leaders *l, const struct member *m, size_t n,
		   size_t wanted)
{
	double all = 0;

	for (size_t i = 0; i < n; i++)
		all += m[i].uops;
	for (uint32_t g = 0; g < l->groups; g++) {
		size_t micros = 0, share;
		double uops = 0, near = 0;

		for (size_t i = 0; i < n; i++)
			if (m[i].group == g) {
				uops += m[i].uops;
				near += m[i].uops * m[i].distance;
			}
		near /= uops;
		for (size_t i = 0; i < n; i++)
			if (m[i].group == g && m[i].distance <= near)
				micros += m[i].micros;
		share = 1 + (size_t)((double)(wanted - l->groups) * uops / all);
		take_leaders(l, m, n, g, near, micros,
			     share < micros ? share : micros);
	}
}

void leaders_choose(struct leaders *l, const struct workload *w, size_t wanted)
{
	size_t n;
	struct member *m = members_of(w, &n);

	memset(l, 0, sizeof(*l));
	l->threads = w->threads;
	l->groups =
		group(m, n, wanted < GROUPS_PART ? 1 : wanted / GROUPS_PART);
	l->leader = xcalloc(wanted + l->groups + 1, sizeof(*l->leader));
	if (wanted < l->groups)
		wanted = l->groups;
	choose(l, m, n, wanted);
	l->group = xcalloc(w->threads, sizeof(*l->group));
	for (size_t i = 0; i < w->threads; i++)
		l->group[i] =
			xcalloc(w->thread[i].windows + 1, sizeof(*l->group[i]));
	for (size_t i = 0; i < n; i++)
		l->group[m[i].thread][m[i].window] = m[i].group;
	free(m);
}

void leaders_release(struct leaders *l)
{
	for (size_t i = 0; i < l->threads; i++)
		free(l->group[i]);
	free(l->group);
	free(l->leader);
	memset(l, 0, sizeof(*l));
}
