/* SPDX-License-Identifier: MIT */
/*
 * caches_fill - lines that go from cache to cache, from core to core
 */
#include "caches_internal.h"
#include "memory_bus.h"

/* Memory transfers a line from @t on; returns how long that waits. */
static uint64_t transfer(struct caches *c, uint64_t t)
{
	return c->warming ? 0 : memory_bus_take(c->bus, t);
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

/* When @core, which has asked for the line @x, gets it. */
static uint64_t arrival(const struct caches *c, uint32_t core, uint64_t line)
{
	const struct private *p = &c->private[core];
	const struct cache_line *a = cache_lines_find(&p->l1d, line),
				*b = cache_lines_find(&p->l2, line);
	uint64_t t = b ? b->ready : 0;

	return a && a->ready > t ? a->ready : t;
}

/*
 * @core asks for the line @x of the last cache at @t. Returns the cycle from
 * which it can have it: when those that lose it have had it.
 */
static uint64_t turn(struct caches *c, uint32_t core,
		     const struct cache_line *x, enum caches_use use,
		     uint64_t t)
{
	uint64_t from = t;

	for (uint32_t i = 0; c->machine->in_turn && i < c->cores; i++) {
		uint64_t until;

		if (i == core || !(x->sharers >> i & 1) ||
		    (use != CACHES_STORE && x->owner != (int)i))
			continue;
		until = arrival(c, i, x->line);
		if (until <= t)
			continue;
		if (use != CACHES_FETCH) /* no instructions take a turn */
			c->private[i].leaving[x->line % LEAVING] =
				(struct leaving){ x->line + 1, until };
		from = until > from ? until : from;
	}
	return from;
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

struct cache_line *caches_fill_first(struct private *p,
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

struct cache_line *caches_get(struct caches *c, uint32_t core, uint64_t line,
			      enum caches_use use, uint64_t t,
			      struct caches_answer *answer)
{
	struct cache_line *x = cache_lines_find(&c->llc, line), *b;
	struct caches_counts *n = &c->private[core].counts;
	uint64_t cycles = c->hit_llc;
	bool alone;

	caches_look(c, core, MISS_LLC, line);
	n->l2_misses++;
	n->llc_accesses++;
	answer->level = LEVEL_LLC;
	if (x) {
		cycles += turn(c, core, x, use, t) - t;
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
	answer->beyond = caches_beyond(c, cycles - answer->bus);
	b->from = answer->level;
	return b;
}

void caches_upgrade(struct caches *c, uint32_t core, struct cache_line *b,
		    uint64_t t, struct caches_answer *answer)
{
	struct cache_line *x = cache_lines_find(&c->llc, b->line);

	c->private[core].counts.upgrades++;
	t = turn(c, core, x, CACHES_STORE, t);
	drop_others(c, x, core);
	x->owner = (int8_t)core;
	b->state = LINE_MODIFIED;
	cache_lines_use(&c->private[core].l2, b, ++c->clock);
	answer->level = LEVEL_LLC;
	answer->done = t + c->hit_llc;
}
