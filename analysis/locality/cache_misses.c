/* SPDX-License-Identifier: MIT */
/*
 * cache_misses - the misses of caches that were simulated with the program
 */
#include <stdlib.h>
#include <string.h>

#include "cache_misses.h"
#include "reuse_record.h"
#include "analysis/base/util.h"
#include "src/exact/cache_sets.h"

/* Name @c as this machine names its own caches, "L2" for any other. */
static void name_cache(struct host_cache *c)
{
	struct host_cache host[HOST_CACHES_MAX];
	size_t n = host_caches(host);

	if (c->name[1] == '1')
		strcpy(c->name, "L1d");
	for (size_t i = 0; i < n; i++)
		if (host[i].name[1] == c->name[1] && host[i].sets == c->sets &&
		    host[i].ways == c->ways)
			memcpy(c->name, host[i].name, sizeof(c->name));
}

static struct host_cache cache_of(const struct cdp_reuse *r)
{
	struct host_cache c = {
		.line_bytes = CACHE_SETS_LINE,
		.sets = cdp_cache_sets(r->end_ip),
		.ways = cdp_cache_ways(r->end_ip),
		.shared = r->scope == REUSE_GLOBAL,
	};

	c.bytes = c.sets * c.ways * c.line_bytes;
	c.cores = c.shared ? 2 : 1; /* or more */
	snprintf(c.name, sizeof(c.name), "L%u", r->bin % 10);
	return c;
}

/*
 * Depth and shape identify a cache. A cache that cores share is simulated as
 * private to each thread, unless it is the last one.
 */
static bool same(const struct host_cache *x, const struct host_cache *y)
{
	return x->name[1] == y->name[1] && x->sets == y->sets &&
	       x->ways == y->ways;
}

