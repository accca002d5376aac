/* SPDX-License-Identifier: MIT */
/*
 * caches - the caches of all cores, the lines that they share, and memory
 */
#include <math.h>
#include <stdlib.h>

#include "caches.h"
#include "cache_lines.h"
#include "memory_bus.h"
#include "strides.h"
#include "time_queue.h"
#include "analysis/base/util.h"

struct private
{
	struct cache_lines l1i, l1d, l2;
	struct strides strides;
	struct time_queue mshrs;
	struct caches_counts counts;
};

struct caches {
	const struct machine *machine;
	uint32_t cores;
	uint64_t clock;           /* for the least recently used */
	uint64_t hit_l2, hit_llc; /* cycles of a load until its data */
	uint64_t to_memory;       /* cycles until memory is asked */
	uint64_t memory;          /* cycles of a load from there */
	uint64_t reads, writes;
	struct cache_lines llc;
	struct memory_bus *bus;
	struct misses *misses; /* who is told of them, or NULL */
	bool warming;
	struct private private[];
};

struct caches *caches_new(const struct machine *m, uint32_t cores)
{
	struct caches *c =
		xcalloc(1, sizeof(*c) + cores * sizeof(c->private[0]));
	double slot = (1 << MACHINE_LINE_SHIFT) / m->memory_gbs * m->ghz;

	c->machine = m;
	c->cores = cores;
	c->hit_l2 = m->l1d.tag + m->l2.latency;
	c->hit_llc = m->l1d.tag + m->l2.tag + m->llc.latency;
	c->to_memory = m->l1d.tag + m->l2.tag + m->llc.tag + m->directory;
	c->memory = (uint64_t)llround((double)c->to_memory +
				      m->memory_ns * m->ghz + slot);
	c->bus = memory_bus_new(slot);
	cache_lines_init(&c->llc, &m->llc);
	for (uint32_t i = 0; i < cores; i++) {
		struct private *p = &c->private[i];

		cache_lines_init(&p->l1i, &m->l1i);
		cache_lines_init(&p->l1d, &m->l1d);
		cache_lines_init(&p->l2, &m->l2);
		time_queue_init(&p->mshrs, m->mshrs);
	}
	return c;
}

void caches_free(struct caches *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; i < c->cores; i++) {
		cache_lines_release(&c->private[i].l1i);
		cache_lines_release(&c->private[i].l1d);
		cache_lines_release(&c->private[i].l2);
		time_queue_release(&c->private[i].mshrs);
	}
	cache_lines_release(&c->llc);
	free(c->bus);
	free(c);
}

void caches_watch(struct caches *c, struct misses *misses)
{
	c->misses = misses;
}

void caches_set_warming(struct caches *c, bool warming)
{
	c->warming = warming;
}

/* What a load that takes @cycles takes more than one that hits. */
static uint64_t beyond(const struct caches *c, uint64_t cycles)
{
	uint64_t hit = c->machine->l1d.latency;

	return cycles > hit ? cycles - hit : 0;
}

/* Memory transfers a line from @t on; returns how long that waits. */
static uint64_t transfer(struct caches *c, uint64_t t)
{
	return c->warming ? 0 : memory_bus_take(c->bus, t);
}

/* @core looks for @line in a cache. */
static void look(const struct caches *c, uint32_t core, enum miss_cache cache,
		 uint64_t line)
{
	if (c->misses)
		misses_look(c->misses, core, cache, line);
}

/* Remove @line from a first cache; true if it held changes. */
static bool drop_first(struct cache_lines *first, uint64_t line)
{
	struct cache_line *a = cache_lines_find(first, line);

	if (!a)
		return false;
	cache_lines_drop(first, a);
	return a->dirty;
}

/* Remove @line from all caches of @core; true if they held changes. */
static bool drop(struct caches *c, uint32_t core, uint64_t line)
{
	struct private *p = &c->private[core];
	bool dirty = drop_first(&p->l1d, line);
	struct cache_line *b = cache_lines_find(&p->l2, line);

	drop_first(&p->l1i, line);
	if (b) {
		cache_lines_drop(&p->l2, b);
		dirty |= b->dirty;
	}
	return dirty;
}

/* Remove the line @x of the last cache from all cores but @but. */
static void drop_others(struct caches *c, struct cache_line *x, uint32_t but)
{
	for (uint32_t i = 0; i < c->cores; i++) {
		if (i == but || !(x->sharers >> i & 1))
			continue;
		x->dirty |= drop(c, i, x->line);
		if (c->misses)
			misses_taken(c->misses, i, x->line);
	}
	x->sharers &= UINT64_C(1) << but;
}

