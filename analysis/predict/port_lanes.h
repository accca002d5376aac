/* SPDX-License-Identifier: MIT */
/*
 * port_lanes - which ports of a core are taken in which cycle, in a few bits
 *
 * As ports.h, with the same answers, for machines with few kinds of ports.
 * Micro-operations can share a cycle if, and only if, no set of ports is all
 * that more of them may use than it has ports (Hall's theorem). It is enough to
 * look at the sets of the classes and at unions of those that overlap. A cycle
 * counts in a lane of a word for each such set how many it has, so that one
 * too many sets the lane's highest bit. One addition tries them all.
 */
#ifndef COMDET_ANALYSIS_PREDICT_PORT_LANES_H
#define COMDET_ANALYSIS_PREDICT_PORT_LANES_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/machine.h"

struct port_cycle {
	uint64_t number; /* of the cycle, + 1 */
	uint64_t lanes;
};

struct port_class {
	uint64_t add;      /* to the lanes, for one more */
	uint64_t busy;     /* cycles that it has the divider */
	uint64_t from, to; /* cycles without room for one more */
};

struct port_lanes {
	struct port_class class[UOP_CLASSES];
	uint8_t first[UOP_CLASSES]; /* class with the same ports */
	uint64_t empty, too_many;   /* of a cycle; the highest bits */
	uint64_t divider;           /* the cycle from which it is free */
	uint64_t mask;              /* a power of two of cycles, less one */
	struct port_cycle *cycle;
};

/*
 * For @m, as if nothing had been reserved. All bytes of @p are 0, or it is of
 * another machine. Returns false if the word has too few bits.
 */
bool port_lanes_init(struct port_lanes *p, const struct machine *m);
void port_lanes_release(struct port_lanes *p);

/* Make room for the cycle @t, whose place has a later one than @dispatch. */
struct port_cycle *port_lanes_widen(struct port_lanes *p, uint64_t dispatch,
				    uint64_t t);

/* Whether the place has another cycle is as good as random: no branch. */
static inline bool port_lanes_take(struct port_lanes *p, uint64_t add,
				   uint64_t dispatch, uint64_t t)
{
	struct port_cycle *c = &p->cycle[t & p->mask];
	uint64_t same, lanes;

	if (__builtin_expect(c->number > dispatch + 1 && c->number != t + 1, 0))
		c = port_lanes_widen(p, dispatch, t);
	same = -(uint64_t)(c->number == t + 1);
	lanes = p->empty + (same & (c->lanes - p->empty)) + add;
	c->number = t + 1;
	if (lanes & p->too_many)
		return false;
	c->lanes = lanes;
	return true;
}

/* The same in the first cycle behind @t that has room; returns that. */
uint64_t port_lanes_search(struct port_lanes *p, enum uop_class class,
			   uint64_t dispatch, uint64_t t);

/* As ports_reserve. */
static inline uint64_t port_lanes_reserve(struct port_lanes *p,
					  enum uop_class class,
					  uint64_t dispatch, uint64_t t,
					  uint64_t *unit)
{
	const struct port_class *c = &p->class[class];

	*unit = 0;
	if (__builtin_expect(c->busy && p->divider > t, 0)) {
		*unit = p->divider - t;
		t = p->divider;
	}
	if (!port_lanes_take(p, c->add, dispatch, t))
		t = port_lanes_search(p, class, dispatch, t);
	if (__builtin_expect(c->busy != 0, 0))
		p->divider = t + c->busy;
	return t;
}

#endif
