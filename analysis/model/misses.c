/* SPDX-License-Identifier: MIT */
/*
 * misses - which instructions miss which lines, and why
 */
#include <stdlib.h>

#include "full_cache.h"
#include "misses.h"
#include "pair_index.h"
#include "analysis/base/util.h"

enum {
	ROWS_OF_LINES = 1 << 18, /* further ones are of pages */
	PAGE_BYTES_SHIFT = 12,
};

const char *const miss_reason_names[MISS_REASONS] = {
#define X(NAME, name) [MISS_##NAME] = #name,
	MISS_REASONS_LIST(X)
#undef X
};

const char *const miss_source_names[MISS_SOURCES] = {
#define X(NAME, name) [MISS_FROM_##NAME] = #name,
	MISS_SOURCES_LIST(X)
#undef X
};

/* What happened to a line, a bit for each core; the last cache has bit 0. */
struct line_past {
	uint64_t had[MISS_CACHES];
	uint64_t taken[MISS_CACHES]; /* by another core's store, and not had
					since */
};

/* What the latest look into a cache found. */
struct look {
	bool had, taken;
	bool room; /* a cache of this size without sets has the line */
};

struct misses {
	uint32_t cores;
	uint64_t ip, addr;
	struct look look[MISS_CACHES];
	struct pair_index lines, pairs;
	struct line_past *past; /* by number of the line */
	size_t past_room;
	struct miss_row *row; /* by number of the pair */
	size_t row_room;
	struct full_cache *full[]; /* l1d and l2 of each core, and the llc */
};

static struct full_cache **full_of(struct misses *m, uint32_t core,
				   enum miss_cache cache)
{
	return &m->full[cache == MISS_LLC ? 2 * m->cores : 2 * core + cache];
}

struct misses *misses_new(const struct machine *machine, uint32_t cores)
{
	struct misses *m =
		xcalloc(1, sizeof(*m) + (2 * cores + 1) * sizeof(m->full[0]));
	const uint64_t size[MISS_CACHES] = { machine->l1d.size,
					     machine->l2.size,
					     machine->llc.size };

	m->cores = cores;
	for (uint32_t i = 0; i < cores; i++)
		for (int k = MISS_L1D; k <= MISS_L2; k++)
			*full_of(m, i, k) =
				full_cache_new(size[k] >> MACHINE_LINE_SHIFT);
	*full_of(m, 0, MISS_LLC) =
		full_cache_new(size[MISS_LLC] >> MACHINE_LINE_SHIFT);
	return m;
}

void misses_free(struct misses *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < 2 * m->cores + 1; i++)
		full_cache_free(m->full[i]);
	pair_index_release(&m->lines);
	pair_index_release(&m->pairs);
	free(m->past);
	free(m->row);
	free(m);
}

void misses_at(struct misses *m, uint64_t ip, uint64_t addr)
{
	m->ip = ip;
	m->addr = addr;
}

static struct line_past *past_of(struct misses *m, uint64_t line)
{
	size_t n = m->lines.pairs;
	uint32_t i = pair_index_of(&m->lines, line, 0);

	if (i == n) {
		m->past = grow(m->past, n, &m->past_room, sizeof(*m->past));
		m->past[i] = (struct line_past){ 0 };
	}
	return &m->past[i];
}

void misses_look(struct misses *m, uint32_t core, enum miss_cache cache,
		 uint64_t line)
{
	uint64_t bit = UINT64_C(1) << (cache == MISS_LLC ? 0 : core);
	struct look *look = &m->look[cache];
	struct line_past *past;

	look->room = full_cache_use(*full_of(m, core, cache), line);
	/* Then a cache of its own size had it all the time. */
	if (look->room && cache == MISS_L1D) {
		look->had = true;
		look->taken = false;
		return;
	}
	past = past_of(m, line);
	look->had = past->had[cache] & bit;
	look->taken = past->taken[cache] & bit;
	past->had[cache] |= bit;
	past->taken[cache] &= ~bit;
}

void misses_taken(struct misses *m, uint32_t core, uint64_t line)
{
	struct line_past *past = past_of(m, line);
	uint64_t bit = UINT64_C(1) << core;

	for (int k = MISS_L1D; k <= MISS_L2; k++) {
		past->taken[k] |= bit;
		full_cache_drop(*full_of(m, core, k), line);
	}
}

static struct miss_counts *counts_here(struct misses *m)
{
	uint64_t line = m->addr >> MACHINE_LINE_SHIFT;
	uint64_t page = m->addr >> PAGE_BYTES_SHIFT;
	size_t n = m->pairs.pairs;
	uint32_t i;

	/* Half of the numbers are for lines, half for pages. */
	i = pair_index_of(&m->pairs, m->ip,
			  n < ROWS_OF_LINES ? 2 * line : 2 * page + 1);
	if (i == n) {
		m->row = grow(m->row, n, &m->row_room, sizeof(*m->row));
		m->row[i] = (struct miss_row){ .ip = m->ip, .addr = m->addr };
	}
	return &m->row[i].n;
}

static enum miss_reason reason_of(const struct misses *m, enum miss_source from)
{
	static const enum miss_cache before[MISS_SOURCES] = {
		[MISS_FROM_L2] = MISS_L1D,
		[MISS_FROM_LLC] = MISS_L2,
		[MISS_FROM_CORE] = MISS_L2,
		[MISS_FROM_MEMORY] = MISS_LLC,
	};
	const struct look *look = &m->look[before[from]];

	if (from == MISS_FROM_CORE)
		return MISS_COHERENCE;
	if (!look->had)
		return MISS_COLD;
	if (look->taken)
		return MISS_COHERENCE;
	return look->room ? MISS_CONFLICT : MISS_CAPACITY;
}

void misses_count(struct misses *m, enum miss_source from, uint64_t cycles)
{
	struct miss_counts *n = counts_here(m);

	n->from[from]++;
	n->why[reason_of(m, from)]++;
	n->cycles += cycles;
}

void misses_upgrade(struct misses *m, uint64_t cycles)
{
	struct miss_counts *n = counts_here(m);

	n->upgrades++;
	n->cycles += cycles;
}

const struct miss_row *misses_rows(const struct misses *m, size_t *rows)
{
	*rows = m->pairs.pairs;
	return m->row;
}

uint64_t miss_counts_all(const struct miss_counts *n)
{
	uint64_t all = 0;

	for (int i = 0; i < MISS_SOURCES; i++)
		all += n->from[i];
	return all;
}

void miss_counts_add(struct miss_counts *to, const struct miss_counts *n)
{
	for (int i = 0; i < MISS_SOURCES; i++)
		to->from[i] += n->from[i];
	for (int i = 0; i < MISS_REASONS; i++)
		to->why[i] += n->why[i];
	to->upgrades += n->upgrades;
	to->cycles += n->cycles;
}
