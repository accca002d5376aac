/* SPDX-License-Identifier: MIT */
/*
 * places - the cores of a machine, and how far they are from each other
 */
#include <hwloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "places.h"
#include "analysis/base/util.h"

static hwloc_topology_t load(const char *topology)
{
	hwloc_topology_t t;
	int err = 0;

	if (hwloc_topology_init(&t))
		die("cannot ask for the machine's cores");
	if (topology && !access(topology, F_OK))
		err = hwloc_topology_set_xml(t, topology);
	else if (topology)
		err = hwloc_topology_set_synthetic(t, topology);
	if (err || hwloc_topology_load(t))
		die("%s is neither a file that lstopo wrote (lstopo FILE.xml) "
		    "nor a description such as 'package:2 l3:2 core:4 pu:1'",
		    topology ? safe_text(topology) : "this machine");
	return t;
}

/* How many steps above @x its set of processors holds those of @y as well. */
static uint32_t steps(hwloc_obj_t x, hwloc_obj_t y)
{
	uint32_t n = 0;

	while (x && !hwloc_bitmap_isincluded(y->cpuset, x->cpuset)) {
		hwloc_obj_t up = x->parent;

		/* Several names for the same cores are one step. */
		while (up && hwloc_bitmap_isequal(up->cpuset, x->cpuset))
			up = up->parent;
		x = up;
		n++;
	}
	return n;
}

void places_find(struct places *p, const char *topology)
{
	hwloc_topology_t t = load(topology);
	hwloc_obj_type_t type = HWLOC_OBJ_CORE;
	int cores = hwloc_get_nbobjs_by_type(t, type);

	if (cores <= 0) {
		type = HWLOC_OBJ_PU;
		cores = hwloc_get_nbobjs_by_type(t, type);
	}
	*p = (struct places){ .n = (size_t)cores };
	p->place = xcalloc(p->n, sizeof(*p->place));
	p->distance = xcalloc(p->n * p->n, sizeof(*p->distance));
	for (size_t i = 0; i < p->n; i++) {
		hwloc_obj_t x = hwloc_get_obj_by_type(t, type, (unsigned)i);

		p->place[i] = (struct core_place){
			.core = x->logical_index,
			.cpu = (uint32_t)hwloc_bitmap_first(x->cpuset),
		};
		for (size_t k = 0; k < p->n; k++) {
			uint32_t d = steps(
				x, hwloc_get_obj_by_type(t, type, (unsigned)k));

			p->distance[i * p->n + k] = d;
			if (d > p->farthest)
				p->farthest = d;
		}
	}
	hwloc_topology_destroy(t);
}

void places_release(struct places *p)
{
	free(p->place);
	free(p->distance);
}
