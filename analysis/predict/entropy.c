/* SPDX-License-Identifier: MIT */
/*
 * entropy - how hard the branches of a window are to predict
 *
 * Tables have a fixed size; branches and histories that meet in a place count
 * as one, as in a predictor.
 */
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#include "entropy.h"
#include "analysis/base/util.h"
#include "src/base/zero_pages.h"

enum {
	HISTORY_BITS = 8,
	BRANCHES = 1 << 12,
	HISTORIES = 1 << HISTORY_BITS,
	SCOPES = 2, /* ENTROPY_LOCAL, ENTROPY_GLOBAL */
};

/* The outcomes behind one history. */
struct cell {
	uint32_t n[2]; /* not taken, taken */
};

struct entropy {
	/* Those of a place are a page; most places have no branch. */
	struct cell cell[BRANCHES][SCOPES][HISTORIES];
	uint32_t history[BRANCHES], all;
	uint32_t executed[BRANCHES];
};

struct entropy *entropy_new(void)
{
	struct entropy *e = zero_pages(sizeof(*e));

	if (!e)
		die("no memory for a profile: %zu bytes", sizeof(*e));
	return e;
}

void entropy_free(struct entropy *e)
{
	munmap(e, sizeof(*e));
}

void entropy_branch(struct entropy *e, uint64_t ip, bool taken)
{
	uint32_t b = (uint32_t)(ip ^ ip >> 12) & (BRANCHES - 1);

	e->executed[b]++;
	e->cell[b][ENTROPY_LOCAL][e->history[b]].n[taken]++;
	e->cell[b][ENTROPY_GLOBAL][e->all].n[taken]++;
	e->history[b] = (e->history[b] << 1 | taken) & (HISTORIES - 1);
	e->all = (e->all << 1 | taken) & (HISTORIES - 1);
}

/* Twice the rarer outcomes of branch @b; its cells are cleared. */
static double take_rare(struct entropy *e, int scope, uint32_t b)
{
	struct cell *c = e->cell[b][scope];
	uint64_t rare = 0;

	for (int i = 0; i < HISTORIES; i++)
		rare += c[i].n[0] < c[i].n[1] ? c[i].n[0] : c[i].n[1];
	memset(c, 0, sizeof(e->cell[b][scope]));
	return 2 * (double)rare;
}

void entropy_take(struct entropy *e, double to[ENTROPIES])
{
	double sum[ENTROPIES] = { 0 }, branches = 0;

	for (uint32_t b = 0; b < BRANCHES; b++) {
		double local, global;

		if (!e->executed[b])
			continue;
		local = take_rare(e, ENTROPY_LOCAL, b);
		global = take_rare(e, ENTROPY_GLOBAL, b);
		sum[ENTROPY_LOCAL] += local;
		sum[ENTROPY_GLOBAL] += global;
		sum[ENTROPY_TOURNAMENT] += fmin(local, global);
		branches += e->executed[b];
		e->executed[b] = 0;
	}
	for (int i = 0; i < ENTROPIES; i++)
		to[i] = branches > 0 ? sum[i] / branches : 0;
	memset(e->history, 0, sizeof(e->history));
	e->all = 0;
}
