/* SPDX-License-Identifier: MIT */
/*
 * tally_callers - the user's calls that lead to sites in libraries
 *
 * "memcpy" says little: who called it decides what to change. So each path of
 * calls (record -g) whose access lies in a library is followed outwards to the
 * first instruction of the user's own code.
 */
#include <stdlib.h>

#include "tally.h"
#include "analysis/base/util.h"
#include "analysis/symbols/library_code.h"

/* A call by the user's code that leads to a site. */
struct lead {
	uint32_t site;
	struct place from;
	uint64_t detections;
};

struct leads {
	struct lead *lead;
	size_t n, room;
};

static int by_place(const void *a, const void *b, void *sites)
{
	const struct site_tally *site = sites;

	return place_compare(&site[*(const uint32_t *)a].place,
			     &site[*(const uint32_t *)b].place);
}

/* The site at @p, by @order, which has them by place; NO_SITE: none. */
static uint32_t find_site(const struct tally *t, const uint32_t *order,
			  const struct place *p)
{
	size_t low = 0, high = t->sites;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int c = place_compare(&t->site[order[mid]].place, p);

		if (!c)
			return order[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return NO_SITE;
}

/* Add the lead of path @node, if its access lies in a library. */
static void follow(const struct tally *t, struct symbols *s,
		   const struct process *process, const uint32_t *order,
		   uint32_t node, uint64_t detections, struct leads *l)
{
	const struct cdp_path *n = process_path(process, node);
	struct lead lead = { .detections = detections };

	if (!n)
		return;
	symbols_place(s, process, n->ip, n->map_generation, &lead.from);
	if (!is_library_place(&lead.from))
		return;
	lead.site = find_site(t, order, &lead.from);
	if (lead.site == NO_SITE)
		return;
	/* A parent has the smaller number, so this ends. */
	while ((n = process_path(process, n->parent))) {
		symbols_place(s, process, n->ip, n->map_generation, &lead.from);
		if (is_library_place(&lead.from))
			continue;
		l->lead = grow(l->lead, l->n, &l->room, sizeof(*l->lead));
		l->lead[l->n++] = lead;
		return;
	}
}

static int compare_leads(const void *a, const void *b)
{
	const struct lead *x = a, *y = b;

	return x->site != y->site ? order_u64(x->site, y->site)
				  : place_compare_lines(&x->from, &y->from);
}

static void add_lead(void *to, const void *from)
{
	struct lead *x = to;
	const struct lead *y = from;

	x->detections = sat_add(x->detections, y->detections);
}

void tally_callers(struct tally *t, struct symbols *s)
{
	const struct profile *p = t->profile;
	uint32_t *order = xcalloc(t->sites + 1, sizeof(*order));
	struct leads l = { 0 };

	for (size_t i = 0; i < t->sites; i++)
		order[i] = (uint32_t)i;
	if (t->sites)
		qsort_r(order, t->sites, sizeof(*order), by_place, t->site);
	for (size_t i = 0; i < p->processes; i++) {
		const struct process *process = &p->process[i];

		for (size_t k = 0; k < process->calls; k++) {
			const struct cdp_memory_calls *c = &process->call[k];

			follow(t, s, process, order, c->publisher_path,
			       c->count, &l);
			follow(t, s, process, order, c->detector_path, c->count,
			       &l);
		}
	}
	l.n = unite(l.lead, l.n, sizeof(*l.lead), compare_leads, add_lead);
	for (size_t i = 0; i < l.n; i++) {
		struct site_tally *site = &t->site[l.lead[i].site];

		if (l.lead[i].detections > site->called) {
			site->called = l.lead[i].detections;
			site->caller = l.lead[i].from;
		}
	}
	free(l.lead);
	free(order);
}