/* The owner keeps a shared copy; true if it had changed the line. */
static bool share(struct caches *c, struct cache_line *x)
{
	struct private *p = &c->private[x->owner];
	struct cache_line *copy[] = { cache_lines_find(&p->l1d, x->line),
				      cache_lines_find(&p->l1i, x->line),
				      cache_lines_find(&p->l2, x->line) };
	bool dirty = false;

	for (int i = 0; i < 3; i++) {
		if (!copy[i])
			continue;
		dirty |= copy[i]->dirty;
		copy[i]->state = LINE_SHARED;
		copy[i]->dirty = false;
	}
	x->owner = -1;
	x->dirty |= dirty;
	return dirty;
}

/*
 * Put @line in the last cache. Its data arrive at @t, and what it replaces
 * leaves then.
 */
static struct cache_line *fill_llc(struct caches *c, uint64_t line, uint64_t t)
{
	struct cache_line *x = cache_lines_victim(&c->llc, line);

	if (x->line != CACHE_NO_LINE) {
		for (uint32_t i = 0; i < c->cores; i++)
			if (x->sharers >> i & 1)
				x->dirty |= drop(c, i, x->line);
		if (x->dirty) {
			transfer(c, t);
			c->writes++;
		}
	}
	cache_lines_put(&c->llc, x,
			(struct cache_line){ .line = line, .owner = -1 });
	return x;
}

/* Make room in the second cache of @core and put @line there. */
static struct cache_line *fill_l2(struct caches *c, uint32_t core,
				  uint64_t line)
{
	struct private *p = &c->private[core];
	struct cache_line *b = cache_lines_victim(&p->l2, line), *x;

	if (b->line != CACHE_NO_LINE) {
		b->dirty |= drop_first(&p->l1d, b->line);
		drop_first(&p->l1i, b->line);
		x = cache_lines_find(&c->llc, b->line);
		x->dirty |= b->dirty;
		x->sharers &= ~(UINT64_C(1) << core);
		if (x->owner == (int)core)
			x->owner = -1;
	}
	cache_lines_put(&p->l2, b, (struct cache_line){ .line = line });
	cache_lines_use(&p->l2, b, ++c->clock);
	return b;
}

static struct cache_line *fill_first(struct private *p,
				     struct cache_lines *first, uint64_t line)
{
	struct cache_line *a = cache_lines_victim(first, line), *b;

	if (a->line != CACHE_NO_LINE && a->dirty) {
		b = cache_lines_find(&p->l2, a->line);
		b->dirty = true;
		b->state = LINE_MODIFIED;
	}
	cache_lines_put(first, a, (struct cache_line){ .line = line });
	return a;
}

/*
 * The second cache of @core lacks @line: get it from the last cache, another
 * core or memory. The answer's time is still to be added to.
 */
static struct cache_line *get(struct caches *c, uint32_t core, uint64_t line,
			      enum caches_use use, uint64_t t,
			      struct caches_answer *answer)
{
	struct cache_line *x = cache_lines_find(&c->llc, line), *b;
	struct caches_counts *n = &c->private[core].counts;
	uint64_t cycles = c->hit_llc;
	bool alone;

	look(c, core, MISS_LLC, line);
	n->l2_misses++;
	n->llc_accesses++;
	answer->level = LEVEL_LLC;
	if (x) {
		if (x->owner >= 0 && x->owner != (int)core && share(c, x)) {
			cycles += c->machine->transfer;
			answer->level = LEVEL_CORE;
			n->transfers++;
		}
		if (use == CACHES_STORE)
			drop_others(c, x, core);
	} else {
		n->llc_misses++;
		c->reads++;
		answer->level = LEVEL_MEMORY;
		answer->fills = true;
		answer->bus = transfer(c, t + c->to_memory);
		cycles = c->memory + answer->bus;
		x = fill_llc(c, line, t + cycles);
	}
	cache_lines_use(&c->llc, x, ++c->clock);
	alone = !(x->sharers & ~(UINT64_C(1) << core));
	x->sharers |= UINT64_C(1) << core;
	x->owner = alone ? (int8_t)core : -1;
	b = fill_l2(c, core, line);
	b->state = use == CACHES_STORE ? LINE_MODIFIED
		   : alone             ? LINE_EXCLUSIVE
				       : LINE_SHARED;
	answer->done = b->ready = t + cycles;
	answer->beyond = beyond(c, cycles - answer->bus);
	b->from = answer->level;
	return b;
}

/* A store to a line of which others may have copies. */
static void upgrade(struct caches *c, uint32_t core, struct cache_line *b,
		    uint64_t t, struct caches_answer *answer)
{
	struct cache_line *x = cache_lines_find(&c->llc, b->line);

	c->private[core].counts.upgrades++;
	drop_others(c, x, core);
	x->owner = (int8_t)core;
	b->state = LINE_MODIFIED;
	cache_lines_use(&c->private[core].l2, b, ++c->clock);
	answer->level = LEVEL_LLC;
	answer->done = t + c->hit_llc;
}

