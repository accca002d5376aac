/* SPDX-License-Identifier: MIT */
/*
 * directory_store - write a directory's counts to the file
 */
#include <string.h>

#include "directory_store.h"
#include "src/exact/cure.h"
#include "src/base/signal_safe.h"

enum {
	LINES_KEPT = 4096, /* lines with records of their own, about */
	FREE = UINT32_MAX,
};

void exact_rows_init(struct exact_rows *r)
{
	memset(r, 0, sizeof(*r));
	r->writer.section = CDP_TRANSFERS;
	for (; r->idles < EXACT_ROWS; r->idles++) {
		r->idle[r->idles] = r->idles;
		r->row[r->idles] = FREE;
	}
}

int exact_rows_take(struct exact_rows *r, uint32_t id, uint32_t core)
{
	uint32_t i = 0, number;

	if (!r->idles)
		return EXACT_ROWS_NONE;
	while (i < r->idles && r->row[r->idle[i]] != FREE &&
	       r->core[r->idle[i]] != core)
		i++;
	if (i == r->idles)
		i = 0;
	number = r->idle[i];
	memmove(r->idle + i, r->idle + i + 1,
		(--r->idles - i) * sizeof(r->idle[0]));
	if (r->row[number] != FREE)
		r->used_twice++;
	else
		r->core[number] = core;
	r->row[number] = id;
	return number;
}

void exact_rows_give(struct exact_rows *r, uint32_t number)
{
	r->idle[r->idles++] = number;
}

void exact_store_thread(struct store *s, struct exact_rows *r, uint32_t id,
			const struct exact_counts *c)
{
	uint64_t value[] = { c->loads,       c->stores,
			     c->cold_loads,  c->cold_stores,
			     c->invalidated, c->dropped + c->full };

	store_transfer(s, &r->writer, CDP_EXACT_THREAD, id, 0, value,
		       sizeof(value));
	for (uint32_t m = 0; m < EXACT_MISSES; m++)
		for (uint32_t d = 0; d <= TOPOLOGY_LEVELS_MAX; d++)
			if (c->miss[m][d])
				store_transfer(s, &r->writer, CDP_EXACT_MISS,
					       id, m * 8 + d, &c->miss[m][d],
					       sizeof(c->miss[m][d]));
}

/* Lines by the logarithm of their transfers, to choose which to keep. */
struct lines {
	struct store *store;
	struct exact_rows *rows;
	uint64_t by_log[64];
	uint64_t least;   /* the fewest transfers of a line that is kept */
	uint64_t rest[5]; /* sums of the others; no address */
	uint64_t useless, avoidable; /* the same */
};

static int count_line(void *ctx, const struct exact_line *line)
{
	struct lines *l = ctx;

	if (line->transfers)
		l->by_log[63 - __builtin_clzll(line->transfers)]++;
	return 0;
}

/* Without a log the useless transfers are what can be said. */
static uint64_t avoidable_of(const struct exact_line *line, struct cure *cure)
{
	memset(cure, 0, sizeof(*cure));
	if (line->log)
		cure_find(line->log, cure);
	return cure->transfers ? cure_avoids(cure, line->transfers)
			       : line->useless;
}

static void put_avoidable(const struct lines *l, const struct exact_line *line,
			  uint64_t avoidable, const struct cure *cure)
{
	uint64_t value[] = { line->line,      line->useless, avoidable,
			     line->contended, cure->turns,   cure->groups };

	store_transfer(l->store, &l->rows->writer, CDP_AVOIDABLE_LINE,
		       CDP_AVOIDABLE_COUNTED, 0, value, sizeof(value));
	for (uint32_t i = 0; i < cure->groups; i++) {
		double scale = cure->transfers ? (double)line->transfers /
							 (double)cure->transfers
					       : 0;
		uint64_t group[] = {
			line->line, cure->bytes[i],
			(uint64_t)((double)cure->group_transfers[i] * scale +
				   0.5)
		};

		store_transfer(l->store, &l->rows->writer, CDP_AVOIDABLE_GROUP,
			       CDP_AVOIDABLE_COUNTED, i, group, sizeof(group));
	}
}

static int put_line(void *ctx, const struct exact_line *line)
{
	struct lines *l = ctx;
	uint64_t value[] = { line->line,   line->transfers, line->false_sharing,
			     line->stores, line->ownership, line->bytes };
	struct cure cure;
	uint64_t avoidable = avoidable_of(line, &cure);

	if (line->transfers >= l->least) {
		store_transfer(l->store, &l->rows->writer, CDP_EXACT_LINE, 0, 0,
			       value, sizeof(value));
		put_avoidable(l, line, avoidable, &cure);
		return 0;
	}
	for (int i = 1; i < 5; i++)
		l->rest[i] += value[i];
	l->useless += line->useless;
	l->avoidable += avoidable;
	return 0;
}

static void put_lines(struct store *s, struct exact_rows *r,
		      const struct exact *x)
{
	struct lines l = { .store = s, .rows = r, .least = 1 };
	uint64_t kept = 0;

	exact_lines(x, count_line, &l);
	for (int log = 63; log >= 0; log--) {
		kept += l.by_log[log];
		if (kept > LINES_KEPT && log < 63) {
			l.least = UINT64_C(2) << log;
			break;
		}
	}
	exact_lines(x, put_line, &l);
	store_transfer(s, &r->writer, CDP_EXACT_LINE, 0, 0, l.rest,
		       sizeof(l.rest));
	put_avoidable(&l,
		      &(struct exact_line){ .line = 0, .useless = l.useless },
		      l.avoidable, &(struct cure){ .groups = 0 });
}

void exact_store(struct store *s, struct exact_rows *r, const struct exact *x)
{
	for (uint32_t from = 0; from < EXACT_ROWS; from++)
		for (uint32_t to = 0; to < EXACT_ROWS; to++) {
			struct exact_cell c = exact_cell(x, from, to);
			uint64_t value[] = { c.transfers, c.false_sharing,
					     c.useless };

			if (c.transfers)
				store_transfer(s, &r->writer, CDP_EXACT_CELL,
					       r->row[from], r->row[to], value,
					       sizeof(value));
		}
	put_lines(s, r, x);
}
