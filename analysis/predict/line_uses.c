/* SPDX-License-Identifier: MIT */
/*
 * line_uses - how far back each use of a line reuses it, in a thread and in all
 */
#include <stdlib.h>
#include <string.h>

#include "line_uses.h"
#include "analysis/base/util.h"

enum {
	DEEP = 4, /* numbers of sets */
};

void line_uses_init(struct line_uses *all, bool shared)
{
	memset(all, 0, sizeof(*all));
	all->depths = shared ? depths_new(false) : NULL;
}

void line_uses_release(struct line_uses *all)
{
	line_times_release(&all->ids);
	free(all->line);
	depths_free(all->depths);
}

void thread_uses_init(struct thread_uses *t, struct workload_thread *to)
{
	memset(t, 0, sizeof(*t));
	t->to = to;
	t->prefetches = prefetches_new();
	t->data_depths = depths_new(false);
	t->code_depths = depths_new(false);
}

void thread_uses_release(struct thread_uses *t)
{
	line_times_release(&t->data);
	line_times_release(&t->code);
	free(t->prefetches);
	depths_free(t->data_depths);
	depths_free(t->code_depths);
}

/* The id of @line; a new one is one more than the last one, from 1. */
static uint32_t id_of(struct line_uses *all, uint64_t line)
{
	struct line_time *l = line_times_of(&all->ids, line);

	if (!l->id) {
		l->id = (uint32_t)all->ids.n;
		all->line = grow(all->line, all->ids.n, &all->room,
				 sizeof(*all->line));
		memset(&all->line[l->id], 0, sizeof(*all->line));
	}
	return l->id;
}

static uint16_t reuse_of(uint64_t used, uint64_t now)
{
	return used ? (uint16_t)reuse_bin_of(now - used) : WORKLOAD_COLD;
}

/* Count @n depths above 0 in @count; the others are counted in @above. */
static void count_depths(uint32_t (*count)[DEPTH_WAYS + 1],
			 const uint8_t *depth, int n, uint32_t *above)
{
	for (int i = 0; i < n; i++)
		count[i][depth[i]]++;
	above[n]++;
}

/* The use by @number of the line of @l, in the order of all threads. */
static void use_globally(struct line_uses *all, struct line_state *l,
			 struct line_time *own, uint32_t number, bool stores)
{
	if (stores && (l->writer != number + 1 || l->seen)) {
		l->writer = (uint16_t)(number + 1);
		l->version++;
		l->seen = false;
	}
	l->seen |= l->writer != number + 1;
	l->used = all->n;
	own->version = l->version;
}

void thread_uses_fetch(const struct thread_uses *t, uint64_t line)
{
	line_times_fetch(&t->data, line);
}

void thread_uses_fetch_state(const struct thread_uses *t,
			     const struct line_uses *all, uint64_t line)
{
	const struct line_time *own = line_times_find(&t->data, line);

	if (own)
		__builtin_prefetch(&all->line[own->id], 1);
}

void thread_uses_fetch_sets(const struct thread_uses *t,
			    const struct line_uses *all, uint64_t line)
{
	if (!t->deep)
		return;
	prefetches_fetch(t->prefetches, line);
	depths_fetch(t->data_depths, line);
	if (all->depths)
		depths_fetch(all->depths, line);
}

void thread_uses_add(struct thread_uses *t, struct line_uses *all,
		     uint32_t number, uint64_t line, enum window_kind kind,
		     struct window *w, struct micro_access *to)
{
	bool code = kind == WINDOW_FETCHES, stores = kind == WINDOW_STORES;
	uint64_t now = code ? ++t->code_n : ++t->data_n;
	struct line_time *own = line_times_of(code ? &t->code : &t->data, line);
	struct line_state *l;
	int n, shared;

	if (!own->id)
		own->id = id_of(all, line);
	l = &all->line[own->id];
	all->n++;
	*to = (struct micro_access){ .reuse = reuse_of(own->used, now),
				     .global = reuse_of(l->used, all->n) };
	if (!own->used)
		depths_touch(code ? t->code_depths : t->data_depths, line, 0);
	n = depths_use(code ? t->code_depths : t->data_depths, line, own->id, 0,
		       to->depth);
	if (own->used && own->version != l->version &&
	    l->writer != number + 1) {
		to->reuse = WORKLOAD_INVALID;
		n = DEPTH_SIZES;
		memset(to->depth, DEPTH_WAYS, sizeof(to->depth));
	}
	count_depths(w->depth[kind], to->depth, n, t->above[kind]);
	if (all->depths) {
		if (!l->used)
			depths_touch(all->depths, line, SHARED_FIRST);
		shared = depths_use(all->depths, line, own->id, SHARED_FIRST,
				    to->shared);
		count_depths(w->shared[kind], to->shared, shared,
			     t->above_shared[kind]);
	}
	w->reuse[kind][to->reuse]++;
	w->global[kind][to->global]++;
	use_globally(all, l, own, number, stores);
	if (!code) {
		prefetches_add(t->prefetches, t->to, t->ip, line, t->uop,
			       t->in_micro, to);
		t->deep = n > DEEP;
		t->lines += !own->used;
		t->stored_lines += stores && !own->stored;
		own->stored |= stores;
	}
	own->used = now;
}

static void count_zeros(uint32_t (*count)[DEPTH_WAYS + 1], int sizes,
			uint32_t *above)
{
	uint32_t zeros = 0;

	for (int i = 0; i < sizes; i++) {
		zeros += above[i];
		count[i][0] += zeros;
	}
	memset(above, 0, ((size_t)sizes + 1) * sizeof(*above));
}

void thread_uses_end_window(struct thread_uses *t, struct window *w)
{
	for (int k = 0; k < WINDOW_KINDS; k++) {
		count_zeros(w->depth[k], DEPTH_SIZES, t->above[k]);
		count_zeros(w->shared[k], SHARED_SIZES, t->above_shared[k]);
	}
}
