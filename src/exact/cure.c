/* SPDX-License-Identifier: MIT */
/*
 * cure - how to split a cache line so that threads pass fewer lines on
 */
#include <string.h>

#include "cure.h"
#include "src/base/signal_safe.h"

#define WINDOW (UINT64_C(1) << 32) /* the transfers of a full window */

enum {
	LINE_BYTES = 64,
	THREADS = 1024, /* bits that tell who has touched a line */
	WARM_PART = 4,  /* of a window, before transfers count */
	NOBODY = UINT32_MAX,
};

/* Groups of bytes, and the transfers of each. */
struct groups {
	uint32_t n;
	uint64_t bytes[LINE_BYTES];
	uint64_t transfers[LINE_BYTES];
};

static uint32_t turns_of(const struct line_log *log, uint32_t w)
{
	uint32_t n = log->window[w].n;

	return n < LINE_LOG_TURNS ? n : LINE_LOG_TURNS;
}

static uint32_t windows_of(const struct line_log *log)
{
	return log->windows < log->capacity ? log->windows : log->capacity;
}

/*
 * What was before a window is not known. Until a first store to the bytes no
 * transfer is seen, and for few bytes that takes longer than for the whole
 * line. So the first part of a window only tells who has what.
 */
static uint64_t window_transfers(const struct line_turn *turn, uint32_t n,
				 uint64_t bytes)
{
	uint64_t has[THREADS / 64] = { 0 }, count = 0;
	uint32_t writer = NOBODY;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = turn[i].thread % THREADS / 64;
		uint64_t bit = UINT64_C(1) << turn[i].thread % 64;

		if (!(turn[i].touched & bytes))
			continue;
		if (writer != NOBODY && !(has[word] & bit)) {
			count += i >= n / WARM_PART;
			has[word] |= bit;
		}
		if (!(turn[i].stored & bytes))
			continue;
		memset(has, 0, sizeof(has));
		has[word] = bit;
		writer = turn[i].thread;
	}
	return count;
}

uint64_t cure_transfers(const struct line_log *log, uint64_t bytes)
{
	uint64_t count = 0;

	for (uint32_t w = 0; w < windows_of(log); w++)
		count += window_transfers(log->window[w].turn, turns_of(log, w),
					  bytes);
	return count;
}

/*
 * Windows are spread evenly over the transfers, so each full one counts alike,
 * however many transfers it has.
 */
struct weighted {
	const struct line_log *log;
	uint64_t weight[LINE_LOG_LONG_WINDOWS];
};

static void weigh(struct weighted *l, const struct line_log *log)
{
	l->log = log;
	for (uint32_t w = 0; w < windows_of(log); w++) {
		uint32_t n = turns_of(log, w);
		uint64_t count =
			window_transfers(log->window[w].turn, n, UINT64_MAX);

		l->weight[w] = count ? n * WINDOW / LINE_LOG_TURNS / count : 0;
	}
}

static uint64_t transfers(const struct weighted *l, uint64_t bytes)
{
	uint64_t sum = 0;

	for (uint32_t w = 0; w < windows_of(l->log); w++)
		if (l->weight[w])
			sum += l->weight[w] *
			       window_transfers(l->log->window[w].turn,
						turns_of(l->log, w), bytes);
	return sum;
}

/* Split each group into the bytes that are in @bytes and those that are not. */
static void refine(struct groups *g, uint64_t bytes)
{
	for (uint32_t i = 0, n = g->n; i < n; i++) {
		uint64_t in = g->bytes[i] & bytes;

		if (!in || in == g->bytes[i])
			continue;
		g->bytes[i] &= ~bytes;
		g->bytes[g->n++] = in;
	}
}

/* Unite the groups that lie in the same @unit bytes. */
static void coarsen(struct groups *g, uint32_t unit)
{
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = i + 1; j < g->n;) {
			if (__builtin_ctzll(g->bytes[i]) / unit !=
			    __builtin_ctzll(g->bytes[j]) / unit) {
				j++;
				continue;
			}
			g->bytes[i] |= g->bytes[j];
			g->bytes[j] = g->bytes[--g->n];
		}
}

