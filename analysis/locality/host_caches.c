/* SPDX-License-Identifier: MIT */
/*
 * host_caches - the data caches of this machine, from the first core outwards
 */
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "host_caches.h"

static void take(struct host_cache *c, const hwloc_obj_t object,
		 hwloc_topology_t t)
{
	const struct hwloc_cache_attr_s *a = &object->attr->cache;
	int cores = hwloc_get_nbobjs_inside_cpuset_by_type(t, object->cpuset,
							   HWLOC_OBJ_CORE);

	memset(c, 0, sizeof(*c));
	snprintf(c->name, sizeof(c->name), "L%u%s", a->depth,
		 a->type == HWLOC_OBJ_CACHE_DATA ? "d" : "");
	c->bytes = a->size;
	c->line_bytes = a->linesize ? a->linesize : 64;
	c->cores = cores > 0 ? (uint32_t)cores : 1;
	c->shared = c->cores > 1;
	c->sets = 1;
	/* In hwloc 0 means unknown and -1 fully associative. */
	if (a->associativity > 0) {
		c->ways = (uint32_t)a->associativity;
		c->sets = c->bytes / c->line_bytes / c->ways;
	}
	if (a->associativity < 0)
		c->ways = (uint32_t)(c->bytes / c->line_bytes);
}

size_t host_caches(struct host_cache cache[HOST_CACHES_MAX])
{
	hwloc_topology_t t;
	hwloc_obj_t object;
	size_t n = 0;

	if (hwloc_topology_init(&t))
		return 0;
	if (hwloc_topology_load(t)) {
		hwloc_topology_destroy(t);
		return 0;
	}
	object = hwloc_get_obj_by_type(t, HWLOC_OBJ_PU, 0);
	for (; object && n < HOST_CACHES_MAX; object = object->parent)
		if (hwloc_obj_type_is_dcache(object->type) &&
		    object->attr->cache.size)
			take(&cache[n++], object, t);
	hwloc_topology_destroy(t);
	return n;
}
