/* SPDX-License-Identifier: MIT */
/*
 * place - the core that a thread is put on, and the cache above it
 */
#include <errno.h>
#include <unistd.h>

#include "place.h"
#include "preload/common/topology_file.h"
#include "preload/core/config.h"

static struct topology topology;
static uint32_t cores;
static const uint32_t *domain_of; /* by core; NULL: all cores share one */

int instr_place_read(char *const *env, char *error, size_t size)
{
	const char *path = config_get(env, "COMDET_TOPOLOGY");

	cores = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
	domain_of = NULL;
	if (!path || !*path)
		return 0;
	if (topology_file_read(&topology, path, error, size))
		return -EINVAL;
	cores = topology.shape.cores;
	if (topology.shape.levels > 1)
		domain_of = topology.shape.domain[1];
	return 0;
}

struct cpu_place instr_place(uint32_t thread)
{
	uint32_t core = cores ? thread % cores : 0;

	return (struct cpu_place){
		.thread = thread,
		.core = core,
		.domain = domain_of ? domain_of[core] : 0,
	};
}
