/* SPDX-License-Identifier: MIT */
/*
 * places - the cores of a machine, and how far they are from each other
 */
#ifndef COMDET_ANALYSIS_PLACEMENT_PLACES_H
#define COMDET_ANALYSIS_PLACEMENT_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct core_place {
	uint32_t core; /* hwloc's logical number */
	uint32_t cpu;  /* the kernel's number of its first processor */
};

/*
 * The distance of two cores is how many of these they have not in common: a
 * second and third level cache, a memory node, a package, the machine, of those
 * that divide the machine. Cores that share the nearest have distance 1.
 */
struct places {
	struct core_place *place;
	size_t n;
	uint32_t *distance; /* n * n */
	uint32_t farthest;
};

/*
 * The cores of this machine, or of @topology: a file that lstopo wrote (XML),
 * or a description such as "package:2 l3:2 core:4 pu:1". Dies if it cannot be
 * read.
 */
void places_find(struct places *p, const char *topology);
void places_release(struct places *p);

#endif
