/* SPDX-License-Identifier: MIT */
/*
 * ports - which ports of a core are taken in which cycle
 */
#include <stdbool.h>
#include <string.h>

#include "ports.h"
#include "analysis/base/util.h"

struct ports *ports_new(void)
{
	return xcalloc(1, sizeof(struct ports));
}

/*
 * Find a port in @allowed for one more, moving others (an augmenting path of
 * the matching); @tried are ports that were looked at.
 */
static bool place(struct ports_cycle *c, uint32_t allowed, uint32_t *tried)
{
	uint32_t open = allowed & ~c->taken & ~*tried;

	if (open) {
		int port = __builtin_ctz(open);

		c->taken |= (uint16_t)(1u << port);
		c->owner[port] = (uint16_t)allowed;
		return true;
	}
	for (int port = 0; port < MACHINE_PORTS; port++) {
		uint32_t bit = 1u << port;

		if (!(allowed & bit) || *tried & bit)
			continue;
		*tried |= bit;
		if (place(c, c->owner[port], tried)) {
			c->owner[port] = (uint16_t)allowed;
			return true;
		}
	}
	return false;
}

static bool take(struct ports *p, uint32_t allowed, uint64_t t)
{
	struct ports_cycle *c = &p->cycle[t % PORTS_CYCLES];
	uint32_t tried = 0;

	if (c->after != t + 1) {
		c->after = t + 1;
		c->taken = 0;
	}
	if (!(c->taken & allowed) || (allowed & ~c->taken))
		return place(c, allowed, &tried);
	/* A port that only this kind uses is the frequent case. */
	if (!(allowed & (allowed - 1)) &&
	    c->owner[__builtin_ctz(allowed)] == allowed)
		return false;
	return place(c, allowed, &tried);
}

uint64_t ports_reserve(struct ports *p, const struct machine_uop *u, uint64_t t,
		       uint64_t *unit)
{
	*unit = 0;
	if (u->busy && p->divider > t) {
		*unit = p->divider - t;
		t = p->divider;
	}
	while (!take(p, u->ports, t))
		t++;
	if (u->busy)
		p->divider = t + u->busy;
	return t;
}
