/* SPDX-License-Identifier: MIT */
/*
 * doctor_attach - may this user watch running processes, and if not, what helps
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"
#include "pmu_probe.h"
#include "analysis/base/util.h"
#include "analysis/outside/hardware.h"
#include "analysis/outside/permission.h"
#include "src/pmu/errors.h"

enum {
	SCOPE_ADMIN = 2,
	SCOPE_NOBODY = 3,
	NO_YAMA = -1,
};

#define WRITE(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

struct attach_rights doctor_attach_rights(void)
{
	struct attach_rights r = { NO_YAMA, permission_ptrace() };
	char line[32];

	if (read_line("/proc/sys/kernel/yama/ptrace_scope", line, sizeof(line)))
		r.scope = atol(line);
	return r;
}

static void explain_event(const struct diagnosis *d, int error,
			  struct finding *f)
{
	struct pmu_refusal no = d->around;

	no.cause = PMU_REFUSED;
	no.error = error;
	WRITE(no.event, "another process's clock");
	pmu_errors_explain(&no, f->reason, sizeof(f->reason), f->advice,
			   sizeof(f->advice));
	if (error == EINVAL)
		WRITE(f->advice, "use Linux 5.13 or later");
}

static void explain_memory(const struct diagnosis *d, int error,
			   const struct attach_rights *rights,
			   struct finding *f)
{
	bool yama = rights->scope >= SCOPE_NOBODY ||
		    (rights->scope > 0 && !rights->ptrace);

	if (error == EPERM && yama && d->vm_read.end == PROBE_WORKS) {
		WRITE(f->reason,
		      "kernel.yama.ptrace_scope is %ld: the kernel lets %s "
		      "read the memory of processes that it did not start",
		      rights->scope,
		      rights->scope >= SCOPE_NOBODY  ? "no program"
		      : rights->scope == SCOPE_ADMIN ? "only root"
						     : "no ordinary program");
		WRITE(f->advice, "%s",
		      rights->scope >= SCOPE_NOBODY
			      ? "boot with a ptrace_scope below 3; it cannot "
				"be lowered from 3"
			      : "sudo sysctl kernel.yama.ptrace_scope=0, or "
				"run attach as root");
		return;
	}
	WRITE(f->reason, "process_vm_readv of another process: %s",
	      strerror(error));
	WRITE(f->advice, "%s",
	      d->around.seccomp
		      ? "allow process_vm_readv in the container's profile"
		      : "run attach as root, or ask the administrator which "
			"security module forbids process_vm_readv");
}

/* Can the processor sample threads of others? */
static bool samples(enum pmu_source source)
{
	const struct pmu_wish wish = { 0 };
	struct pmu_plan plan;
	char *why = hardware_plan(&plan, pmu_probe_kernel, source, &wish);

	free(why);
	return !why;
}

void doctor_attach(struct diagnosis *d, const struct probe *p,
		   const struct attach_rights *rights)
{
	struct finding *f = &d->attach;

	memset(f, 0, sizeof(*f));
	f->name = "attach";
	f->good = p->end == PROBE_WORKS;
	switch (p->end) {
	case PROBE_WORKS:
		WRITE(f->reason,
		      "processes of this user can be watched, those of others "
		      "%s, with the source clock%s; %s",
		      rights->ptrace ? "too" : "need root (CAP_SYS_PTRACE)",
		      samples(PMU_PEBS)  ? " or pebs"
		      : samples(PMU_IBS) ? " or ibs"
					 : " alone",
		      p->count ? "their debug registers can be set"
			       : "no debug register can be set, so sharing is "
				 "found only where two samples meet");
		if (!p->count)
			WRITE(f->advice, "%s", d->registers.advice);
		break;
	case PROBE_REFUSED:
		if (p->memory)
			explain_memory(d, p->error, rights, f);
		else
			explain_event(d, p->error, f);
		break;
	case PROBE_SILENT:
		WRITE(f->reason, "another process can be watched, but no "
				 "sample of it came");
		WRITE(f->advice, "try it again on a quieter machine; else "
				 "report it with the kernel version");
		break;
	case PROBE_KILLED:
		WRITE(f->reason, "signal %d (%s) ended the trial", p->error,
		      strsignal(p->error));
		WRITE(f->advice, "allow perf_event_open and process_vm_readv "
				 "in the container's profile");
		break;
	}
}
