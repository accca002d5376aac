/* SPDX-License-Identifier: MIT */
/*
 * pmu_event_list - the load and store events that must come out, by processor
 *
 * Written by hand from the sources named in the last column: L libpfm4 4.13,
 * P the lists at github.com/intel/perfmon (as in Linux, tools/perf/pmu-events/
 * arch/x86), K what Linux samples with a data address (the tables
 * *_pebs_event_constraints in arch/x86/events/intel/ds.c), A AMD's Processor
 * Programming References. A PMU of libpfm4 that is not here fails the test.
 */
#ifndef COMDET_TESTS_SRC_PMU_PMU_EVENT_LIST_H
#define COMDET_TESTS_SRC_PMU_PMU_EVENT_LIST_H

#include "src/pmu/events.h"

struct listed {
	const char *pfm; /* its name in libpfm4, NULL: not there */
	enum pmu_vendor vendor;
	uint32_t family, model;
	enum {
		LISTED_PEBS,
		LISTED_IBS,
		LISTED_NONE
	} source;
	uint32_t kind; /* of cores, in one processor */
	uint32_t loads, stores, slow_loads, slow_stores; /* 0: none */
	bool aux;
	const char *from;
};

#define INTEL PMU_VENDOR_INTEL, 6
#define AMD   PMU_VENDOR_AMD
#define NONE  LISTED_NONE, 0, 0, 0, 0, 0, false
#define SLOW  LISTED_NONE, 0, 0, 0, 0x100b, 0, false
#define SNB   LISTED_PEBS, 0, 0, 0x2cd, 0x1cd, 0, false
#define CORE  LISTED_PEBS, 0, 0x81d0, 0x82d0, 0x1cd, 0, false
#define GLC   LISTED_PEBS, 0, 0x81d0, 0x82d0, 0x1cd, 0, true
#define ATOM  LISTED_PEBS, 0, 0x81d0, 0x82d0, 0, 0, false
#define SMALL LISTED_PEBS, 0, 0x81d0, 0x82d0, 0x5d0, 0x6d0, false
#define LATE  LISTED_PEBS, 0, 0, 0, 0x5d0, 0x6d0, false
#define L(n)  LISTED_PEBS, n, 0, 0, 0x5d0, 0x6d0, false
#define E(n)  LISTED_PEBS, n, 0x81d0, 0x82d0, 0x5d0, 0x6d0, false
#define IBS   LISTED_IBS, 0, 0, 0, 0, 0, false

