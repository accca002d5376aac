/* SPDX-License-Identifier: MIT */
/*
 * topology - which cores share which caches, from a few lines of text
 *
 * A line declares a core, a range of cores, a cache or a socket, and the thing
 * that it is part of; '#' begins a comment:
 *
 *	socket 0
 *	socket 1
 *	cache a in socket 0
 *	cache b in socket 1
 *	core 0-3 in cache a
 *	core 4-7 in cache b
 *
 * Each core has private caches of its own. Names consist of letters, digits,
 * '.', '_' and '-'. Cores are numbered from 0 on. Lines may come in any order,
 * and a thing is part of at most one other. All cores must be equally deep. A
 * semicolon separates lines too.
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
 * domain[level][core] is the number, below cores, of the cache that the core
 * uses at that level. Level 0 is the core's private caches, which are kept
 * coherent. Higher levels are coarser: a last level cache, a socket. The
 * distance of two cores is the first level at which they share a domain, or
 * levels if they share none.
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
	TOPOLOGY_NAME,    /* a name with other characters, or too long */
	TOPOLOGY_NUMBER,  /* a core without a number, or with one too high */
	TOPOLOGY_TWICE,   /* declared more than once */
	TOPOLOGY_UNKNOWN, /* part of a thing that is not declared */
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
	char word[TOPOLOGY_WORD_BYTES]; /* the word at fault, may be empty */
};

/*
 * Parse the @size bytes of @text, which need not end in NUL, into @t.
 * Returns 0, or -EINVAL with *@error set.
 *
 * Context: set-up; static memory, one call at a time.
 */
int topology_parse(struct topology *t, const char *text, size_t size,
		   struct topology_error *error);

/* The fault in words, to print after the name of a file. Context: any. */
const char *topology_fault_text(enum topology_fault fault);

/*
 * Put the cores into @order (shape.cores entries), one from each of the
 * coarsest domains in turn, so that threads in that order are scattered over
 * sockets.
 */
void topology_scatter(const struct topology *t, uint32_t *order);

#endif
