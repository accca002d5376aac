/* SPDX-License-Identifier: MIT */
/*
 * known - what predictions of a profile on other machines have found
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "known_paths.h"
#include "number_table.h"
#include "analysis/base/util.h"

enum {
	CACHES = 4,
	CACHES_MAX = 1 << 12, /* then none is added */
	TIMES_MAX = 1 << 19,  /* likewise */
};

/* All of a machine that its struct levels depends on. */
struct geometry {
	uint64_t size[CACHES], ways[CACHES], prefetcher, turns;
};

struct known_caches {
	const struct known *known;
	bool kept;
	struct geometry geometry;
	struct levels *levels;        /* by thread */
	struct known_misses **misses; /* by thread and window */
	uint32_t *path;               /* by leader; NUMBER_NONE: too many */
	const uint8_t **level;        /* on these paths; NULL: too many */
};

/* A micro-trace on a core. */
struct time {
	uint32_t path, core;
	struct timed timed;
};

struct known {
	const struct workload *w;
	const struct leaders *leaders;
	pthread_mutex_t lock;
	struct known_caches **caches;
	size_t n_caches, caches_room;
	struct known_paths *paths;
	struct timing_core *core;
	size_t n_cores, cores_room;
	struct time *time;
	size_t n_times, times_room;
	struct number_table of_caches, of_cores, of_times;
	struct timing *spare; /* one that nobody uses, or NULL */
	size_t timings;
};

struct known_misses known_misses_of(const struct levels *l,
				    const struct window *w)
{
	struct levels_misses stores = levels_count(l, w, WINDOW_STORES);
	struct known_misses n = {
		.data = levels_count(l, w, WINDOW_LOADS),
		.code = levels_count(l, w, WINDOW_FETCHES),
	};

	n.data.l1 += stores.l1;
	n.data.l2 += stores.l2;
	n.data.llc += stores.llc;
	n.data.core += stores.core;
	n.lines = n.data.llc + n.code.llc;
	return n;
}

static void free_caches(struct known_caches *c)
{
	for (size_t t = 0; t < c->known->w->threads; t++)
		free(c->misses[t]);
	free(c->misses);
	free(c->levels);
	free(c->path);
	free(c->level);
	free(c);
}

void known_free(struct known *k)
{
	for (size_t i = 0; i < k->n_caches; i++)
		free_caches(k->caches[i]);
	free(k->caches);
	if (k->paths)
		known_paths_free(k->paths);
	free(k->core);
	free(k->time);
	number_table_release(&k->of_caches);
	number_table_release(&k->of_cores);
	number_table_release(&k->of_times);
	if (k->spare)
		timing_free(k->spare);
	pthread_mutex_destroy(&k->lock);
	free(k);
}

static struct geometry geometry_of(const struct machine *m)
{
	const struct machine_cache *from[] = { &m->l1i, &m->l1d, &m->l2,
					       &m->llc };
	struct geometry g = { .prefetcher = m->prefetcher,
			      .turns = machine_has_turns(m) };

	for (int i = 0; i < CACHES; i++) {
		g.size[i] = from[i]->size;
		g.ways[i] = from[i]->ways;
	}
	return g;
}

static uint64_t hash_of_caches(const void *things, uint32_t i)
{
	const struct known *k = things;
	return number_hash_of(0, &k->caches[i]->geometry,
			      sizeof(struct geometry));
}

static bool is_caches(const void *things, uint32_t i, const void *to)
{
	const struct known *k = things;
	return !memcmp(&k->caches[i]->geometry, to, sizeof(struct geometry));
}

static struct known_caches *new_caches(struct known *k, const struct machine *m)
{
	struct known_caches *c = xcalloc(1, sizeof(*c));
	const struct workload *w = k->w;

	c->known = k;
	c->geometry = geometry_of(m);
	c->levels = xcalloc(w->threads + 1, sizeof(*c->levels));
	c->misses = xcalloc(w->threads + 1, sizeof(*c->misses));
	for (size_t i = 0; i < w->threads; i++) {
		const struct workload_thread *t = &w->thread[i];

		levels_init(&c->levels[i], w, i, m, false);
		c->misses[i] = xcalloc(t->windows + 1, sizeof(**c->misses));
		for (size_t x = 0; x < t->windows; x++)
			c->misses[i][x] =
				known_misses_of(&c->levels[i], &t->window[x]);
	}
	if (!k->leaders)
		return c;
	c->path = xcalloc(k->leaders->n + 1, sizeof(*c->path));
	c->level = xcalloc(k->leaders->n + 1, sizeof(const uint8_t *));
	for (uint32_t i = 0; i < k->leaders->n; i++) {
		uint32_t thread = k->leaders->leader[i].thread;

		c->path[i] = known_paths_of(k->paths, i, &c->levels[thread]);
		if (c->path[i] != NUMBER_NONE)
			c->level[i] = known_paths_levels(k->paths, c->path[i]);
	}
	return c;
}

