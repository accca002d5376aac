/* SPDX-License-Identifier: MIT */
/*
 * caches - the caches of all cores, the lines that they share, and memory
 */
#include <math.h>
#include <stdlib.h>

#include "caches_internal.h"
#include "memory_bus.h"
#include "analysis/base/util.h"

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
		if (machine_has_turns(m))
			p->turn = xcalloc(p->l1d.sets, sizeof(*p->turn));
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
		free(c->private[i].turn);
	}
	cache_lines_release(&c->llc);
	free(c->bus);
	free(c);
}

void caches_watch(struct caches *c, struct misses *misses)
{
	c->misses = misses;
}

void caches_at(struct caches *c, uint64_t ip)
{
	c->ip = ip;
}

void caches_set_warming(struct caches *c, bool warming)
{
	c->warming = warming;
}

/* @core still waits for @line, which others get then. */
static bool has_turn(const struct caches *c, uint32_t core, uint64_t line,
		     uint64_t t, uint64_t *until)
{
	const struct leaving *l = &c->private[core].leaving[line % LEAVING];

	*until = l->until;
	return c->machine->in_turn && l->line == line + 1 && t < l->until;
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

/* The set that @line is to come into takes its misses one after the other. */
static uint64_t wait_for_set(const struct caches *c, const struct private *p,
			     uint64_t line, enum caches_use use, uint64_t t)
{
	const struct machine *m = c->machine;

	if (!p->turn)
		return t;
	return set_turn_take(&p->turn[line & (p->l1d.sets - 1)], t,
			     use == CACHES_STORE ? m->after_store
						 : m->after_load);
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

	caches_look(c, core, MISS_L2, line);
	if (queues && !a)
		t = wait_for_set(c, p, line, use, t);
	if (queues)
		t = time_queue_enter(&p->mshrs, t);
	if (!a)
		p->counts.l2_accesses++;
	if (b && use == CACHES_STORE && b->state == LINE_SHARED) {
		caches_upgrade(c, core, b, t, &answer);
	} else if (b) {
		cache_lines_use(&p->l2, b, ++c->clock);
		if (use == CACHES_STORE)
			b->state = LINE_MODIFIED;
		answer.level = LEVEL_L2;
		answer.done = t + c->hit_l2;
		answer.beyond = caches_beyond(c, c->hit_l2);
		if (b->ready > answer.done) {
			answer.done = b->ready;
			answer.level = b->from;
		}
	} else {
		b = caches_get(c, core, line, use, t, &answer);
	}
	if (c->misses && use != CACHES_FETCH) {
		if (a)
			misses_upgrade(c->misses, answer.done - asked);
		else
			tell_miss(c, in_l2, answer.level, answer.done - asked);
	}
	if (!a)
		a = caches_fill_first(p, first, line);
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
	struct caches_answer answer = { .level = LEVEL_CORE };

	if (use != CACHES_FETCH)
		caches_look(c, core, MISS_L1D, line);
	if (use != CACHES_FETCH && has_turn(c, core, line, t, &answer.done)) {
		count_first(&p->counts, use, false);
		return answer;
	}
	count_first(&p->counts, use, missed);
	if (a && (use != CACHES_STORE || a->state != LINE_SHARED)) {
		answer = hit(c, first, a, use, t);
		missed = a->asked;
		a->asked = false;
	} else {
		answer = miss(c, core, line, use, t, a);
	}
	if (missed && use != CACHES_FETCH)
		caches_prefetch(c, core, line, t);
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
