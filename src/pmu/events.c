/* SPDX-License-Identifier: MIT */
/*
 * events - the events that count the loads and the stores of a processor
 *
 * Sources. Models: arch/x86/include/asm/intel-family.h of Linux. Events: the
 * lists that Intel publishes for each (github.com/intel/perfmon), those marked
 * Data_LA. The kernel's tables *_pebs_event_constraints in
 * arch/x86/events/intel/ds.c, and core.c, say which of them it samples with an
 * address and where it needs the auxiliary event. docs/pmu.md lists the
 * sources.
 */
#include <stddef.h>

#include "events.h"

#define LATENCY_ABOVE "MEM_TRANS_RETIRED.LATENCY_ABOVE_THRESHOLD"
#define LOAD_LATENCY  "MEM_TRANS_RETIRED.LOAD_LATENCY"

static const struct pmu_core_events cores[PMU_CORES] = {
	[PMU_CORE_OLD] = {
		.name = "before Nehalem, or Atom",
		.why_not = "its precise samples carry no data address",
	},
	[PMU_CORE_NEHALEM] = {
		.name = "Nehalem, Westmere",
		.slow_loads = { "MEM_INST_RETIRED.LATENCY_ABOVE_THRESHOLD",
				0x100b },
		.why_not = "its precise samples of stores carry no data "
			   "address",
	},
	[PMU_CORE_SANDY_BRIDGE] = {
		.name = "Sandy Bridge, Ivy Bridge",
		.stores = { "MEM_TRANS_RETIRED.PRECISE_STORE", 0x02cd },
		.slow_loads = { LATENCY_ABOVE, 0x01cd },
	},
	[PMU_CORE_HASWELL] = {
		.name = "Haswell, Broadwell",
		.uops = true,
		.loads = { "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0 },
		.slow_loads = { LOAD_LATENCY, 0x01cd },
	},
	[PMU_CORE_SKYLAKE] = {
		.name = "Skylake to Sunny Cove",
		.loads = { "MEM_INST_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_INST_RETIRED.ALL_STORES", 0x82d0 },
		.slow_loads = { LOAD_LATENCY, 0x01cd },
	},
	[PMU_CORE_GOLDEN_COVE] = {
		.name = "Golden Cove",
		.loads = { "MEM_INST_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_INST_RETIRED.ALL_STORES", 0x82d0 },
		.slow_loads = { LOAD_LATENCY, 0x01cd },
		.needs_aux = true,
	},
	[PMU_CORE_REDWOOD_COVE] = {
		.name = "Redwood Cove to Panther Cove",
		.loads = { "MEM_INST_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_INST_RETIRED.ALL_STORES", 0x82d0 },
		.slow_loads = { LOAD_LATENCY, 0x01cd },
	},
	[PMU_CORE_GOLDMONT] = {
		.name = "Goldmont to Tremont",
		.uops = true,
		.loads = { "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0 },
	},
	[PMU_CORE_GRACEMONT] = {
		.name = "Gracemont to Skymont",
		.uops = true,
		.loads = { "MEM_UOPS_RETIRED.ALL_LOADS", 0x81d0 },
		.stores = { "MEM_UOPS_RETIRED.ALL_STORES", 0x82d0 },
		.slow_loads = { "MEM_UOPS_RETIRED.LOAD_LATENCY", 0x05d0 },
		.slow_stores = { "MEM_UOPS_RETIRED.STORE_LATENCY", 0x06d0 },
	},
	[PMU_CORE_DARKMONT] = {
		.name = "Darkmont, Arctic Wolf",
		.uops = true,
		.slow_loads = { "MEM_UOPS_RETIRED.LOAD_LATENCY", 0x05d0 },
		.slow_stores = { "MEM_UOPS_RETIRED.STORE_LATENCY", 0x06d0 },
	},
	[PMU_CORE_AMD] = {
		.name = "AMD with IBS",
	},
	[PMU_CORE_AMD_OLD] = {
		.name = "AMD before IBS",
		.why_not = "IBS came with family 10h",
	},
};

#define ONE(name, model, core)                                                 \
	{                                                                      \
		name, 6, model, model,                                         \
		{                                                              \
			core                                                   \
		}                                                              \
	}
#define RANGE(name, first, last, core)                                         \
	{                                                                      \
		name, 6, first, last,                                          \
		{                                                              \
			core                                                   \
		}                                                              \
	}
#define HYBRID(name, model, core, atom)                                        \
	{                                                                      \
		name, 6, model, model,                                         \
		{                                                              \
			core, atom                                             \
		}                                                              \
	}
#define THREE(name, model, core, atom, low)                                    \
	{                                                                      \
		name, 6, model, model,                                         \
		{                                                              \
			core, atom, low                                        \
		}                                                              \
	}

#define OLD PMU_CORE_OLD
#define NHM PMU_CORE_NEHALEM
#define SNB PMU_CORE_SANDY_BRIDGE
#define HSW PMU_CORE_HASWELL
#define SKL PMU_CORE_SKYLAKE
#define GLC PMU_CORE_GOLDEN_COVE
#define RWC PMU_CORE_REDWOOD_COVE
#define GLM PMU_CORE_GOLDMONT
#define GRT PMU_CORE_GRACEMONT
#define DKT PMU_CORE_DARKMONT

static const struct pmu_model intel[] = {
	RANGE("Pentium Pro to III", 0x00, 0x0b, OLD),
	ONE("Pentium M", 0x0d, OLD),
	ONE("Core", 0x0e, OLD),
	ONE("Merom", 0x0f, OLD),
	ONE("Merom L", 0x16, OLD),
	ONE("Penryn", 0x17, OLD),
	ONE("Dunnington", 0x1d, OLD),
	ONE("Nehalem EP", 0x1a, NHM),
	RANGE("Nehalem", 0x1e, 0x1f, NHM),
	ONE("Nehalem EX", 0x2e, NHM),
	ONE("Westmere", 0x25, NHM),
	ONE("Westmere EP", 0x2c, NHM),
	ONE("Westmere EX", 0x2f, NHM),
	ONE("Sandy Bridge", 0x2a, SNB),
	ONE("Sandy Bridge EP", 0x2d, SNB),
	ONE("Ivy Bridge", 0x3a, SNB),
	ONE("Ivy Bridge EP", 0x3e, SNB),
	ONE("Haswell", 0x3c, HSW),
	ONE("Haswell EP", 0x3f, HSW),
	RANGE("Haswell L", 0x45, 0x46, HSW),
	ONE("Broadwell", 0x3d, HSW),
	ONE("Broadwell G", 0x47, HSW),
	ONE("Broadwell EP", 0x4f, HSW),
	ONE("Broadwell DE", 0x56, HSW),
	ONE("Skylake L", 0x4e, SKL),
	ONE("Skylake", 0x5e, SKL),
	ONE("Skylake X, Cascade Lake", 0x55, SKL),
	ONE("Kaby Lake L", 0x8e, SKL),
	ONE("Kaby Lake", 0x9e, SKL),
	RANGE("Comet Lake", 0xa5, 0xa6, SKL),
	ONE("Cannon Lake", 0x66, SKL),
	ONE("Ice Lake X", 0x6a, SKL),
	ONE("Ice Lake D", 0x6c, SKL),
	RANGE("Ice Lake", 0x7d, 0x7e, SKL),
	ONE("Ice Lake NNPI", 0x9d, SKL),
	RANGE("Tiger Lake", 0x8c, 0x8d, SKL),
	ONE("Rocket Lake", 0xa7, SKL),
	ONE("Sapphire Rapids", 0x8f, GLC),
	ONE("Emerald Rapids", 0xcf, GLC),
	RANGE("Granite Rapids", 0xad, 0xae, RWC),
	HYBRID("Alder Lake", 0x97, GLC, GRT),
	HYBRID("Alder Lake L", 0x9a, GLC, GRT),
	HYBRID("Raptor Lake", 0xb7, GLC, GRT),
	HYBRID("Raptor Lake P", 0xba, GLC, GRT),
	HYBRID("Raptor Lake S", 0xbf, GLC, GRT),
	HYBRID("Meteor Lake", 0xac, RWC, GRT),
	HYBRID("Meteor Lake L", 0xaa, RWC, GRT),
	HYBRID("Arrow Lake U", 0xb5, RWC, GRT),
	THREE("Arrow Lake H", 0xc5, RWC, GRT, GRT),
	HYBRID("Arrow Lake", 0xc6, RWC, GRT),
	HYBRID("Lunar Lake", 0xbd, RWC, GRT),
	HYBRID("Panther Lake", 0xcc, RWC, DKT),
	HYBRID("Wildcat Lake", 0xd5, RWC, DKT),
	ONE("Bartlett Lake", 0xd7, GLC),
	RANGE("Bonnell", 0x1c, 0x1c, OLD),
	RANGE("Bonnell, Saltwell", 0x26, 0x27, OLD),
	RANGE("Saltwell", 0x35, 0x36, OLD),
	ONE("Silvermont", 0x37, OLD),
	ONE("Silvermont MID", 0x4a, OLD),
	RANGE("Silvermont D, Airmont", 0x4c, 0x4d, OLD),
	ONE("Airmont MID", 0x5a, OLD),
	ONE("Airmont NP", 0x75, OLD),
	ONE("Goldmont", 0x5c, GLM),
	ONE("Goldmont D", 0x5f, GLM),
	ONE("Goldmont Plus", 0x7a, GLM),
	ONE("Tremont D", 0x86, GLM),
	ONE("Tremont", 0x96, GLM),
	ONE("Tremont L", 0x9c, GLM),
	ONE("Gracemont", 0xbe, GRT),
	ONE("Sierra Forest", 0xaf, GRT),
	ONE("Grand Ridge", 0xb6, GRT),
	ONE("Clearwater Forest", 0xdd, DKT),
	ONE("Knights Landing", 0x57, OLD),
	ONE("Knights Mill", 0x85, OLD),
	{ "Pentium 4", 15, 0, 255, { OLD } },
	{ "Nova Lake", 18, 0x01, 0x01, { RWC, DKT } },
	{ "Nova Lake L", 18, 0x03, 0x03, { RWC, DKT } },
	{ "Diamond Rapids", 19, 0x01, 0x01, { RWC } },
};

#define AMD(name, family, first, last)                                         \
	{                                                                      \
		name, family, first, last,                                     \
		{                                                              \
			PMU_CORE_AMD                                           \
		}                                                              \
	}

static const struct pmu_model amd[] = {
	{ "K7", 0x06, 0, 255, { PMU_CORE_AMD_OLD } },
	{ "K8", 0x0f, 0, 255, { PMU_CORE_AMD_OLD } },
	AMD("K10", 0x10, 0, 255),
	{ "Turion X2 Ultra", 0x11, 0, 255, { PMU_CORE_AMD_OLD } },
	AMD("Llano", 0x12, 0, 255),
	AMD("Bobcat", 0x14, 0, 255),
	AMD("Bulldozer", 0x15, 0, 255),
	AMD("Jaguar", 0x16, 0, 255),
	AMD("Zen", 0x17, 0x00, 0x2f),
	AMD("Zen 2", 0x17, 0x30, 0xff),
	AMD("Hygon Dhyana", 0x18, 0, 255),
	AMD("Zen 3", 0x19, 0x00, 0x0f),
	AMD("Zen 4", 0x19, 0x10, 0x1f),
	AMD("Zen 3", 0x19, 0x20, 0x5f),
	AMD("Zen 4", 0x19, 0x60, 0xff),
	AMD("Zen 5", 0x1a, 0x00, 0x4f),
	AMD("Zen 6", 0x1a, 0x50, 0x5f),
	AMD("Zen 5", 0x1a, 0x60, 0x7f),
	AMD("Zen 6", 0x1a, 0x80, 0xaf),
	AMD("Zen 5 or later", 0x1a, 0xb0, 0xbf),
	AMD("Zen 6", 0x1a, 0xc0, 0xef),
	AMD("Zen 5 or later", 0x1a, 0xf0, 0xff),
};

static bool fits(const struct pmu_model *m, uint32_t family, uint32_t model)
{
	return m->family == family && m->first_model <= model &&
	       model <= m->last_model;
}

const struct pmu_model *pmu_model_at(enum pmu_vendor vendor, uint32_t n)
{
	if (vendor == PMU_VENDOR_INTEL)
		return n < sizeof(intel) / sizeof(intel[0]) ? &intel[n] : NULL;
	if (vendor == PMU_VENDOR_AMD)
		return n < sizeof(amd) / sizeof(amd[0]) ? &amd[n] : NULL;
	return NULL;
}

const struct pmu_model *pmu_model_find(enum pmu_vendor vendor, uint32_t family,
				       uint32_t model)
{
	const struct pmu_model *m;

	for (uint32_t i = 0; (m = pmu_model_at(vendor, i)); i++)
		if (fits(m, family, model))
			return m;
	return NULL;
}

const struct pmu_core_events *pmu_core_events(enum pmu_core core)
{
	return &cores[core < PMU_CORES ? core : PMU_CORE_NONE];
}

bool pmu_core_is_usable(const struct pmu_core_events *e)
{
	return (e->loads.config || e->slow_loads.config) &&
	       (e->stores.config || e->slow_stores.config);
}
