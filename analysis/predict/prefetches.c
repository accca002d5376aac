/* SPDX-License-Identifier: MIT */
/*
 * prefetches - which accesses of a thread a prefetcher would have asked for
 */
#include "prefetches.h"
#include "analysis/base/util.h"
#include "analysis/model/streams.h"
#include "analysis/model/strides.h"

#define HASH UINT64_C(0x9e3779b97f4a7c15)

enum {
	L1D_SIZE = 2, /* which depth: 64 sets */
	L1D_WAYS = 8,
	NEAR_SHIFT = 12,
	FAR_SHIFT = 17,
	GROUP_SHIFT = 3, /* of lines side by side, as a walk uses them */
	TABLE_KINDS = PREFETCH_STREAM, /* those that it is for */
};

/* A line of the table that stands for L2. */
struct asked {
	uint64_t line; /* + 1; 0: none */
	bool used;     /* the thread missed it, and so fetched it */
	uint8_t by;    /* a bit for each that asked for it, and was not used */
	uint8_t far;   /* the same, so long ago that L2 had lost it */
	/* Of each of them: the micro-operation, and the access + 1. */
	uint32_t uop[TABLE_KINDS], access[TABLE_KINDS];
};

struct prefetches {
	struct asked near[1 << NEAR_SHIFT];
	/* Lines that left it and were not used: line + 1 and bits, as above. */
	uint64_t far[1 << FAR_SHIFT];
	struct strides strides;
	struct streams streams;
};

struct prefetches *prefetches_new(void)
{
	return xcalloc(1, sizeof(struct prefetches));
}

/* The place of @line in a table of 1 << @shift. */
static size_t number_of(uint64_t line, int shift)
{
	uint64_t group = (line >> GROUP_SHIFT) * HASH >>
			 (64 - shift + GROUP_SHIFT);

	return (size_t)(group << GROUP_SHIFT |
			(line & ((1 << GROUP_SHIFT) - 1)));
}

static uint64_t *far_of(struct prefetches *p, uint64_t line)
{
	return &p->far[number_of(line, FAR_SHIFT)];
}

void prefetches_fetch(const struct prefetches *p, uint64_t line)
{
	__builtin_prefetch(&p->near[number_of(line, NEAR_SHIFT)], 1);
	__builtin_prefetch(&p->far[number_of(line, FAR_SHIFT)], 1);
}

/* The place of @line, which has it from now on. */
static struct asked *place_of(struct prefetches *p, uint64_t line)
{
	struct asked *x = &p->near[number_of(line, NEAR_SHIFT)];
	uint64_t *far;

	if (x->line == line + 1)
		return x;
	if (x->by | x->far)
		*far_of(p, x->line - 1) =
			x->line << TABLE_KINDS | (unsigned int)(x->by | x->far);
	*x = (struct asked){ .line = line + 1 };
	far = far_of(p, line);
	if (*far >> TABLE_KINDS == line + 1) {
		x->far = *far & ((1 << TABLE_KINDS) - 1);
		*far = 0;
	}
	return x;
}

/* @line is used: what asked for it was right. */
static void find_askers(struct prefetches *p, struct workload_thread *t,
			uint64_t line, uint32_t uop, struct micro_access *a)
{
	struct asked *x = place_of(p, line);

	for (int i = 0; i < TABLE_KINDS; i++) {
		uint32_t back = uop - x->uop[i], access = x->access[i];

		if (x->far >> i & 1)
			a->asked[i] = PREFETCH_FAR;
		if (!(x->by >> i & 1))
			continue;
		a->asked[i] =
			back < PREFETCH_FAR ? (uint16_t)back : PREFETCH_FAR - 1;
		if (access && access <= t->accesses)
			t->access[access - 1].vain &= (uint8_t) ~(1u << i);
	}
	x->by = x->far = 0;
	x->used = true;
}

/* The kind @i asks for @line; until it is used that is in vain. */
static void ask(struct prefetches *p, int i, uint64_t line, uint32_t uop,
		uint32_t access, struct micro_access *a)
{
	struct asked *x = place_of(p, line);

	if (x->used || x->by >> i & 1)
		return; /* L2 has it */
	x->by |= (uint8_t)(1u << i);
	x->uop[i] = uop;
	x->access[i] = access;
	if (!(x->far >> i & 1))
		a->vain |= (uint8_t)(1u << i);
}

/* The same of the stream of the instruction at @ip. */
static void find_stream(struct prefetches *p, uint64_t ip, uint64_t line,
			uint32_t uop, struct micro_access *a)
{
	struct stream *s = streams_of(&p->streams, ip);
	uint32_t before = s->ip == ip ? s->place : 0, back = uop - s->uop;

	s = streams_add(&p->streams, ip, line);
	if (s->place > 1 || before > s->place)
		a->asked[PREFETCH_STREAM] =
			back < PREFETCH_FAR ? (uint16_t)back : PREFETCH_FAR - 1;
	if (s->place > 1)
		a->place = (uint8_t)s->place;
	if (before > s->place) {
		a->vain |= 1u << PREFETCH_STREAM;
		a->ended = (uint8_t)before;
	}
	s->uop = uop;
}

void prefetches_add(struct prefetches *p, struct workload_thread *t,
		    uint64_t ip, uint64_t line, uint32_t uop, bool in_micro,
		    struct micro_access *a)
{
	uint32_t access = in_micro ? (uint32_t)t->accesses + 1 : 0;

	if (a->depth[L1D_SIZE] < L1D_WAYS)
		return;
	find_askers(p, t, line, uop, a);
	if (ip)
		find_stream(p, ip, line, uop, a);
	for (int i = 0; i < TABLE_KINDS; i++) {
		uint64_t next = prefetch_line(
			(enum machine_prefetcher)(PREFETCHER_NONE + 1 + i),
			&p->strides, line);

		if (next != line)
			ask(p, i, next, uop, access, a);
	}
}
