/* SPDX-License-Identifier: MIT */
/*
 * doctor - find out what works on this machine, and how to get what is missing
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "doctor.h"
#include "pmu_probe.h"
#include "analysis/base/library.h"
#include "analysis/base/util.h"
#include "analysis/import/perf_data.h"
#include "src/pmu/errors.h"
#include "src/pmu/kernel.h"

enum {
	FULL_REGISTERS = 4,
	LEAF_HYPERVISOR = 0x40000000,
	HYPERVISOR = 31, /* bit of leaf 1's ECX */
};

static struct finding *new_finding(struct finding *list, int *n,
				   const char *name, bool good)
{
	struct finding *f = &list[(*n)++];

	memset(f, 0, sizeof(*f));
	f->name = name;
	f->good = good;
	return f;
}

#define WRITE(field, ...) snprintf(field, sizeof(field), __VA_ARGS__)

static void find_hypervisor(struct diagnosis *d)
{
	const struct perf_kernel *k = pmu_probe_kernel;
	uint32_t regs[4];

	k->cpuid(k->ctx, 1, regs);
	if (!(regs[2] >> HYPERVISOR & 1))
		return;
	k->cpuid(k->ctx, LEAF_HYPERVISOR, regs);
	memcpy(d->hypervisor, &regs[1], 3 * sizeof(regs[1]));
	if (!d->hypervisor[0])
		strcpy(d->hypervisor, "unknown");
	d->around.virtual_machine = true;
}

/* Explain why perf_event_open refused @event, and what to do. */
static void explain_refusal(const struct diagnosis *d, const char *event,
			    int error, struct finding *f)
{
	struct pmu_refusal no = d->around;

	no.cause = PMU_REFUSED;
	no.error = error;
	snprintf(no.event, sizeof(no.event), "%s", event);
	pmu_errors_explain(&no, f->reason, sizeof(f->reason), f->advice,
			   sizeof(f->advice));
}

/* For a debug register the same errors mean something else. */
static void explain_registers(const struct diagnosis *d, int error,
			      struct finding *f)
{
	explain_refusal(d, "a watchpoint", error, f);
	if (error == ENOSPC) {
		WRITE(f->reason, "every debug register is taken");
		WRITE(f->advice, "end the debugger or tracer that holds the "
				 "debug registers");
	} else if (error == ENOENT || error == ENODEV || error == EOPNOTSUPP) {
		WRITE(f->reason, "the kernel offers no debug registers: %s",
		      strerror(error));
		WRITE(f->advice, "use a kernel with CONFIG_HAVE_HW_BREAKPOINT "
				 "on bare metal, or another virtual machine");
	} else if (error == EINVAL) {
		WRITE(f->advice, "use Linux 5.19 or later");
	}
}

/* @what was to be opened; NULL means a watchpoint. */
static void explain_probe(const struct diagnosis *d, const struct probe *p,
			  const char *what, const char *works,
			  struct finding *f)
{
	f->good = p->end == PROBE_WORKS;
	switch (p->end) {
	case PROBE_WORKS:
		WRITE(f->reason, "%s", works);
		break;
	case PROBE_REFUSED:
		if (what)
			explain_refusal(d, what, p->error, f);
		else
			explain_registers(d, p->error, f);
		break;
	case PROBE_SILENT:
		WRITE(f->reason, "it can be opened, but nothing is delivered");
		WRITE(f->advice, "%s",
		      d->hypervisor[0]
			      ? "ask for a virtual machine that passes it on, "
				"or use bare metal"
			      : "report it with the kernel version");
		break;
	case PROBE_KILLED:
		WRITE(f->reason, "signal %d (%s) ended the trial", p->error,
		      strsignal(p->error));
		WRITE(f->advice, "use a later kernel");
		break;
	}
}

