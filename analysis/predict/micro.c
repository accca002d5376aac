/* SPDX-License-Identifier: MIT */
/*
 * micro - write down the micro-traces of a thread
 */
#include <string.h>

#include "micro.h"
#include "analysis/base/util.h"

enum {
	PLACES = 1 << 12, /* of addresses: a later one replaces another there */
	WORD_SHIFT = 3,   /* log2 of the bytes that a store forwards */
};

struct place {
	uint64_t key;
	uint32_t uop;
	uint32_t trace; /* the micro-trace, from 1 on; 0: none */
};

struct micro {
	uint32_t trace; /* number of the micro-trace, from 1 on */
	uint32_t first; /* number of the micro-trace's first micro-operation */
	uint32_t writer[UOP_REGISTERS]; /* the latest one + 1; 0: none */
	struct place word[PLACES];      /* the latest store */
	struct place line[PLACES];      /* the latest access */
	struct micro_access fetch;
	bool fetches, drained;
};

struct micro *micro_new(void)
{
	return xcalloc(1, sizeof(struct micro));
}

void micro_begin(struct micro *m, struct workload_thread *t)
{
	memset(m->writer, 0, sizeof(m->writer));
	m->fetches = m->drained = false;
	m->trace++;
	m->first = (uint32_t)t->uops;
	t->micro =
		grow(t->micro, t->micros, &t->micros_room, sizeof(*t->micro));
	t->micro[t->micros++] =
		(struct micro_trace){ .first = m->first,
				      .window = (uint32_t)t->windows - 1 };
}

static struct place *place_of(struct place table[PLACES], uint64_t key)
{
	return &table[(key ^ key >> 12) & (PLACES - 1)];
}

/* How far before @now the one of @key is; 0: this micro-trace has none. */
static uint16_t back_to(const struct micro *m, struct place table[PLACES],
			uint64_t key, uint32_t now)
{
	const struct place *p = place_of(table, key);
	bool has = p->key == key && p->trace == m->trace;

	return has ? (uint16_t)(now - p->uop) : 0;
}

static void put_in(const struct micro *m, struct place table[PLACES],
		   uint64_t key, uint32_t now)
{
	*place_of(table, key) = (struct place){ key, now, m->trace };
}

static uint32_t add_access(struct workload_thread *t,
			   const struct micro_access *a)
{
	t->access = grow(t->access, t->accesses, &t->accesses_room,
			 sizeof(*t->access));
	t->access[t->accesses++] = *a;
	return (uint32_t)t->accesses;
}

static void find_producers(const struct micro *m, const struct uop *u,
			   uint32_t now, struct micro_uop *to)
{
	for (int i = 0; i < u->sources; i++) {
		uint32_t writer = m->writer[u->source[i]];
		uint16_t back = (uint16_t)(now + 1 - writer);
		bool known = !writer;

		for (int k = 0; k < to->sources; k++)
			known |= to->source[k] == back;
		if (!known)
			to->source[to->sources++] = back;
	}
}

static void find_memory(struct micro *m, uint64_t addr, uint32_t now,
			struct micro_uop *to)
{
	uint64_t line = addr >> MACHINE_LINE_SHIFT, word = addr >> WORD_SHIFT;

	to->line = back_to(m, m->line, line, now);
	if (to->flags & UOP_IS_LOAD)
		to->forward = back_to(m, m->word, word, now);
	else
		put_in(m, m->word, word, now);
	put_in(m, m->line, line, now);
}

void micro_add(struct micro *m, struct workload_thread *t, const struct uop *u,
	       uint64_t addr, const struct micro_access *access, uint8_t wrong)
{
	struct micro_trace *trace = &t->micro[t->micros - 1];
	uint32_t now = trace->uops;
	struct micro_uop *to;

	if (now == MICRO_UOPS)
		return;
	t->uop = grow(t->uop, t->uops, &t->uops_room, sizeof(*t->uop));
	to = &t->uop[t->uops++];
	*to = (struct micro_uop){ .class = u->class,
				  .flags = u->flags,
				  .wrong = wrong };
	find_producers(m, u, now, to);
	if (access) {
		find_memory(m, addr, now, to);
		to->access = add_access(t, access);
		t->access[to->access - 1].set =
			(addr >> MACHINE_LINE_SHIFT) % MICRO_SETS;
	}
	if (m->fetches)
		to->fetch = add_access(t, &m->fetch);
	if (m->drained)
		to->flags |= MICRO_IS_DRAINED;
	m->fetches = m->drained = false;
	for (int i = 0; i < u->results; i++)
		m->writer[u->result[i]] = now + 1;
	trace->uops++;
}

void micro_event(struct micro *m)
{
	m->drained = true;
}

void micro_fetch(struct micro *m, const struct micro_access *access)
{
	m->fetch = *access;
	m->fetches = true;
}
