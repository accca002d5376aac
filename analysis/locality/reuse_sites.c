/* SPDX-License-Identifier: MIT */
/*
 * reuse_sites - pairs of uses and reuses, and what each site misses
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reuse_sites.h"
#include "binomial.h"
#include "reuse_misses.h"
#include "span.h"
#include "analysis/base/util.h"

/* An instruction of a process, and the site it belongs to. */
struct known {
	uint32_t process;
	uint64_t ip, generation;
	uint32_t site;
};

struct building {
	struct reuse_sites *t;
	const struct reuse_streams *s;
	struct symbols *symbols;
	const struct reuse_filter *filter;
	struct known *known; /* by process, ip and generation */
	size_t knowns, knowns_room, compact_at;
};

static int compare_known(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->ip != y->ip)
		return x->ip < y->ip ? -1 : 1;
	return (x->generation > y->generation) -
	       (x->generation < y->generation);
}

bool reuse_filter_counts(const struct reuse_filter *f,
			 const struct reuse_row *r)
{
	if (f->thread >= 0 && f->thread != r->thread)
		return false;
	return !f->pairings || (r->record.outcome == REUSE_REUSED &&
				f->pairings >> r->record.pairing & 1);
}

static bool counts(const struct building *b, const struct reuse_row *r)
{
	return r->record.kind == CDP_REUSE_PAIR &&
	       reuse_filter_counts(b->filter, r);
}

/* Order the instructions, each once. */
static void compact(struct building *b)
{
	size_t kept = 0;

	qsort(b->known, b->knowns, sizeof(*b->known), compare_known);
	for (size_t i = 0; i < b->knowns; i++)
		if (!i || compare_known(&b->known[i], &b->known[kept - 1]))
			b->known[kept++] = b->known[i];
	b->knowns = kept;
}

/* There are far fewer instructions than records. */
static void note(struct building *b, const struct reuse_row *r, uint64_t ip)
{
	if (!ip)
		return;
	if (b->knowns && b->knowns == b->knowns_room &&
	    b->knowns >= b->compact_at) {
		compact(b);
		b->compact_at = 2 * b->knowns;
	}
	b->known =
		grow(b->known, b->knowns, &b->knowns_room, sizeof(*b->known));
	b->known[b->knowns++] = (struct known){
		.process = r->process,
		.ip = ip,
		.generation = r->record.map_generation,
	};
}

static int compare_places(const void *a, const void *b)
{
	const struct reuse_site *x = a, *y = b;

	return place_compare(&x->place, &y->place);
}

uint32_t reuse_sites_find(const struct reuse_sites *t, const struct place *p)
{
	struct reuse_site key = { .place = *p };
	const struct reuse_site *found;

	if (!t->sites)
		return REUSE_NO_SITE;
	found = bsearch(&key, t->site, t->sites, sizeof(*t->site),
			compare_places);
	return found ? (uint32_t)(found - t->site) : REUSE_NO_SITE;
}

/* Make a site for each place of an instruction in the records. */
static void make_sites(struct building *b)
{
	struct reuse_sites *t = b->t;
	const struct profile *p = b->s->profile;
	struct place *place;
	size_t kept;

	if (!b->knowns)
		return;
	compact(b);
	kept = b->knowns;
	t->site = xcalloc(kept, sizeof(*t->site));
	place = xcalloc(kept, sizeof(*place));
	for (size_t i = 0; i < kept; i++) {
		symbols_site(b->symbols, &p->process[b->known[i].process],
			     b->known[i].ip, b->known[i].generation, &place[i]);
		t->site[i].place = place[i];
	}
	qsort(t->site, kept, sizeof(*t->site), compare_places);
	for (size_t i = 0; i < kept; i++)
		if (!i || compare_places(&t->site[i], &t->site[t->sites - 1]))
			t->site[t->sites++] = t->site[i];
	for (size_t i = 0; i < kept; i++)
		b->known[i].site = reuse_sites_find(t, &place[i]);
	free(place);
}

static uint32_t site_of(const struct building *b, const struct reuse_row *r,
			uint64_t ip)
{
	struct known key = { .process = r->process,
			     .ip = ip,
			     .generation = r->record.map_generation };
	const struct known *found = NULL;

	if (ip && b->knowns)
		found = bsearch(&key, b->known, b->knowns, sizeof(key),
				compare_known);

	return found ? found->site : REUSE_NO_SITE;
}

/*
 * The range of reuse distances that has the mean and the variance of a pair's
 * times, if all distances in it are equally likely.
 */
static struct locality_span span_of(const struct cdp_reuse *r)
{
	double mean = r->offset / r->weight;
	double spread = fmax(0, r->offset_squares / r->weight - mean * mean);
	double half = (sqrt(12 * spread + 1) - 1) / 2;
	double low = r->bin < 63 ? exp2(r->bin) : mean;
	struct locality_span s = {
		.low = fmax(mean - half, low) - 1,
		.high = fmax(fmin(mean + half, 2 * low - 1) - 1, 0),
	};

	s.low = fmax(0, fmin(s.low, s.high));
	return s;
}

/* Count a use without reuse at its site. */
static void count_end(struct building *b, const struct reuse_pair *p)
{
	struct reuse_site *site;

	if (p->use == REUSE_NO_SITE)
		return;
	site = &b->t->site[p->use];
	if (p->outcome == REUSE_DANGLING)
		site->never[p->scope][p->granularity] += p->weight;
	if (p->outcome == REUSE_INVALIDATED)
		site->taken[p->scope][p->granularity] += p->weight;
}

