/* SPDX-License-Identifier: MIT */
/*
 * topology - which cores share which caches, from a few lines of text
 *
 * A line declares a core, a range of cores, a cache or a socket, and what it
 * is part of; '#' begins a comment:
 *
 *	socket 0
 *	socket 1
 *	cache a in socket 0
 *	cache b in socket 1
 *	core 0-3 in cache a
 *	core 4-7 in cache b
 *
 * Each core has private caches of its own. Names are letters, digits, '.', '_'
 * and '-'; the cores' are the numbers from 0 on, in any order. The lines may
 * come in any order, and everything is part of at most one other thing. All
 * cores must be equally deep. A semicolon is as good as a line break.
 */
#ifndef COMDET_BASE_TOPOLOGY_H
#define COMDET_BASE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

enum {
	TOPOLOGY_CORES_MAX = 1024,
	TOPOLOGY_LEVELS_MAX = 4,
	TOPOLOGY_NODES_MAX = 1024, /* caches and sockets */
	TOPOLOGY_NAME_BYTES = 32,
	TOPOLOGY_WORD_BYTES = 64,
};

/*
 * Which cores share which caches. domain[level][core] names the cache of that
 * level that the core uses, by a number below cores. Level 0 is where a core's
 * lines are coherent, its private caches; the levels above are coarser: a last
 * level cache, a socket. The distance of two cores is the first level at which
 * they share a domain, or levels if they share none.
 */
struct topology_shape {
	uint32_t cores;
	uint32_t levels; /* 1 to TOPOLOGY_LEVELS_MAX */
	const uint32_t *domain[TOPOLOGY_LEVELS_MAX];
};

struct topology {
	struct topology_shape shape; /* points into this struct */
	uint32_t domain[TOPOLOGY_LEVELS_MAX][TOPOLOGY_CORES_MAX];
};

enum topology_fault {
	TOPOLOGY_GOOD,
	TOPOLOGY_SYNTAX,
	TOPOLOGY_NAME,    /* unfit, or too long */
	TOPOLOGY_NUMBER,  /* of a core: none, or too high */
	TOPOLOGY_TWICE,   /* declared more than once */
	TOPOLOGY_UNKNOWN, /* part of what is not declared */
	TOPOLOGY_CYCLE,   /* part of itself */
	TOPOLOGY_NO_CORES,
	TOPOLOGY_GAP,    /* a core below the highest is not declared */
	TOPOLOGY_UNEVEN, /* cores at different depths */
	TOPOLOGY_DEEP,   /* more levels than TOPOLOGY_LEVELS_MAX */
	TOPOLOGY_MANY,   /* more things than TOPOLOGY_NODES_MAX */
};

struct topology_error {
	enum topology_fault fault;
	uint32_t line;                  /* 1 is the first; 0: the whole text */
	char word[TOPOLOGY_WORD_BYTES]; /* what it is about, may be empty */
};

/*
 * Parse the @size bytes of @text, which need not end in NUL, into @t.
 * Returns 0, or -EINVAL with *@error set.
 *
 * Context: set-up; static memory, one call at a time.
 */
int topology_parse(struct topology *t, const char *text, size_t size,
		   struct topology_error *error);

/* The fault in words, to follow the name of a file. Any context. */
const char *topology_fault_text(enum topology_fault fault);

/*
 * An order of the cores that takes one from each of the coarsest domains in
 * turn, into @order (shape.cores entries): threads scattered over sockets.
 */
void topology_scatter(const struct topology *t, uint32_t *order);

#endif
