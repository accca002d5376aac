/* SPDX-License-Identifier: MIT */
/*
 * caches_prefetch - lines that a core gets before it asks for them
 */
#include "caches_internal.h"

/* Have @line in L2, which @core has not asked for. */
static void prefetch_line_to_l2(struct caches *c, uint32_t core, uint64_t line,
				uint64_t t)
{
	struct caches_counts *n = &c->private[core].counts, before = *n;
	struct caches_answer ignored = { 0 };

	if (cache_lines_find(&c->private[core].l2, line))
		return;
	caches_look(c, core, MISS_L2, line);
	caches_get(c, core, line, CACHES_LOAD, t, &ignored);
	*n = before; /* these count demands */
}

/* The same in L1D, behind L2. */
static void prefetch_line_to_l1(struct caches *c, uint32_t core, uint64_t line,
				uint64_t t)
{
	struct private *p = &c->private[core];
	const struct cache_line *b = cache_lines_find(&p->l2, line);
	struct cache_line *a;

	if (!b || cache_lines_find(&p->l1d, line))
		return;
	caches_look(c, core, MISS_L1D, line);
	a = caches_fill_first(p, &p->l1d, line);
	cache_lines_use(&p->l1d, a, ++c->clock);
	a->state = b->state;
	a->ready = t + c->hit_l2 > b->ready ? t + c->hit_l2 : b->ready;
	a->from = b->ready > t + c->hit_l2 ? b->from : LEVEL_L2;
	a->asked = true;
}

/* What streams.h says, for L2 and then for L1D. */
static void prefetch_stream(struct caches *c, uint32_t core, uint64_t line,
			    uint64_t t)
{
	const struct stream *s =
		streams_add(&c->private[core].streams, c->ip, line);
	uint32_t ahead = c->machine->ahead, first, last;

	last = stream_asks(s->place, ahead, &first);
	for (uint32_t i = first; i <= last; i++)
		prefetch_line_to_l2(c, core, line + (uint64_t)(s->stride * i),
				    t);
	if (ahead > STREAM_AHEAD_L1)
		ahead = STREAM_AHEAD_L1;
	last = stream_asks(s->place, ahead, &first);
	for (uint32_t i = first; i <= last; i++)
		prefetch_line_to_l1(c, core, line + (uint64_t)(s->stride * i),
				    t);
}

void caches_prefetch(struct caches *c, uint32_t core, uint64_t line, uint64_t t)
{
	enum machine_prefetcher kind =
		(enum machine_prefetcher)c->machine->prefetcher;
	uint64_t next;

	if (kind == PREFETCHER_STREAM) {
		if (c->ip)
			prefetch_stream(c, core, line, t);
		return;
	}
	next = prefetch_line(kind, &c->private[core].strides, line);
	if (next != line)
		prefetch_line_to_l2(c, core, next, t);
}