/* Count the misses of @row at its site, and in @p. */
static void count(struct building *b, const struct reuse_row *row,
		  struct reuse_pair *p)
{
	const struct cdp_reuse *r = &row->record;
	double scale = reuse_record_scale(b->s->profile, row);
	const struct reuse_cell *cell;
	struct reuse_site *site;

	if (p->outcome != REUSE_REUSED || p->reuse == REUSE_NO_SITE ||
	    p->granularity != REUSE_LINE || p->scope == REUSE_SHARED)
		return;
	cell = reuse_cells_find(&b->s->cells, row->process, REUSE_SAMPLED,
				p->scope, p->granularity, row->thread,
				r->domain);
	if (!cell || !cell->whole->locality)
		return;
	site = &b->t->site[p->reuse];
	for (size_t i = 0; i < b->s->caches; i++) {
		const struct host_cache *c = &b->s->cache[i];

		if (!reuse_scope_has_cache(b->s, p->scope, c))
			continue;
		p->miss[i] =
			p->weight * locality_span_ways(cell->whole->locality,
						       span_of(r), c->sets,
						       host_cache_ways(c));
		site->miss[i] += p->miss[i];
		site->seen[i] += p->weight;
		site->squares[i] += reuse_number(r->squares) * scale * scale;
	}
}

int reuse_pair_compare(const struct reuse_pair *x, const struct reuse_pair *y)
{
	if (x->scope != y->scope)
		return x->scope < y->scope ? -1 : 1;
	if (x->granularity != y->granularity)
		return x->granularity < y->granularity ? -1 : 1;
	if (x->ns != y->ns)
		return x->ns ? 1 : -1;
	if (x->outcome != y->outcome)
		return x->outcome < y->outcome ? -1 : 1;
	if (x->pairing != y->pairing)
		return x->pairing < y->pairing ? -1 : 1;
	if (x->use != y->use)
		return x->use < y->use ? -1 : 1;
	return (x->reuse > y->reuse) - (x->reuse < y->reuse);
}

static int compare_pair_keys(const void *a, const void *b)
{
	return reuse_pair_compare(a, b);
}

int reuse_pair_compare_weight(const struct reuse_pair *x,
			      const struct reuse_pair *y)
{
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return reuse_pair_compare(x, y);
}

static int compare_weights(const void *a, const void *b)
{
	return reuse_pair_compare_weight(a, b);
}

struct reuse_pair reuse_pair_of(const struct profile *p,
				const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	double scale = reuse_record_scale(p, row);

	return (struct reuse_pair){
		.scope = r->scope,
		.granularity = r->granularity,
		.outcome = r->outcome,
		.pairing = r->pairing,
		.ns = reuse_in_ns(&p->process[row->process].header),
		.weight = reuse_number(r->weight) * scale,
		.sum = reuse_number(r->offset) * scale,
	};
}

void reuse_pair_add(struct reuse_pair *to, const struct reuse_pair *p)
{
	to->weight += p->weight;
	to->sum += p->sum;
	for (int c = 0; c < HOST_CACHES_MAX; c++)
		to->miss[c] += p->miss[c];
}

static void add_pair(void *to, const void *from)
{
	reuse_pair_add(to, from);
}

static void take_pairs(struct building *b)
{
	const struct profile *p = b->s->profile;
	struct reuse_sites *t = b->t;

	for (size_t i = 0; i < p->reuses; i++) {
		const struct reuse_row *row = &p->reuse[i];
		const struct cdp_reuse *r = &row->record;
		struct reuse_pair pair = reuse_pair_of(p, row);

		if (!counts(b, row) || !(pair.weight > 0))
			continue;
		pair.use = site_of(b, row, r->use_ip);
		pair.reuse = site_of(b, row, r->end_ip);
		count(b, row, &pair);
		count_end(b, &pair);
		t->pair = grow(t->pair, t->pairs, &t->pairs_room,
			       sizeof(*t->pair));
		t->pair[t->pairs++] = pair;
	}
	t->pairs = unite(t->pair, t->pairs, sizeof(*t->pair), compare_pair_keys,
			 add_pair);
	if (t->pairs)
		qsort(t->pair, t->pairs, sizeof(*t->pair), compare_weights);
}

void reuse_sites_init(struct reuse_sites *t, const struct reuse_streams *s,
		      struct symbols *symbols,
		      const struct reuse_filter *filter)
{
	struct building b = {
		.t = t, .s = s, .symbols = symbols, .filter = filter
	};
	const struct profile *p = s->profile;

	memset(t, 0, sizeof(*t));
	for (size_t i = 0; i < p->reuses; i++) {
		const struct reuse_row *r = &p->reuse[i];

		if (!counts(&b, r))
			continue;
		note(&b, r, r->record.use_ip);
		note(&b, r, r->record.end_ip);
	}
	make_sites(&b);
	take_pairs(&b);
	free(b.known);
}

void reuse_sites_release(struct reuse_sites *t)
{
	free(t->site);
	free(t->pair);
	memset(t, 0, sizeof(*t));
}

bool reuse_site_ratio(const struct reuse_site *s, size_t i, double *ratio,
		      struct interval *by)
{
	double n;

	if (!(s->seen[i] > 0))
		return false;
	*ratio = fmin(1, s->miss[i] / s->seen[i]);
	n = interval_effective(s->seen[i], s->squares[i]);
	*by = interval_share(*ratio * n, n);
	return true;
}