static void check_system(struct diagnosis *d)
{
	struct finding *f;
	struct utsname u;
	int major = 0, minor = 0;

	if (!uname(&u))
		sscanf(u.release, "%d.%d", &major, &minor);
	f = new_finding(d->check, &d->checks, "kernel",
			major > 5 || (major == 5 && minor >= 19));
	WRITE(f->reason,
	      "Linux %.100s; from 5.19 on samples come as synchronous signals, "
	      "before that from timers",
	      u.release);
	if (!f->good)
		WRITE(f->advice, "use Linux 5.19 or later");
	f = new_finding(d->check, &d->checks, "perf_event_paranoid",
			d->around.paranoid > -100 && d->around.paranoid <= 2);
	if (d->around.paranoid == -100) {
		WRITE(f->reason, "not readable: no perf_events here");
		WRITE(f->advice, "use a kernel with CONFIG_PERF_EVENTS");
	} else {
		WRITE(f->reason, "%d; up to 2 a program may measure itself",
		      d->around.paranoid);
		if (!f->good)
			WRITE(f->advice, "sudo sysctl "
					 "kernel.perf_event_paranoid=2");
	}
	f = new_finding(d->check, &d->checks, "seccomp",
			!d->around.seccomp || d->sigtrap.end == PROBE_WORKS);
	WRITE(f->reason, "%s",
	      !d->around.seccomp ? "no filter"
	      : f->good ? "a filter is in force, and allows what is needed"
			: "a filter is in force, and may be what forbids "
			  "perf_event_open");
	if (!f->good)
		WRITE(f->advice, "allow perf_event_open in the container's "
				 "profile");
	f = new_finding(d->check, &d->checks, "virtual_machine", true);
	if (d->hypervisor[0])
		WRITE(f->reason, "yes (%s)", safe_text(d->hypervisor));
	else
		WRITE(f->reason, "no");
}

static void check_delivery(struct diagnosis *d)
{
	struct finding *f;

	f = new_finding(d->check, &d->checks, "sigtrap_clock", false);
	explain_probe(d, &d->sigtrap, "a task clock",
		      "a task-clock sample came as a synchronous SIGTRAP", f);

	f = new_finding(d->check, &d->checks, "sigtrap_blocked", false);
	explain_probe(d, &d->blocked, "a task clock",
		      "a program that blocks SIGTRAP survives sampling", f);
	if (d->blocked.end == PROBE_KILLED)
		WRITE(f->advice, "nothing to do: queued signals are used "
				 "instead; Linux 5.19 fixes it");

	f = new_finding(d->check, &d->checks, "posix_timer", false);
	explain_probe(d, &d->timer, "",
		      "a timer on a thread's CPU time delivered a signal", f);
	if (d->timer.end == PROBE_REFUSED) {
		WRITE(f->reason, "timer_create: %s", strerror(d->timer.error));
		WRITE(f->advice, "%s",
		      d->timer.error == EAGAIN
			      ? "raise the limit of pending signals (ulimit -i)"
			      : "allow timer_create in the seccomp profile");
	}

	f = new_finding(d->check, &d->checks, "process_vm_readv", false);
	explain_probe(d, &d->vm_read, "",
		      "a process can read its own memory this way", f);
	if (d->vm_read.end == PROBE_REFUSED) {
		WRITE(f->reason, "process_vm_readv: %s",
		      strerror(d->vm_read.error));
		WRITE(f->advice, "allow process_vm_readv in the seccomp "
				 "profile");
	}
}

/*
 * The preload library decides the same way: it uses synchronous signals if both
 * trials work, else timers and queued signals.
 */
static bool synchronous(const struct diagnosis *d)
{
	return d->sigtrap.end == PROBE_WORKS && d->blocked.end == PROBE_WORKS;
}

static void check_registers(struct diagnosis *d)
{
	struct finding *f = &d->registers;
	struct probe count, fires, wide;
	bool rtsig = !synchronous(d);

	f->name = "debug_registers";
	probe_registers(&count);
	if (count.end != PROBE_WORKS) {
		explain_probe(d, &count, NULL, "", f);
		return;
	}
	d->register_count = count.count;
	probe_watchpoint(&fires, 8, rtsig);
	explain_probe(d, &fires, NULL, "", f);
	if (fires.end == PROBE_SILENT)
		WRITE(f->reason,
		      "%d can be set, but a store to a watched "
		      "word did not trap",
		      count.count);
	if (!f->good)
		return;
	WRITE(f->reason,
	      "%d can be set, and a store to a watched word "
	      "trapped",
	      count.count);
	if (count.count < FULL_REGISTERS)
		WRITE(f->advice,
		      "end the debugger or tracer that holds the "
		      "other %d",
		      FULL_REGISTERS - count.count);
	probe_watchpoint(&wide, 64, rtsig);
	d->range_64 = wide.end == PROBE_WORKS;
}