static int by_depth(const void *a, const void *b)
{
	const struct host_cache *x = a, *y = b;

	if (x->name[1] != y->name[1])
		return x->name[1] < y->name[1] ? -1 : 1;
	return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static bool stores(const struct cdp_reuse *r)
{
	return r->pairing == REUSE_RAW;
}

/* The misses of one thread of a process in one cache. */
struct cache_sum {
	uint32_t process, thread, domain;
	struct host_cache cache;
	struct cache_count count;
};

static void note_cache(struct cache_misses *m, const struct host_cache *c)
{
	for (size_t i = 0; i < m->caches; i++)
		if (same(&m->cache[i], c))
			return;
	if (m->caches < HOST_CACHES_MAX)
		m->cache[m->caches++] = *c;
}

/*
 * Add @row to the last sum if that is of the same thread and cache; a thread's
 * records of a cache follow each other.
 */
static void take(struct cache_misses *m, const struct reuse_row *row)
{
	const struct cdp_reuse *r = &row->record;
	struct host_cache c = cache_of(r);
	struct cache_sum *s = m->sums ? &m->sum[m->sums - 1] : NULL;

	if (!s || s->process != row->process || s->thread != row->thread ||
	    s->domain != r->domain || !same(&s->cache, &c)) {
		note_cache(m, &c);
		m->sum = grow(m->sum, m->sums, &m->sums_room, sizeof(*m->sum));
		s = &m->sum[m->sums++];
		*s = (struct cache_sum){
			.process = row->process,
			.thread = row->thread,
			.domain = r->domain,
			.cache = c,
		};
	}
	s->count.accesses[stores(r)] += r->use_ip ? 0 : (double)r->count;
	s->count.misses[stores(r)] += reuse_number(r->weight);
}

void cache_misses_init(struct cache_misses *m, const struct profile *p)
{
	memset(m, 0, sizeof(*m));
	for (size_t i = 0; i < p->reuses; i++)
		if (p->reuse[i].record.kind == CDP_REUSE_CACHE)
			take(m, &p->reuse[i]);
	qsort(m->cache, m->caches, sizeof(*m->cache), by_depth);
	for (size_t i = 0; i < m->caches; i++)
		name_cache(&m->cache[i]);
}

void cache_misses_release(struct cache_misses *m)
{
	free(m->sum);
	memset(m, 0, sizeof(*m));
}

size_t cache_misses_choose(const struct cache_misses *m,
			   struct host_cache cache[HOST_CACHES_MAX],
			   bool *other)
{
	size_t n = host_caches(cache);

	*other = false;
	for (size_t i = 0; i < m->caches; i++) {
		size_t k = 0;

		while (k < n && !same(&cache[k], &m->cache[i]))
			k++;
		if (k < n)
			continue;
		memcpy(cache, m->cache, sizeof(m->cache));
		*other = true;
		return m->caches;
	}
	return n;
}

bool cache_misses_count(const struct cache_misses *m,
			const struct host_cache *cache,
			const struct cache_part *part, struct cache_count *c)
{
	memset(c, 0, sizeof(*c));
	for (size_t i = 0; i < m->sums; i++) {
		const struct cache_sum *s = &m->sum[i];

		if ((part->thread >= 0 && part->thread != s->thread) ||
		    (part->process >= 0 && part->process != s->process) ||
		    (part->domain >= 0 && part->domain != s->domain) ||
		    !same(&s->cache, cache))
			continue;
		for (int k = 0; k < 2; k++) {
			c->accesses[k] += s->count.accesses[k];
			c->misses[k] += s->count.misses[k];
		}
	}
	return c->accesses[0] + c->accesses[1] > 0;
}

static bool is_in(const struct reuse_row *row, const struct cache_part *part)
{
	return row->record.kind == CDP_REUSE_CACHE &&
	       (part->thread < 0 || part->thread == row->thread) &&
	       (part->process < 0 || part->process == row->process) &&
	       (part->domain < 0 || part->domain == row->record.domain);
}

static int by_address(const void *a, const void *b)
{
	const struct reuse_row *x = *(const struct reuse_row *const *)a;
	const struct reuse_row *y = *(const struct reuse_row *const *)b;

	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	if (x->record.use_ip != y->record.use_ip)
		return x->record.use_ip < y->record.use_ip ? -1 : 1;
	return (x->record.map_generation > y->record.map_generation) -
	       (x->record.map_generation < y->record.map_generation);
}

static int by_place(const void *a, const void *b)
{
	const struct cache_misser *x = a, *y = b;

	return place_compare(&x->place, &y->place);
}

static int by_line(const void *a, const void *b)
{
	const struct cache_misser *x = a, *y = b;

	return place_compare_lines(&x->place, &y->place);
}

static void add(void *to, const void *from)
{
	struct cache_misser *x = to;
	const struct cache_misser *y = from;

	for (int i = 0; i < HOST_CACHES_MAX; i++)
		for (int k = 0; k < 2; k++)
			x->miss[i][k] += y->miss[i][k];
}

static void count(struct cache_missers *m, struct cache_misser *to,
		  const struct cdp_reuse *r)
{
	struct host_cache c = cache_of(r);

	for (size_t i = 0; i < m->of->caches; i++)
		if (same(&m->of->cache[i], &c))
			to->miss[i][stores(r)] += reuse_number(r->weight);
}

void cache_missers_init(struct cache_missers *m, const struct cache_misses *of,
			const struct profile *p, struct symbols *symbols,
			const struct cache_part *part)
{
	const struct reuse_row **known = NULL;
	size_t n = 0, room = 0;

	memset(m, 0, sizeof(*m));
	m->of = of;
	for (size_t i = 0; i < p->reuses; i++) {
		if (!is_in(&p->reuse[i], part) || !p->reuse[i].record.use_ip)
			continue;
		known = grow(known, n, &room, sizeof(*known));
		known[n++] = &p->reuse[i];
	}
	if (!n)
		return;
	qsort(known, n, sizeof(*known), by_address);
	m->misser = xcalloc(n, sizeof(*m->misser));
	for (size_t i = 0; i < n; i++) {
		const struct reuse_row *row = known[i];
		struct cache_misser *to = &m->misser[m->missers];

		if (i && !by_address(&known[i - 1], &known[i])) {
			to--;
		} else {
			symbols_site(symbols, &p->process[row->process],
				     row->record.use_ip,
				     row->record.map_generation, &to->place);
			m->missers++;
		}
		count(m, to, &row->record);
	}
	free(known);
	m->missers =
		unite(m->misser, m->missers, sizeof(*m->misser), by_place, add);
}

void cache_missers_release(struct cache_missers *m)
{
	free(m->misser);
	memset(m, 0, sizeof(*m));
}

static int by_misses(const void *a, const void *b, void *which)
{
	const struct cache_misser *x = a, *y = b;
	size_t i = *(size_t *)which;
	double more = x->miss[i][0] + x->miss[i][1];
	double less = y->miss[i][0] + y->miss[i][1];

	if (more != less)
		return more < less ? 1 : -1;
	return by_place(a, b);
}

void cache_missers_join_lines(struct cache_missers *m, size_t by)
{
	m->missers =
		unite(m->misser, m->missers, sizeof(*m->misser), by_line, add);
	if (!m->missers)
		return;
	qsort_r(m->misser, m->missers, sizeof(*m->misser), by_misses, &by);
}
