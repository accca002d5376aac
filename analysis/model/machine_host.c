/* SPDX-License-Identifier: MIT */
/*
 * machine_host - this machine as a machine file
 */
#include <cpuid.h>
#include <hwloc.h>
#include <stdio.h>
#include <string.h>

#include "machine_host.h"
#include "analysis/base/util.h"
#include "src/pmu/machine.h"

enum {
	CPUID_FREQUENCY = 0x16, /* EAX: base frequency in MHz */
	LINE_BYTES = 1 << MACHINE_LINE_SHIFT,
};

static double frequency_ghz(void)
{
	unsigned int a, b, c, d;
	char line[256];
	double mhz = 0;
	FILE *f;

	if (__get_cpuid(CPUID_FREQUENCY, &a, &b, &c, &d) && (a & 0xffff))
		return (a & 0xffff) / 1000.0;
	f = fopen("/proc/cpuinfo", "re");
	while (f && mhz <= 0 && fgets(line, sizeof(line), f))
		sscanf(line, "cpu MHz : %lf", &mhz);
	if (f)
		fclose(f);
	return mhz / 1000;
}

/*
 * Processors have caches whose number of sets is no power of two. Keep the ways
 * and take the nearest size below that has one.
 */
static void take_cache(struct machine_cache *c, const char *name,
		       hwloc_obj_t cache)
{
	const struct hwloc_cache_attr_s *a;
	uint64_t sets, power = 1;

	if (!cache)
		return;
	a = &cache->attr->cache;
	if (a->linesize != LINE_BYTES || a->associativity <= 0 || !a->size)
		return;
	c->ways = (uint32_t)a->associativity;
	sets = a->size / c->ways / LINE_BYTES;
	while (power * 2 <= sets)
		power *= 2;
	c->size = power * c->ways * LINE_BYTES;
	if (c->size != a->size)
		warn("machine: this machine's %s has %llu bytes in %llu sets; "
		     "%llu bytes stand for it, because simulated caches have a "
		     "power of two of sets",
		     name, (unsigned long long)a->size,
		     (unsigned long long)sets, (unsigned long long)c->size);
}

static void take_topology(struct machine *m)
{
	hwloc_topology_t t;
	hwloc_obj_t core;
	int cores;

	if (hwloc_topology_init(&t))
		return;
	hwloc_topology_set_icache_types_filter(t, HWLOC_TYPE_FILTER_KEEP_ALL);
	if (!hwloc_topology_load(t)) {
		cores = hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_CORE);
		if (cores > 0)
			m->cores = cores < MACHINE_CORES ? (uint32_t)cores
							 : MACHINE_CORES;
		core = hwloc_get_obj_by_type(t, HWLOC_OBJ_CORE, 0);
#define TAKE(field, name, type)                                                \
	take_cache(&m->field, name,                                            \
		   core ? hwloc_get_ancestor_obj_by_type(t, type, core)        \
			: NULL)
		TAKE(l1d, "L1D", HWLOC_OBJ_L1CACHE);
		TAKE(l1i, "L1I", HWLOC_OBJ_L1ICACHE);
		TAKE(l2, "L2", HWLOC_OBJ_L2CACHE);
		TAKE(llc, "L3", HWLOC_OBJ_L3CACHE);
#undef TAKE
	}
	hwloc_topology_destroy(t);
}

const char *machine_like(const struct pmu_model *known)
{
	switch (known ? known->core[0] : PMU_CORE_NONE) {
	case PMU_CORE_HASWELL:
	case PMU_CORE_SKYLAKE:
		return "skylake";
	case PMU_CORE_GOLDEN_COVE:
	case PMU_CORE_REDWOOD_COVE:
		return "golden-cove";
	case PMU_CORE_AMD: /* of families before 0x17 too, none like it */
		if (known->family < 0x17)
			return "golden-c3";
		/* Zen 3 is 0x19 too, and has Zen 4's dividers. */
		if (known->family > 0x19)
			return "zen5";
		return known->family < 0x19 ? "zen2" : "zen4";
	default:
		return "golden-c3";
	}
}

void machine_host(struct machine *m)
{
	char error[MACHINE_ERROR_BYTES];
	double ghz = frequency_ghz();
	struct pmu_machine p;

	pmu_machine_look(&p, &perf_kernel_linux);
	if (machine_read(m, machine_like(p.known), error))
		die("machine: %s", error);
	m->zero_idioms = true;
	m->in_turn = true;
	if (ghz > 0)
		m->ghz = ghz;
	take_topology(m);
	if (m->llc.size < m->l2.size)
		m->llc.size = m->l2.size * m->llc.ways / m->l2.ways;
	snprintf(m->name, sizeof(m->name), "host");
}
