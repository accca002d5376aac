/* SPDX-License-Identifier: MIT */
/*
 * ports - which ports of a core are taken in which cycle
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "ports.h"
#include "analysis/base/util.h"

enum {
	FIRST_CYCLES = 1 << 10,
};

/* Micro-operations that may use the same ports. */
struct kind {
	uint32_t allowed;  /* a bit for each port */
	uint64_t from, to; /* cycles without room for one more */
};

/*
 * A cycle is a word, its number + 1 and the ports that are taken, and a byte
 * for each port, the kind of the micro-operation there. A cycle without room
 * for a kind never gets any: what else it takes can only be moved.
 */
struct ports {
	const struct machine *machine;
	uint64_t divider; /* the cycle from which it is free */
	struct kind kind[UOP_CLASSES];
	uint8_t kind_of[UOP_CLASSES];
	uint32_t words;  /* of a cycle */
	uint64_t cycles; /* a power of two: few, so that they stay in caches */
	uint64_t *cycle;
};

struct ports *ports_new(const struct machine *m)
{
	struct ports *p = xcalloc(1, sizeof(*p));
	uint32_t used = 0;
	uint8_t kinds = 0;

	p->machine = m;
	for (int class = 0; class < UOP_CLASSES; class ++) {
		uint8_t k = 0;

		while (k < kinds && p->kind[k].allowed != m->uop[class].ports)
			k++;
		if (k == kinds)
			p->kind[kinds++].allowed = m->uop[class].ports;
		p->kind_of[class] = k;
		used |= m->uop[class].ports;
	}
	p->words = used >> sizeof(uint64_t) ? 3 : 2;
	p->cycles = FIRST_CYCLES;
	p->cycle = xcalloc(p->cycles * p->words, sizeof(*p->cycle));
	return p;
}

void ports_free(struct ports *p)
{
	free(p->cycle);
	free(p);
}

static uint8_t *owners(uint64_t *cycle)
{
	return (uint8_t *)(cycle + 1);
}

/*
 * Find a port for one more of the kind @k, moving others (an augmenting path of
 * the matching); @tried are ports that were looked at.
 */
static bool place(struct ports *p, uint64_t *cycle, uint8_t k, uint32_t *tried)
{
	uint32_t allowed = p->kind[k].allowed;
	uint32_t open = allowed & ~(uint16_t)*cycle & ~*tried;

	if (open) {
		int port = __builtin_ctz(open);

		*cycle |= UINT64_C(1) << port;
		owners(cycle)[port] = k;
		return true;
	}
	for (uint32_t left = allowed; left; left &= left - 1) {
		int port = __builtin_ctz(left);

		if (*tried >> port & 1 || owners(cycle)[port] == k)
			continue;
		*tried |= 1u << port;
		if (place(p, cycle, owners(cycle)[port], tried)) {
			owners(cycle)[port] = k;
			return true;
		}
	}
	return false;
}

static inline uint64_t *cycle_at(struct ports *p, uint64_t t)
{
	return &p->cycle[(t & (p->cycles - 1)) * p->words];
}

/* Make room for twice the cycles. */
static void more_cycles(struct ports *p)
{
	uint64_t *old = p->cycle, n = p->cycles;

	p->cycles = 2 * n;
	p->cycle = xcalloc(p->cycles * p->words, sizeof(*p->cycle));
	for (uint64_t i = 0; i < n; i++) {
		const uint64_t *from = old + i * p->words;

		if (*from)
			memcpy(cycle_at(p, (*from >> MACHINE_PORTS) - 1), from,
			       p->words * sizeof(*from));
	}
	free(old);
}

/* Begin the cycle @t; its place has another one. */
static uint64_t *begin_cycle(struct ports *p, uint64_t dispatch, uint64_t t)
{
	uint64_t *cycle = cycle_at(p, t);

	while (*cycle >> MACHINE_PORTS > dispatch + 1 &&
	       p->cycles < PORTS_CYCLES_MAX) {
		more_cycles(p);
		cycle = cycle_at(p, t);
	}
	*cycle = (t + 1) << MACHINE_PORTS;
	return cycle;
}

static inline bool take(struct ports *p, uint8_t k, uint64_t dispatch,
			uint64_t t)
{
	uint64_t *cycle = cycle_at(p, t);
	uint32_t allowed = p->kind[k].allowed, open, tried = 0;

	if (*cycle >> MACHINE_PORTS != t + 1)
		cycle = begin_cycle(p, dispatch, t);
	open = allowed & ~(uint16_t)*cycle;
	if (!open)
		return place(p, cycle, k, &tried);
	*cycle |= open & -open;
	owners(cycle)[__builtin_ctz(open)] = k;
	return true;
}

/* The kind @k found no room from @from to @to. */
static void remember(struct kind *k, uint64_t from, uint64_t to)
{
	if (from != k->to)
		k->from = from;
	k->to = to;
}

uint64_t ports_reserve(struct ports *p, enum uop_class class, uint64_t dispatch,
		       uint64_t t, uint64_t *unit)
{
	const struct machine_uop *u = &p->machine->uop[class];
	uint8_t k = p->kind_of[class];
	struct kind *kind = &p->kind[k];
	uint64_t first;

	*unit = 0;
	if (u->busy && p->divider > t) {
		*unit = p->divider - t;
		t = p->divider;
	}
	if (t >= kind->from && t < kind->to)
		t = kind->to;
	first = t;
	while (!take(p, k, dispatch, t))
		t++;
	if (t > first)
		remember(kind, first, t);
	if (u->busy)
		p->divider = t + u->busy;
	return t;
}
