/* SPDX-License-Identifier: MIT */
/*
 * cores - the cores of the emulated machine, and the threads on them
 */
#include <unistd.h>

#include "cores.h"
#include "state.h"
#include "preload/common/topology_file.h"

int emu_cores_read_topology(char *error, size_t size)
{
	return topology_file_read(&emu.topology, emu.config.topology, error,
				  size);
}

/* The number of the shared cache above @core. */
static uint32_t domain_of(uint32_t core)
{
	const struct topology_shape *shape = &emu.topology.shape;

	if (!emu.config.topology || shape->levels < 2)
		return 0;
	return shape->domain[1][core % shape->cores];
}

static void count_domains(void)
{
	emu.domains = 1;
	for (uint32_t i = 0; i < emu.cores; i++)
		if (domain_of(i) >= emu.domains)
			emu.domains = domain_of(i) + 1;
	for (uint32_t i = 0; i < REUSE_EXACT_DOMAINS_MAX; i++)
		atomic_store(&emu.domain_ticks[i], 0);
}

void emu_cores_put(struct vcpu *v)
{
	v->core = emu.core_order[v->record->id % emu.cores];
	v->domain = domain_of(v->core);
}

/* Put the cores in the order in which threads get them. */
static void choose_cores(void)
{
	if (!emu.config.topology) {
		emu.cores = sysconf(_SC_NPROCESSORS_CONF);
		for (uint32_t i = 0; i < emu.cores; i++)
			emu.core_order[i] = i;
		return;
	}
	emu.cores = emu.topology.shape.cores;
	for (uint32_t i = 0; i < emu.cores; i++)
		emu.core_order[i] = i;
	if (emu.config.scatter)
		topology_scatter(&emu.topology, emu.core_order);
}

void emu_cores_init(void)
{
	choose_cores();
	count_domains();
}
