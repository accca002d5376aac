/* SPDX-License-Identifier: MIT */
/*
 * sampled_strata - groups of sampled accesses, and what stands for them
 *
 * Short reuse times are a matter of counting: emu and the hooks see an access
 * of 16 bytes as two. So the group of the shortest ones has whatever is left of
 * the accesses that the profile counts.
 */
#include <math.h>

#include "sampled_strata.h"

int sampled_group_of(uint32_t bin)
{
	if (bin == WORKLOAD_COLD)
		return SAMPLED_COLD;
	if (bin == WORKLOAD_INVALID)
		return SAMPLED_INVALID;
	return (int)bin / REUSE_SUBS;
}

uint32_t sampled_bin_of(int group)
{
	static const uint32_t others[] = { WORKLOAD_COLD, WORKLOAD_INVALID };

	if (group >= SAMPLED_OCTAVES)
		return others[group - SAMPLED_OCTAVES];
	return (uint32_t)group * REUSE_SUBS + REUSE_SUBS / 2;
}

/*
 * The group that takes what was sampled in @g: itself, or a neighbour, as the
 * sources count accesses differently; else none, -1.
 */
static int home_of(const struct sampled_stratum *s, int g)
{
	if (s->factor[g] > 0)
		return g;
	if (g < SAMPLED_OCTAVES && g > 0 && s->factor[g - 1] > 0)
		return g - 1;
	if (g < SAMPLED_OCTAVES - 1 && s->factor[g + 1] > 0)
		return g + 1;
	return -1;
}

void sampled_find_factors(struct sampled_stratum *s, double accesses)
{
	double wanted[SAMPLED_GROUPS] = { 0 }, others = 0;
	int first = 0; /* the shortest times that the micro-traces have */

	while (first < SAMPLED_OCTAVES - 1 && !(s->factor[first] > 0))
		first++;
	s->sampled[SAMPLED_INVALID] = 0; /* the profile tells these */
	for (int g = 0; g < SAMPLED_GROUPS; g++) {
		int home = home_of(s, g);

		if (home >= 0)
			wanted[home] += s->sampled[g];
		else if (g > first)
			s->even[g] = s->sampled[g] / accesses;
		if (home >= 0 ? home != first : g > first)
			others += s->sampled[g];
	}
	wanted[first] = fmax(accesses - others, 0);
	for (int g = 0; g < SAMPLED_GROUPS; g++)
		s->factor[g] = s->factor[g] > 0 ? wanted[g] / s->factor[g] : 0;
}

/* Of a group the expected stack distance; of those that always miss, far. */
static void find_distances(struct sampled_stratum *s,
			   const struct reuse_cell *whole)
{
	for (int g = 0; g < SAMPLED_GROUPS; g++)
		s->distance[g] =
			g >= SAMPLED_OCTAVES || !whole->locality
				? INFINITY
				: locality_distance(whole->locality,
						    (double)reuse_bin_low(
							    sampled_bin_of(g)));
}

static void sum_samples(struct sampled_stratum *s, const struct reuse_cell *c,
			enum sampled_scope scope)
{
	const struct reuse_histogram *h = &c->histogram;

	for (uint32_t i = 0; i < REUSE_BINS; i++) {
		int g = sampled_group_of(i);

		s->sampled[g] += h->reuse[i].weight;
		s->sampled[SAMPLED_COLD] += h->never[i].weight;
		/* Among all threads a store by another is a use. */
		s->sampled[scope == SAMPLED_OWN ? SAMPLED_INVALID : g] +=
			h->invalidated[i].weight;
	}
}

bool sampled_take(struct sampled_stratum *s, const struct reuse_cells *cells,
		  int64_t thread, enum sampled_scope scope)
{
	enum reuse_scope of =
		scope == SAMPLED_OWN ? REUSE_PRIVATE : REUSE_GLOBAL;
	const struct reuse_cell *found = NULL;

	for (size_t i = 0; i < cells->count; i++) {
		const struct reuse_cell *c = cells->cell[i];

		if (c->thread != thread || c->scope != of || c->ns ||
		    c->granularity != REUSE_LINE || c->basis == REUSE_DISTANCES)
			continue;
		if (found && c->basis != found->basis)
			continue;
		sum_samples(s, c, scope);
		found = c;
	}
	if (found)
		find_distances(s, found->whole);
	return found;
}
