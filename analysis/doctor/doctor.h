/* SPDX-License-Identifier: MIT */
/*
 * doctor - find out what works on this machine, and how to get what is missing
 *
 * It tries what the sources need, by doing it (probe.h, pmu_probe.h), and
 * explains the outcome: why, and what to do about it.
 */
#ifndef COMDET_ANALYSIS_DOCTOR_DOCTOR_H
#define COMDET_ANALYSIS_DOCTOR_DOCTOR_H

#include <stdbool.h>

#include "probe.h"
#include "src/pmu/plan.h"

enum {
	DOCTOR_SOURCES_MAX = 8,
	DOCTOR_CHECKS_MAX = 16,
	DOCTOR_WORDS = 400,
};

struct finding {
	const char *name;
	bool good;
	char reason[DOCTOR_WORDS];
	char advice[DOCTOR_WORDS]; /* "": nothing to do */
};

struct diagnosis {
	struct finding source[DOCTOR_SOURCES_MAX];
	int sources;
	struct finding check[DOCTOR_CHECKS_MAX];
	int checks;
	struct finding registers;
	int register_count;
	bool range_64;
	struct finding attach;
	/* Facts that several findings use. */
	struct pmu_refusal around; /* permissions of this machine; no error is
				      set */
	char hypervisor[16];       /* "": none */
	struct probe sigtrap, blocked, timer, vm_read;
};

/* What explains that other processes cannot be watched. */
struct attach_rights {
	long scope;  /* kernel.yama.ptrace_scope; negative: there is no Yama */
	bool ptrace; /* we have CAP_SYS_PTRACE */
};

void doctor_diagnose(struct diagnosis *d);

/* Put into d->attach what @p found; the sources of @d are not needed. */
void doctor_attach(struct diagnosis *d, const struct probe *p,
		   const struct attach_rights *rights);

/* The rights of this process. */
struct attach_rights doctor_attach_rights(void);

/* The finding about the source of that name; NULL if there is none. */
const struct finding *doctor_source(const struct diagnosis *d,
				    const char *name);

#endif