const struct known_caches *known_caches(struct known *k,
					const struct machine *m)
{
	struct geometry g = geometry_of(m);
	uint64_t h = number_hash_of(0, &g, sizeof(g));
	struct known_caches *c;
	uint32_t i;

	pthread_mutex_lock(&k->lock);
	i = number_table_find(&k->of_caches, k, h, &g);
	c = i == NUMBER_NONE ? new_caches(k, m) : k->caches[i];
	if (i == NUMBER_NONE && k->n_caches < CACHES_MAX) {
		c->kept = true;
		k->caches = grow(k->caches, k->n_caches, &k->caches_room,
				 sizeof(struct known_caches *));
		k->caches[k->n_caches] = c;
		number_table_add(&k->of_caches, k, (uint32_t)k->n_caches++);
	}
	pthread_mutex_unlock(&k->lock);
	return c;
}

void known_give_back(const struct known_caches *c)
{
	if (!c->kept)
		free_caches((struct known_caches *)c);
}

const struct known_misses *known_misses(const struct known_caches *c,
					size_t thread)
{
	return c->misses[thread];
}

static uint64_t hash_of_core(const void *things, uint32_t i)
{
	const struct known *k = things;
	return number_hash_of(0, &k->core[i], sizeof(struct timing_core));
}

static bool is_core(const void *things, uint32_t i, const void *to)
{
	const struct known *k = things;
	return !memcmp(&k->core[i], to, sizeof(struct timing_core));
}

static uint32_t core_of(struct known *k, const struct machine *m,
			unsigned int used)
{
	struct timing_core core;
	uint64_t h;
	uint32_t i;

	timing_core_of(&core, m, used);
	h = number_hash_of(0, &core, sizeof(core));
	i = number_table_find(&k->of_cores, k, h, &core);
	if (i != NUMBER_NONE)
		return i;
	k->core = grow(k->core, k->n_cores, &k->cores_room, sizeof(*k->core));
	k->core[k->n_cores] = core;
	number_table_add(&k->of_cores, k, (uint32_t)k->n_cores);
	return (uint32_t)k->n_cores++;
}

static uint64_t hash_of_pair(uint32_t path, uint32_t core)
{
	return (uint64_t)path << 32 | core;
}

static uint64_t hash_of_time(const void *things, uint32_t i)
{
	const struct known *k = things;
	return hash_of_pair(k->time[i].path, k->time[i].core);
}

static bool is_time(const void *things, uint32_t i, const void *to)
{
	const struct known *k = things;
	const struct time *key = to;

	return k->time[i].path == key->path && k->time[i].core == key->core;
}

/* Fill in those of @own that are known; returns how many are not. */
static size_t look_up(struct known *k, const struct known_caches *c,
		      const struct machine *m, struct time *own)
{
	uint32_t core[1u << LEVELS], i;
	size_t lacking = 0;

	memset(core, 0xff, sizeof(core));
	for (size_t x = 0; x < k->leaders->n; x++) {
		uint32_t path = c->path[x], used;

		own[x].path = path;
		own[x].core = NUMBER_NONE;
		if (path != NUMBER_NONE) {
			used = known_paths_used(k->paths, path);
			if (core[used] == NUMBER_NONE)
				core[used] = core_of(k, m, used);
			own[x].core = core[used];
			i = number_table_find(&k->of_times, k,
					      hash_of_pair(path, core[used]),
					      &own[x]);
			if (i != NUMBER_NONE)
				own[x].timed = k->time[i].timed;
		}
		lacking += !own[x].timed.micros;
	}
	return lacking;
}

