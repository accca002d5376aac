/* SPDX-License-Identifier: MIT */
/*
 * reuse_paths - pairs of use and reuse by the calls that led to them
 */
#include <stdlib.h>
#include <string.h>

#include "reuse_paths.h"
#include "analysis/base/util.h"

static int compare_keys(const void *a, const void *b)
{
	const struct reuse_path_pair *x = a, *y = b;
	int order = reuse_pair_compare(&x->pair, &y->pair);

	if (!order)
		order = order_u64(x->process, y->process);
	if (!order)
		order = order_u64(x->use_path, y->use_path);
	return order ? order : order_u64(x->end_path, y->end_path);
}

static int compare_weights(const void *a, const void *b)
{
	const struct reuse_path_pair *x = a, *y = b;
	int order = reuse_pair_compare(&x->pair, &y->pair);

	if (!order)
		order = reuse_pair_compare_weight(&x->pair, &y->pair);
	return order ? order : compare_keys(a, b);
}

static void add(void *to, const void *from)
{
	struct reuse_path_pair *x = to;
	const struct reuse_path_pair *y = from;

	reuse_pair_add(&x->pair, &y->pair);
}

static uint32_t site_of(struct symbols *symbols, const struct process *process,
			const struct reuse_sites *sites, uint64_t node)
{
	const struct cdp_path *n = process_path(process, node);
	struct place place;

	if (!n)
		return REUSE_NO_SITE;
	symbols_place(symbols, process, n->ip, n->map_generation, &place);
	return reuse_sites_find(sites, &place);
}

void reuse_paths_init(struct reuse_paths *t, const struct reuse_streams *s,
		      struct symbols *symbols, const struct reuse_sites *sites,
		      const struct reuse_filter *filter)
{
	const struct profile *p = s->profile;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < p->reuses; i++) {
		const struct reuse_row *row = &p->reuse[i];
		const struct process *process = &p->process[row->process];
		const struct cdp_reuse *r = &row->record;
		struct reuse_path_pair pair = {
			.process = row->process,
			.use_path = (uint32_t)r->use_ip,
			.end_path = (uint32_t)r->end_ip,
			.pair = reuse_pair_of(p, row),
		};

		if (r->kind != CDP_REUSE_PATHS ||
		    !reuse_filter_counts(filter, row) ||
		    !(pair.pair.weight > 0))
			continue;
		pair.pair.use = site_of(symbols, process, sites, r->use_ip);
		pair.pair.reuse = site_of(symbols, process, sites, r->end_ip);
		if (pair.pair.use == REUSE_NO_SITE ||
		    pair.pair.reuse == REUSE_NO_SITE)
			continue;
		t->pair = grow(t->pair, t->pairs, &t->pairs_room,
			       sizeof(*t->pair));
		t->pair[t->pairs++] = pair;
	}
	/* Several threads may have recorded the same pair. */
	t->pairs =
		unite(t->pair, t->pairs, sizeof(*t->pair), compare_keys, add);
	if (t->pairs)
		qsort(t->pair, t->pairs, sizeof(*t->pair), compare_weights);
}

void reuse_paths_release(struct reuse_paths *t)
{
	free(t->pair);
	memset(t, 0, sizeof(*t));
}

const struct reuse_path_pair *reuse_paths_of(const struct reuse_paths *t,
					     const struct reuse_pair *p,
					     size_t *n)
{
	size_t low = 0, high = t->pairs, first;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (reuse_pair_compare(&t->pair[mid].pair, p) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	first = low;
	while (low < t->pairs && !reuse_pair_compare(&t->pair[low].pair, p))
		low++;
	*n = low - first;
	return t->pair + first;
}

/* A node comes after its parent, so this loop ends whatever the file holds. */
size_t reuse_path_calls(struct symbols *symbols, const struct process *process,
			uint32_t node, struct reuse_call *call)
{
	const struct cdp_path *n = process_path(process, node);
	size_t calls = 0;

	while (n && calls < REUSE_PATH_CALLS_MAX) {
		if (calls && n->flags & CDP_PATH_RECURS)
			call[calls - 1].recurs = true;
		call[calls].recurs = false;
		symbols_place(symbols, process, n->ip, n->map_generation,
			      &call[calls++].place);
		n = process_path(process, n->parent);
	}
	return calls;
}
