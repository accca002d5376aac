/* SPDX-License-Identifier: MIT */
/*
 * pmu_study_source - find out which sources open here, and what the others need
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pmu_study_internal.h"
#include "analysis/base/library.h"
#include "analysis/base/util.h"
#include "analysis/doctor/pmu_probe.h"
#include "analysis/doctor/probe.h"

const char *const pmu_study_names[PMU_STUDY_COLUMNS] = {
	[PMU_STUDY_NATIVE] = "native", [PMU_STUDY_QEMU] = "qemu",
	[PMU_STUDY_CLOCK] = "clock",   [PMU_STUDY_EMU] = "emu",
	[PMU_STUDY_INSTR] = "instr",   [PMU_STUDY_PEBS] = "pebs",
	[PMU_STUDY_IBS] = "ibs",
};

#define WRITE(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static bool installed(const char *name)
{
	char *path = library_path(name);

	free(path);
	return path;
}

static void look_clock(struct pmu_study_source *s)
{
	struct probe trap, timer;

	probe_sigtrap(&trap);
	probe_timer(&timer);
	s->opens = trap.end == PROBE_WORKS || timer.end == PROBE_WORKS;
	WRITE(s->reason, "neither perf_events nor timers deliver a signal");
	WRITE(s->advice, "reusetrack doctor says why");
}

static void look_emu(struct pmu_study *p)
{
	struct pmu_study_source *s = &p->source[PMU_STUDY_EMU];
	bool qemu = in_path("qemu-x86_64");

	s->opens = qemu && installed("libcomdet-qemu.so");
	WRITE(s->reason, qemu ? "libcomdet-qemu.so is not there"
			      : "qemu-x86_64 is not there");
	WRITE(s->advice,
	      qemu ? "run make" : "install qemu-user (apt install qemu-user)");
	p->source[PMU_STUDY_QEMU].opens = s->opens;
}

static void look_instr(struct pmu_study_source *s)
{
	s->opens = installed("libcomdet.so") &&
		   installed("microbench/instr/load_ratio");
	WRITE(s->reason, "the benchmarks have not been compiled with hooks");
	WRITE(s->advice, "run make tests in the source tree");
}

static void look_pmu(struct pmu_study_source *s, enum pmu_source source)
{
	s->opens = pmu_probe(source, s->reason, sizeof(s->reason), s->advice,
			     sizeof(s->advice));
}

static void want(struct pmu_study *p, const char *list)
{
	char *names = xstrdup(list ? list : "clock,emu,instr,pebs,ibs");
	char *rest = names, *name;

	while ((name = strsep(&rest, ","))) {
		int i = PMU_STUDY_FIRST;

		while (i < PMU_STUDY_COLUMNS &&
		       strcmp(pmu_study_names[i], name))
			i++;
		if (i == PMU_STUDY_COLUMNS)
			die("--source: there is no '%s'; it is some of "
			    "clock,emu,instr,pebs,ibs",
			    safe_text(name));
		p->source[i].wanted = true;
	}
	free(names);
}

void pmu_study_look(struct pmu_study *p, const char *list)
{
	want(p, list);
	look_clock(&p->source[PMU_STUDY_CLOCK]);
	look_emu(p);
	look_instr(&p->source[PMU_STUDY_INSTR]);
	look_pmu(&p->source[PMU_STUDY_PEBS], PMU_PEBS);
	look_pmu(&p->source[PMU_STUDY_IBS], PMU_IBS);
	p->source[PMU_STUDY_NATIVE].opens = true;
}
