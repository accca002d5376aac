/* SPDX-License-Identifier: MIT */
/*
 * known_paths - to which levels the accesses of leaders go
 */
#include <stdlib.h>
#include <string.h>

#include "known_paths.h"
#include "number_table.h"
#include "analysis/base/util.h"

enum {
	LEVELS_MAX = 1 << 28, /* bytes of all levels; then none is added */
};

/* Where accesses go in some caches, of leaders that execute the same. */
struct path {
	/* The first of them. With a prefetcher the only one, as what that asks
	 * for need not be the same, and with turns, as the sets need not. */
	uint32_t leader;
	uint32_t used;  /* a bit for each level */
	uint8_t *level; /* as levels_of_micro says */
};

struct known_paths {
	const struct workload *w;
	const struct leaders *leaders;
	uint32_t *alike; /* by leader: the first that executes the same */
	struct path *path;
	size_t n, room, bytes;
	struct number_table table;
};

static const struct micro_trace *micro_of(const struct known_paths *k,
					  uint32_t leader)
{
	const struct leader *l = &k->leaders->leader[leader];

	return &k->w->thread[l->thread].micro[l->micro];
}

/* But for how far back they reuse lines. */
static bool is_alike(const struct micro_uop *u, const struct micro_uop *v)
{
	return u->class == v->class && u->flags == v->flags &&
	       u->wrong == v->wrong && u->sources == v->sources &&
	       u->forward == v->forward && u->line == v->line &&
	       !u->access == !v->access && !u->fetch == !v->fetch &&
	       !memcmp(u->source, v->source, u->sources * sizeof(*u->source));
}

static bool executes_alike(const struct known_paths *k, uint32_t a, uint32_t b)
{
	const struct micro_trace *m = micro_of(k, a), *n = micro_of(k, b);
	const struct leader *l = k->leaders->leader;
	const struct micro_uop *u = &k->w->thread[l[a].thread].uop[m->first];
	const struct micro_uop *v = &k->w->thread[l[b].thread].uop[n->first];
	uint32_t i = 0;

	while (i < m->uops && m->uops == n->uops && is_alike(&u[i], &v[i]))
		i++;
	return m->uops == n->uops && i == m->uops;
}

static void find_alike(struct known_paths *k)
{
	k->alike = xcalloc(k->leaders->n + 1, sizeof(*k->alike));
	for (uint32_t i = 0; i < k->leaders->n; i++)
		while (k->alike[i] < i && !executes_alike(k, k->alike[i], i))
			k->alike[i]++;
}

static uint64_t hash_of_path(const void *things, uint32_t i)
{
	const struct known_paths *k = things;
	const struct path *p = &k->path[i];

	return number_hash_of(p->leader, p->level,
			      micro_of(k, p->leader)->uops);
}

static bool is_path(const void *things, uint32_t i, const void *to)
{
	const struct known_paths *k = things;
	const struct path *p = &k->path[i], *key = to;

	return p->leader == key->leader &&
	       !memcmp(p->level, key->level, micro_of(k, p->leader)->uops);
}

uint32_t known_paths_of(struct known_paths *k, uint32_t leader,
			const struct levels *l)
{
	const struct micro_trace *m = micro_of(k, leader);
	const struct workload_thread *t =
		&k->w->thread[k->leaders->leader[leader].thread];
	uint8_t level[MICRO_UOPS];
	struct path p = { .leader = l->prefetcher || l->turns
					    ? leader
					    : k->alike[leader],
			  .level = level };
	uint64_t h;
	uint32_t i;

	p.used = levels_of_micro(l, t, m, level);
	h = number_hash_of(p.leader, level, m->uops);
	i = number_table_find(&k->table, k, h, &p);
	if (i != NUMBER_NONE || k->bytes + m->uops > LEVELS_MAX)
		return i;
	k->path = grow(k->path, k->n, &k->room, sizeof(*k->path));
	p.level = xcalloc(m->uops, 1);
	memcpy(p.level, level, m->uops);
	k->bytes += m->uops;
	k->path[k->n] = p;
	number_table_add(&k->table, k, (uint32_t)k->n);
	return (uint32_t)k->n++;
}

const uint8_t *known_paths_levels(const struct known_paths *k, uint32_t path)
{
	return k->path[path].level;
}

unsigned int known_paths_used(const struct known_paths *k, uint32_t path)
{
	return k->path[path].used;
}

struct known_paths *known_paths_new(const struct workload *w,
				    const struct leaders *l)
{
	struct known_paths *k = xcalloc(1, sizeof(*k));

	k->w = w;
	k->leaders = l;
	k->table = (struct number_table){ .hash = hash_of_path, .is = is_path };
	find_alike(k);
	return k;
}

void known_paths_free(struct known_paths *k)
{
	for (size_t i = 0; i < k->n; i++)
		free(k->path[i].level);
	free(k->path);
	free(k->alike);
	number_table_release(&k->table);
	free(k);
}
