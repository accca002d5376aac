/* SPDX-License-Identifier: MIT */
/*
 * directory_setup - lay out the exact directory's memory and its topology
 */
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "directory_internal.h"
#include "src/base/bits.h"
#include "src/base/signal_safe.h"

enum {
	ALIGN = 64,
	/* Entries of visits that there is room for, by lines. */
	VISITS_MIN = 1 << 12,
	LINES_A_BLOCK = 4,
};

/* Offsets of the parts in one piece of memory. */
struct layout {
	size_t cell, domain, core_of, home, key, state, stored, records, visits,
		log, window, size;
};

static size_t take(size_t *size, size_t bytes)
{
	size_t at = *size;

	*size += round_up(bytes, ALIGN);
	return at;
}

static uint32_t record_bytes(uint32_t threads, uint32_t cores)
{
	return sizeof(struct exact_record) +
	       (2 * set_words(threads) + set_words(cores)) * sizeof(uint64_t);
}

static bool topology_valid(const struct topology_shape *t)
{
	if (t->cores < 1 || t->cores > TOPOLOGY_CORES_MAX || t->levels < 1 ||
	    t->levels > TOPOLOGY_LEVELS_MAX)
		return false;
	for (uint32_t level = 0; level < t->levels; level++)
		for (uint32_t core = 0; core < t->cores; core++)
			if (t->domain[level][core] >= t->cores)
				return false;
	return true;
}

static bool config_valid(const struct exact_config *c)
{
	return c->threads >= 1 && c->threads <= EXACT_THREADS_MAX &&
	       is_power_of_two(c->line_bytes) && c->line_bytes >= 8 &&
	       c->line_bytes <= 64 && is_power_of_two(c->regions) &&
	       (!c->topology || topology_valid(c->topology));
}

static size_t lines_of(const struct exact_config *c)
{
	return (size_t)c->regions * EXACT_REGION_LINES;
}

static size_t visits_max(const struct exact_config *c)
{
	size_t n = lines_of(c) / LINES_A_BLOCK;

	return n > VISITS_MIN ? n : VISITS_MIN;
}

static size_t logs_max(const struct exact_config *c)
{
	return lines_of(c) < EXACT_LOGS ? lines_of(c) : EXACT_LOGS;
}

static void lay_out(const struct exact_config *c, struct layout *l)
{
	uint32_t cores = c->topology ? c->topology->cores : c->threads;
	uint32_t levels = c->topology ? c->topology->levels : 1;
	size_t lines = lines_of(c);

	l->size = 0;
	take(&l->size, sizeof(struct exact));
	l->cell = take(&l->size, (size_t)c->threads * c->threads *
					 sizeof(struct exact_tally));
	l->domain = take(&l->size, (size_t)levels * cores * sizeof(uint32_t));
	l->core_of = take(&l->size, cores * sizeof(uint32_t));
	l->home = take(&l->size, c->threads * sizeof(uint32_t));
	l->key = take(&l->size, (size_t)c->regions * sizeof(uint64_t));
	l->state = take(&l->size, lines * sizeof(uint64_t));
	l->stored = take(&l->size, lines * sizeof(uint64_t));
	l->records = take(&l->size, lines * record_bytes(c->threads, cores));
	l->visits = take(&l->size, visits_max(c) * sizeof(struct exact_visits));
	l->log = take(&l->size, logs_max(c) * sizeof(struct line_log));
	l->window = take(&l->size, line_log_windows(logs_max(c)) *
					   sizeof(struct line_window));
}

size_t exact_size(const struct exact_config *c)
{
	struct layout l;

	if (!config_valid(c))
		return 0;
	lay_out(c, &l);
	return l.size;
}

static void copy_topology(struct exact *x, const struct topology_shape *t)
{
	for (uint32_t core = x->cores; core-- > 0;) {
		for (uint32_t level = 0; level < x->levels; level++)
			x->domain[level][core] =
				t ? t->domain[level][core] : core;
		x->core_of[x->domain[0][core]] = core;
	}
}

struct exact *exact_init(void *mem, const struct exact_config *c)
{
	struct exact *x = mem;
	struct layout l;
	unsigned char *base = mem;

	if (!config_valid(c))
		return NULL;
	lay_out(c, &l);
	x->threads = c->threads;
	x->cores = c->topology ? c->topology->cores : c->threads;
	x->levels = c->topology ? c->topology->levels : 1;
	x->placed = c->topology != NULL;
	x->table.regions = c->regions;
	x->line_bytes = c->line_bytes;
	x->line_shift = __builtin_ctz(c->line_bytes);
	x->region_shift = x->line_shift + __builtin_ctz(EXACT_REGION_LINES);
	x->thread_words = set_words(x->threads);
	x->cache_words = set_words(x->cores);
	x->record_bytes = record_bytes(x->threads, x->cores);
	x->cell = (void *)(base + l.cell);
	for (uint32_t level = 0; level < x->levels; level++)
		x->domain[level] = (uint32_t *)(void *)(base + l.domain) +
				   (size_t)level * x->cores;
	x->core_of = (void *)(base + l.core_of);
	x->home = (void *)(base + l.home);
	x->table.key = (void *)(base + l.key);
	x->state = (void *)(base + l.state);
	x->stored = (void *)(base + l.stored);
	x->records = base + l.records;
	x->visits = (void *)(base + l.visits);
	x->log = (void *)(base + l.log);
	x->window = (void *)(base + l.window);
	x->visits_max = visits_max(c);
	x->logs_max = logs_max(c);
	copy_topology(x, c->topology);
	return x;
}

int exact_thread_init(const struct exact *x, struct exact_thread *t,
		      uint32_t id)
{
	if (id >= x->threads)
		return -EINVAL;
	memset(t, 0, sizeof(*t));
	t->id = id;
	t->home = UINT32_MAX;
	t->owned = EXACT_OWNED | (uint64_t)id << EXACT_OWNER_SHIFT;
	/* This equals no state, since no state is all ones. */
	t->settled = UINT64_MAX;
	if (id < EXACT_SHARERS)
		t->settled = EXACT_SHARED | 1ull << (EXACT_KIND_BITS + id);
	t->settled_mask = t->settled | EXACT_KIND_MASK;
	for (uint32_t i = 0; i < EXACT_SEEN; i++)
		t->seen[i].region = UINT64_MAX;
	return 0;
}