static void prefetch(struct caches *c, uint32_t core, uint64_t line, uint64_t t)
{
	struct caches_counts *n = &c->private[core].counts, before = *n;
	struct caches_answer ignored = { 0 };
	uint64_t next =
		prefetch_line((enum machine_prefetcher)c->machine->prefetcher,
			      &c->private[core].strides, line);

	if (next != line && !cache_lines_find(&c->private[core].l2, next)) {
		look(c, core, MISS_L2, next);
		get(c, core, next, CACHES_LOAD, t, &ignored);
		*n = before; /* these count demands */
	}
}

static struct caches_answer hit(struct caches *c,
				const struct cache_lines *first,
				struct cache_line *a, enum caches_use use,
				uint64_t t)
{
	struct caches_answer answer = { .level = LEVEL_L1 };

	cache_lines_use(first, a, ++c->clock);
	if (use == CACHES_STORE) {
		a->state = LINE_MODIFIED;
		a->dirty = true;
	}
	answer.done = use == CACHES_FETCH ? t : t + c->machine->l1d.latency;
	if (a->ready > answer.done) { /* its line is still on the way */
		answer.done = a->ready;
		answer.level = a->from;
	}
	return answer;
}

static void count_first(struct caches_counts *n, enum caches_use use, bool miss)
{
	if (use == CACHES_FETCH) {
		n->l1i_accesses++;
		n->l1i_misses += miss;
	} else {
		n->l1d_accesses++;
		n->l1d_misses += miss;
	}
}

/* Where the data came from, not when: a line may be on its way to L2. */
static void tell_miss(const struct caches *c, bool in_l2,
		      enum caches_level level, uint64_t cycles)
{
	static const enum miss_source source[LEVELS] = {
		[LEVEL_LLC] = MISS_FROM_LLC,
		[LEVEL_CORE] = MISS_FROM_CORE,
		[LEVEL_MEMORY] = MISS_FROM_MEMORY,
	};

	misses_count(c->misses, in_l2 ? MISS_FROM_L2 : source[level], cycles);
}

/* The first cache lacks the line, or may not store to it. */
static struct caches_answer miss(struct caches *c, uint32_t core, uint64_t line,
				 enum caches_use use, uint64_t t,
				 struct cache_line *a)
{
	struct private *p = &c->private[core];
	struct cache_lines *first = use == CACHES_FETCH ? &p->l1i : &p->l1d;
	struct cache_line *b = cache_lines_find(&p->l2, line);
	struct caches_answer answer = { 0 };
	uint64_t asked = t;
	bool in_l2 = b, queues = use != CACHES_FETCH && !c->warming;

	look(c, core, MISS_L2, line);
	if (queues)
		t = time_queue_enter(&p->mshrs, t);
	if (!a)
		p->counts.l2_accesses++;
	if (b && use == CACHES_STORE && b->state == LINE_SHARED) {
		upgrade(c, core, b, t, &answer);
	} else if (b) {
		cache_lines_use(&p->l2, b, ++c->clock);
		if (use == CACHES_STORE)
			b->state = LINE_MODIFIED;
		answer.level = LEVEL_L2;
		answer.done = t + c->hit_l2;
		answer.beyond = beyond(c, c->hit_l2);
		if (b->ready > answer.done) {
			answer.done = b->ready;
			answer.level = b->from;
		}
	} else {
		b = get(c, core, line, use, t, &answer);
	}
	if (c->misses && use != CACHES_FETCH) {
		if (a)
			misses_upgrade(c->misses, answer.done - asked);
		else
			tell_miss(c, in_l2, answer.level, answer.done - asked);
	}
	if (!a)
		a = fill_first(p, first, line);
	cache_lines_use(first, a, ++c->clock);
	a->state = b->state;
	a->dirty |= use == CACHES_STORE;
	a->ready = answer.done;
	a->from = answer.level;
	if (queues)
		time_queue_push(&p->mshrs, answer.done);
	return answer;
}

struct caches_answer caches_access(struct caches *c, uint32_t core,
				   uint64_t line, enum caches_use use,
				   uint64_t t)
{
	struct private *p = &c->private[core];
	const struct cache_lines *first =
		use == CACHES_FETCH ? &p->l1i : &p->l1d;
	struct cache_line *a = cache_lines_find(first, line);
	bool missed = !a;
	struct caches_answer answer;

	if (use != CACHES_FETCH)
		look(c, core, MISS_L1D, line);
	count_first(&p->counts, use, missed);
	if (a && (use != CACHES_STORE || a->state != LINE_SHARED))
		return hit(c, first, a, use, t);
	answer = miss(c, core, line, use, t, a);
	if (missed && use != CACHES_FETCH)
		prefetch(c, core, line, t);
	return answer;
}

const struct caches_counts *caches_counts(const struct caches *c, uint32_t core)
{
	return &c->private[core].counts;
}

void caches_counts_add(struct caches_counts *to, const struct caches_counts *a,
		       const struct caches_counts *before)
{
#define X(field) to->field += a->field - before->field;
	CACHES_COUNTS(X)
#undef X
}

void caches_memory(const struct caches *c, uint64_t *reads, uint64_t *writes)
{
	*reads = c->reads;
	*writes = c->writes;
}