static void keep(struct known *k, const struct time *own)
{
	uint64_t h = hash_of_pair(own->path, own->core);

	if (own->path == NUMBER_NONE || k->n_times == TIMES_MAX ||
	    number_table_find(&k->of_times, k, h, own) != NUMBER_NONE)
		return;
	k->time = grow(k->time, k->n_times, &k->times_room, sizeof(*k->time));
	k->time[k->n_times] = *own;
	number_table_add(&k->of_times, k, (uint32_t)k->n_times++);
}

/* The first of @own on the path of number @i, or @i. */
static size_t first_on_path(const struct time *own, size_t i)
{
	size_t x = 0;

	if (own[i].path == NUMBER_NONE)
		return i;
	while (own[x].path != own[i].path)
		x++;
	return x;
}

/* The levels of the leader number @i; in @room if it has no path. */
static const uint8_t *levels_on(const struct known *k,
				const struct known_caches *c, size_t i,
				uint8_t *room)
{
	const struct leader *l = &k->leaders->leader[i];
	const struct workload_thread *t = &k->w->thread[l->thread];

	if (c->level[i])
		return c->level[i];
	levels_of_micro(&c->levels[l->thread], t, &t->micro[l->micro], room);
	return room;
}

/* Time those of @own that are not known, and keep them. */
static void time_rest(struct known *k, const struct known_caches *c,
		      const struct machine *m, struct time *own,
		      struct timing *timing)
{
	bool *new = xcalloc(k->leaders->n + 1, sizeof(*new));
	uint8_t level[MICRO_UOPS];

	if (timing)
		timing_change(timing, m);
	else
		timing = timing_new(m);
	for (size_t i = 0; i < k->leaders->n; i++) {
		const struct leader *l = &k->leaders->leader[i];
		const struct workload_thread *t = &k->w->thread[l->thread];

		if (!own[i].timed.micros)
			own[i] = own[first_on_path(own, i)];
		new[i] = !own[i].timed.micros;
		if (new[i])
			timing_run(timing, t, &t->micro[l->micro],
				   levels_on(k, c, i, level), 0, &own[i].timed);
	}
	pthread_mutex_lock(&k->lock);
	for (size_t i = 0; i < k->leaders->n; i++)
		if (new[i]) {
			keep(k, &own[i]);
			k->timings++;
		}
	if (!k->spare) {
		k->spare = timing;
		timing = NULL;
	}
	pthread_mutex_unlock(&k->lock);
	if (timing)
		timing_free(timing);
	free(new);
}

static void add_timed(struct timed *to, const struct timed *from)
{
	to->uops += from->uops;
	to->cycles += from->cycles;
	for (int i = 0; i < 3; i++)
		to->squares[i] += from->squares[i];
	to->micros += from->micros;
	for (int i = 0; i < CPI_COMPONENTS; i++)
		to->stack.cycles[i] += from->stack.cycles[i];
	to->wrong += from->wrong;
	to->vain += from->vain;
	to->whole_uops += from->whole_uops;
	for (int i = 0; i < LEVELS; i++) {
		to->data[i] += from->data[i];
		to->code[i] += from->code[i];
		to->saved[i] += from->saved[i];
		to->queued[i] += from->queued[i];
		to->whole[i] += from->whole[i];
	}
}

void known_led(struct known *k, const struct known_caches *c,
	       const struct machine *m, struct timed *to)
{
	struct time *own = xcalloc(k->leaders->n + 1, sizeof(*own));
	struct timing *timing = NULL;
	size_t lacking;

	pthread_mutex_lock(&k->lock);
	lacking = look_up(k, c, m, own);
	if (lacking) {
		timing = k->spare;
		k->spare = NULL;
	}
	pthread_mutex_unlock(&k->lock);
	if (lacking)
		time_rest(k, c, m, own, timing);
	for (size_t i = 0; i < k->leaders->n; i++)
		add_timed(&to[k->leaders->leader[i].group], &own[i].timed);
	free(own);
}

struct known *known_new(const struct workload *w, const struct leaders *l)
{
	struct known *k = xcalloc(1, sizeof(*k));

	k->w = w;
	k->leaders = l;
	k->of_caches = (struct number_table){ .hash = hash_of_caches,
					      .is = is_caches };
	k->of_cores =
		(struct number_table){ .hash = hash_of_core, .is = is_core };
	k->of_times =
		(struct number_table){ .hash = hash_of_time, .is = is_time };
	pthread_mutex_init(&k->lock, NULL);
	if (l)
		k->paths = known_paths_new(w, l);
	return k;
}

size_t known_timings(const struct known *k)
{
	return k->timings;
}