static const struct listed listed[] = {
	{ "netburst", PMU_VENDOR_INTEL, 15, 2, NONE, "L" },
	{ "netburst_p", PMU_VENDOR_INTEL, 15, 3, NONE, "L" },
	{ "core", INTEL, 0x0f, NONE, "L K" },
	{ "atom", INTEL, 0x1c, NONE, "L K" },
	{ "nhm", INTEL, 0x1a, SLOW, "L K" },
	{ "nhm_ex", INTEL, 0x2e, SLOW, "L K" },
	{ "wsm", INTEL, 0x25, SLOW, "L K" },
	{ "wsm_dp", INTEL, 0x2c, SLOW, "L K" },
	{ "snb", INTEL, 0x2a, SNB, "L K" },
	{ "snb_ep", INTEL, 0x2d, SNB, "L K" },
	{ "ivb", INTEL, 0x3a, SNB, "L K" },
	{ "ivb_ep", INTEL, 0x3e, SNB, "L K" },
	{ "hsw", INTEL, 0x3c, CORE, "L K" },
	{ "hsw_ep", INTEL, 0x3f, CORE, "L K" },
	{ NULL, INTEL, 0x45, CORE, "P K" },
	{ "bdw", INTEL, 0x3d, CORE, "L K" },
	{ "bdw_ep", INTEL, 0x4f, CORE, "L K" },
	{ NULL, INTEL, 0x56, CORE, "P K" },
	{ "skl", INTEL, 0x5e, CORE, "L K" },
	{ "skx", INTEL, 0x55, CORE, "L K" },
	{ "clx", INTEL, 0x55, CORE, "L K" },
	{ NULL, INTEL, 0x9e, CORE, "P K" },
	{ NULL, INTEL, 0xa5, CORE, "P K" },
	{ "icl", INTEL, 0x7e, CORE, "L K" },
	{ "icx", INTEL, 0x6a, CORE, "L K" },
	{ NULL, INTEL, 0x8c, CORE, "P K" },
	{ NULL, INTEL, 0xa7, CORE, "P K" },
	{ "spr", INTEL, 0x8f, GLC, "L K" },
	{ NULL, INTEL, 0xcf, GLC, "P K" },
	{ NULL, INTEL, 0xad, CORE, "P K" },
	{ NULL, INTEL, 0x97, GLC, "P K" },
	{ NULL, INTEL, 0x97, E(1), "P K" },
	{ NULL, INTEL, 0xb7, GLC, "P K" },
	{ NULL, INTEL, 0xb7, E(1), "P K" },
	{ NULL, INTEL, 0xaa, CORE, "P K" },
	{ NULL, INTEL, 0xaa, E(1), "P K" },
	{ NULL, INTEL, 0xc5, CORE, "P K" },
	{ NULL, INTEL, 0xc5, E(1), "P K" },
	{ NULL, INTEL, 0xc5, E(2), "P K" },
	{ NULL, INTEL, 0xbd, CORE, "P K" },
	{ NULL, INTEL, 0xbd, E(1), "P K" },
	{ NULL, INTEL, 0xcc, CORE, "P K" },
	{ NULL, INTEL, 0xcc, L(1), "K" },
	{ NULL, INTEL, 0xd5, CORE, "K" },
	{ NULL, INTEL, 0xd5, L(1), "K" },
	{ NULL, INTEL, 0xd7, GLC, "the core of Raptor Lake" },
	{ NULL, PMU_VENDOR_INTEL, 18, 0x01, CORE, "K" },
	{ NULL, PMU_VENDOR_INTEL, 18, 0x01, L(1), "K" },
	{ NULL, PMU_VENDOR_INTEL, 18, 0x03, CORE, "K" },
	{ NULL, PMU_VENDOR_INTEL, 18, 0x03, L(1), "K" },
	{ NULL, PMU_VENDOR_INTEL, 19, 0x01, CORE, "K" },
	{ NULL, INTEL, 0xbe, SMALL, "P K" },
	{ NULL, INTEL, 0xaf, SMALL, "P K" },
	{ NULL, INTEL, 0xb6, SMALL, "P K" },
	{ NULL, INTEL, 0xdd, LATE, "K" },
	{ "slm", INTEL, 0x37, NONE, "L K" },
	{ "glm", INTEL, 0x5c, ATOM, "L K" },
	{ NULL, INTEL, 0x7a, ATOM, "P K" },
	{ "tmt", INTEL, 0x86, ATOM, "L K" },
	{ "knl", INTEL, 0x57, NONE, "L K" },
	{ "knm", INTEL, 0x85, NONE, "L K" },
	{ "amd64_k7", AMD, 0x06, 1, NONE, "A" },
	{ "amd64_k8_revb", AMD, 0x0f, 5, NONE, "A" },
	{ "amd64_k8_revc", AMD, 0x0f, 8, NONE, "A" },
	{ "amd64_k8_revd", AMD, 0x0f, 0x14, NONE, "A" },
	{ "amd64_k8_reve", AMD, 0x0f, 0x24, NONE, "A" },
	{ "amd64_k8_revf", AMD, 0x0f, 0x41, NONE, "A" },
	{ "amd64_k8_revg", AMD, 0x0f, 0x60, NONE, "A" },
	{ "amd64_fam10h_barcelona", AMD, 0x10, 2, IBS, "A" },
	{ "amd64_fam10h_shanghai", AMD, 0x10, 4, IBS, "A" },
	{ "amd64_fam10h_istanbul", AMD, 0x10, 8, IBS, "A" },
	{ "amd64_fam11h_turion", AMD, 0x11, 3, NONE, "A" },
	{ "amd64_fam12h_llano", AMD, 0x12, 1, IBS, "A" },
	{ "amd64_fam14h_bobcat", AMD, 0x14, 1, IBS, "A" },
	{ "amd64_fam15h_interlagos", AMD, 0x15, 1, IBS, "A" },
	{ "amd64_fam16h", AMD, 0x16, 0, IBS, "A" },
	{ "amd64_fam17h", AMD, 0x17, 1, IBS, "A" },
	{ "amd64_fam17h_zen1", AMD, 0x17, 1, IBS, "A" },
	{ "amd64_fam17h_zen2", AMD, 0x17, 0x31, IBS, "A" },
	{ "amd64_fam19h_zen3", AMD, 0x19, 1, IBS, "A" },
	{ "amd64_fam19h_zen4", AMD, 0x19, 0x11, IBS, "A" },
	{ NULL, AMD, 0x1a, 2, IBS, "A" },
	{ NULL, AMD, 0x1a, 0x50, IBS, "K" },
};
enum {
	LISTED = sizeof(listed) / sizeof(listed[0])
};

/* PMUs of libpfm4 that are no x86 processor that Linux runs perf on. */
static const char *const not_a_processor[] = { "ix86arch", "knc", NULL };

#undef INTEL
#undef AMD
#undef NONE
#undef SLOW
#undef SNB
#undef CORE
#undef GLC
#undef ATOM
#undef SMALL
#undef LATE
#undef E
#undef L
#undef IBS

#endif