/* The one thread that touches @bytes, or NOBODY. */
static uint32_t only_thread(const struct line_log *log, uint64_t bytes)
{
	uint32_t found = NOBODY;

	for (uint32_t w = 0; w < windows_of(log); w++)
		for (uint32_t i = 0; i < turns_of(log, w); i++) {
			const struct line_turn *t = &log->window[w].turn[i];

			if (!(t->touched & bytes))
				continue;
			if (found != NOBODY && found != t->thread)
				return NOBODY;
			found = t->thread;
		}
	return found;
}

/* What one thread has for itself is one group. */
static void unite_private(const struct line_log *log, struct groups *g)
{
	uint32_t only[LINE_BYTES];

	for (uint32_t i = 0; i < g->n; i++)
		only[i] = only_thread(log, g->bytes[i]);
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = i + 1; j < g->n;) {
			if (only[i] == NOBODY || only[i] != only[j]) {
				j++;
				continue;
			}
			g->bytes[i] |= g->bytes[j];
			g->bytes[j] = g->bytes[--g->n];
			only[j] = only[g->n];
		}
}

static void find_atoms(const struct weighted *l, struct groups *g)
{
	const struct line_log *log = l->log;
	uint64_t used = 0;

	for (uint32_t w = 0; w < windows_of(log); w++)
		for (uint32_t i = 0; i < turns_of(log, w); i++)
			used |= log->window[w].turn[i].touched;
	*g = (struct groups){ .n = used ? 1 : 0, .bytes = { used } };
	for (uint32_t w = 0; w < windows_of(log); w++)
		for (uint32_t i = 0; i < turns_of(log, w); i++) {
			refine(g, log->window[w].turn[i].touched);
			refine(g, log->window[w].turn[i].stored);
		}
	unite_private(log, g);
	for (uint32_t unit = 4; g->n > CURE_GROUPS_MAX && unit <= 8; unit *= 2)
		coarsen(g, unit);
	for (uint32_t i = 0; i < g->n; i++)
		g->transfers[i] = transfers(l, g->bytes[i]);
}

/* Unite the two groups that save most by it. Returns what they save. */
static uint64_t unite(const struct weighted *l, struct groups *g,
		      uint64_t together[][CURE_GROUPS_MAX])
{
	uint64_t best = 0;
	uint32_t a = 0, b = 0;

	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = i + 1; j < g->n; j++) {
			uint64_t apart = g->transfers[i] + g->transfers[j];

			if (apart > together[i][j] &&
			    apart - together[i][j] > best) {
				best = apart - together[i][j];
				a = i;
				b = j;
			}
		}
	if (!best)
		return 0;
	g->bytes[a] |= g->bytes[b];
	g->transfers[a] = together[a][b];
	g->bytes[b] = g->bytes[--g->n];
	g->transfers[b] = g->transfers[g->n];
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t j = i + 1; j < g->n; j++)
			if (i == a || j == a || i == b || j == b)
				together[i][j] =
					transfers(l, g->bytes[i] | g->bytes[j]);
	return best;
}

void cure_find(const struct line_log *log, struct cure *cure)
{
	uint64_t together[CURE_GROUPS_MAX][CURE_GROUPS_MAX], all = 0;
	struct weighted l;
	struct groups g;

	memset(cure, 0, sizeof(*cure));
	for (uint32_t w = 0; w < windows_of(log); w++)
		cure->turns += turns_of(log, w);
	weigh(&l, log);
	cure->transfers = transfers(&l, UINT64_MAX);
	find_atoms(&l, &g);
	for (uint32_t i = 0; i < g.n; i++)
		for (uint32_t j = i + 1; j < g.n; j++)
			together[i][j] = transfers(&l, g.bytes[i] | g.bytes[j]);
	while (g.n > 1 && unite(&l, &g, together))
		;
	for (uint32_t i = 0; i < g.n; i++) {
		cure->bytes[i] = g.bytes[i];
		cure->group_transfers[i] = g.transfers[i];
		cure->after += g.transfers[i];
		all |= g.bytes[i];
	}
	cure->groups = g.n;
	if (cure->after >= cure->transfers) {
		cure->after = cure->transfers;
		cure->groups = all ? 1 : 0;
		cure->bytes[0] = all;
		cure->group_transfers[0] = cure->transfers;
	}
}

uint64_t cure_avoids(const struct cure *cure, uint64_t all)
{
	double share;

	if (!cure->transfers)
		return 0;
	share = 1 - (double)cure->after / (double)cure->transfers;
	return (uint64_t)(share * (double)all + 0.5);
}