static const struct finding *find(const struct finding *list, int n,
				  const char *name)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(list[i].name, name))
			return &list[i];
	return NULL;
}

static void judge_clock(struct diagnosis *d)
{
	bool trap = synchronous(d), timer = d->timer.end == PROBE_WORKS;
	bool registers = d->registers.good;
	struct finding *f =
		new_finding(d->source, &d->sources, "clock", trap || timer);

	if (!f->good) {
		WRITE(f->reason, "neither perf_events nor POSIX timers "
				 "deliver samples");
		WRITE(f->advice, "%s",
		      find(d->check, d->checks, "sigtrap_clock")->advice);
		return;
	}
	WRITE(f->reason, "samples by %s, %s",
	      trap ? "task-clock with SIGTRAP" : "POSIX timers",
	      registers ? "watchpoints by debug registers"
			: "without watchpoints: only sharing between two "
			  "samples is detected, which is less");
	if (!registers)
		WRITE(f->advice, "%s", d->registers.advice);
}

/* Only look for the files: a trial under QEMU would take time. */
static void judge_emu(struct diagnosis *d)
{
	const char *asked = getenv("COMDET_QEMU_LIB");
	char *plugin = asked && *asked ? realpath(asked, NULL)
				       : library_path("libcomdet-qemu.so");
	bool qemu = in_path("qemu-x86_64");
	struct finding *f =
		new_finding(d->source, &d->sources, "emu", plugin && qemu);

	if (f->good) {
		WRITE(f->reason, "on request (record -s emu): qemu-x86_64 and "
				 "our plugin for it are there");
	} else if (!plugin) {
		WRITE(f->reason, "libcomdet-qemu.so is not beside reusetrack");
		WRITE(f->advice, "install it there or in ../lib");
	} else {
		WRITE(f->reason, "qemu-x86_64 is not in PATH");
		WRITE(f->advice, "install the package qemu-user");
	}
	free(plugin);
}

/* Only look for the library: a trial would need a program built with hooks. */
static void judge_instr(struct diagnosis *d)
{
	char *archive = library_path("libcomdet-instr.a");
	struct finding *f =
		new_finding(d->source, &d->sources, "instr", archive != NULL);

	if (f->good) {
		WRITE(f->reason,
		      "for programs compiled with -fsanitize=thread and linked "
		      "with -lcomdet-instr in place of libtsan: the hooks are "
		      "there");
	} else {
		WRITE(f->reason, "libcomdet-instr.a is not beside reusetrack");
		WRITE(f->advice, "install it there or in ../lib");
	}
	free(archive);
}

static void judge_pmu(struct diagnosis *d, const char *name,
		      enum pmu_source source)
{
	struct finding *f = new_finding(d->source, &d->sources, name, false);

	f->good = pmu_probe(source, f->reason, sizeof(f->reason), f->advice,
			    sizeof(f->advice));
	if (!f->good && !f->advice[0])
		WRITE(f->advice, "none; it is for other processors");
}

static void check_import(struct diagnosis *d)
{
	struct finding *f = new_finding(d->check, &d->checks, "import",
					perf_data_inflates());

	WRITE(f->reason, "recordings of perf can be imported, %s",
	      f->good ? "compressed ones too" : "but not compressed ones");
	if (!f->good)
		WRITE(f->advice, "build with libzstd-dev");
}

const struct finding *doctor_source(const struct diagnosis *d, const char *name)
{
	return find(d->source, d->sources, name);
}

void doctor_diagnose(struct diagnosis *d)
{
	struct attach_rights rights = doctor_attach_rights();
	struct probe attach;

	memset(d, 0, sizeof(*d));
	pmu_refusal_begin(&d->around, pmu_probe_kernel);
	find_hypervisor(d);
	probe_sigtrap(&d->sigtrap);
	probe_sigtrap_blocked(&d->blocked);
	probe_timer(&d->timer);
	probe_vm_read(&d->vm_read);
	check_system(d);
	check_delivery(d);
	check_registers(d);
	check_import(d);
	probe_attach(&attach);
	doctor_attach(d, &attach, &rights);
	judge_clock(d);
	judge_pmu(d, "pebs", PMU_PEBS);
	judge_pmu(d, "ibs", PMU_IBS);
	judge_instr(d);
	judge_emu(d);
}
