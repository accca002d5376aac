/* SPDX-License-Identifier: MIT */
/*
 * port_lanes - which ports of a core are taken in which cycle, in a few bits
 */
#include <stdlib.h>
#include <string.h>

#include "port_lanes.h"
#include "analysis/base/util.h"
#include "analysis/model/ports.h"

enum {
	FIRST_CYCLES = 1 << 10,
	BITS = 64,
	LANES_MAX = BITS / 2, /* a lane has two bits or more */
};

static bool has(const uint32_t *set, int n, uint32_t ports)
{
	for (int i = 0; i < n; i++)
		if (set[i] == ports)
			return true;
	return false;
}

/* The sets of ports that have a lane; returns how many, or -1: too many. */
static int find_sets(const struct machine *m, uint32_t set[LANES_MAX])
{
	int n = 0;

	for (int c = 0; c < UOP_CLASSES; c++) {
		if (has(set, n, m->uop[c].ports))
			continue;
		if (n == LANES_MAX)
			return -1;
		set[n++] = m->uop[c].ports;
	}
	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++) {
			if (!(set[i] & set[k]) || has(set, n, set[i] | set[k]))
				continue;
			if (n == LANES_MAX)
				return -1;
			set[n++] = set[i] | set[k];
		}
	return n;
}

/* Of a lane that counts up to @ports, without its highest bit. */
static int bits_of(int ports)
{
	return 32 - __builtin_clz((unsigned int)ports);
}

static void start(struct port_lanes *p, const struct machine *m)
{
	struct port_cycle *cycle = p->cycle;
	uint64_t mask = p->mask;

	memset(p, 0, sizeof(*p));
	p->cycle = cycle;
	p->mask = mask;
	if (!p->cycle) {
		p->mask = FIRST_CYCLES - 1;
		p->cycle = xcalloc(FIRST_CYCLES, sizeof(*p->cycle));
	}
	memset(p->cycle, 0, (p->mask + 1) * sizeof(*p->cycle));
	for (int c = 0; c < UOP_CLASSES; c++) {
		while (m->uop[p->first[c]].ports != m->uop[c].ports)
			p->first[c]++;
		p->class[c].busy = m->uop[c].busy;
	}
}

bool port_lanes_init(struct port_lanes *p, const struct machine *m)
{
	uint32_t set[LANES_MAX];
	int n = find_sets(m, set), at = 0;

	start(p, m);
	for (int i = 0; i < n; i++) {
		int ports = __builtin_popcount(set[i]), bits = bits_of(ports);

		if (at + bits + 1 > BITS)
			return false;
		p->empty |= ((UINT64_C(1) << bits) - 1 - (uint64_t)ports) << at;
		p->too_many |= UINT64_C(1) << (at + bits);
		for (int c = 0; c < UOP_CLASSES; c++)
			if (!(m->uop[c].ports & ~set[i]))
				p->class[c].add |= UINT64_C(1) << at;
		at += bits + 1;
	}
	return n >= 0;
}

void port_lanes_release(struct port_lanes *p)
{
	free(p->cycle);
}

/* Make room for twice the cycles. */
static void more_cycles(struct port_lanes *p)
{
	struct port_cycle *old = p->cycle;
	uint64_t n = p->mask + 1;

	p->mask = 2 * n - 1;
	p->cycle = xcalloc(2 * n, sizeof(*p->cycle));
	for (uint64_t i = 0; i < n; i++)
		if (old[i].number)
			p->cycle[(old[i].number - 1) & p->mask] = old[i];
	free(old);
}

struct port_cycle *port_lanes_widen(struct port_lanes *p, uint64_t dispatch,
				    uint64_t t)
{
	struct port_cycle *c = &p->cycle[t & p->mask];

	while (c->number > dispatch + 1 && p->mask < PORTS_CYCLES_MAX - 1) {
		more_cycles(p);
		c = &p->cycle[t & p->mask];
	}
	return c;
}

uint64_t port_lanes_search(struct port_lanes *p, enum uop_class class,
			   uint64_t dispatch, uint64_t t)
{
	struct port_class *kind = &p->class[p->first[class]];
	uint64_t add = p->class[class].add, first;

	if (t >= kind->from && t < kind->to)
		t = kind->to;
	first = t;
	while (!port_lanes_take(p, add, dispatch, t))
		t++;
	if (first != kind->to)
		kind->from = first;
	kind->to = t;
	return t;
}
