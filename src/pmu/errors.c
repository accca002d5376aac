/* SPDX-License-Identifier: MIT */
/*
 * errors - explain why a hardware source cannot be used
 */
#include <errno.h>
#include <stdbool.h>

#include "errors.h"
#include "src/base/text.h"

struct errno_words {
	int error;
	const char *name, *reason, *advice;
};

/* Errors with one meaning in perf_event_open. */
static const struct errno_words errors[] = {
	{ ENOENT, "ENOENT", "the kernel knows no such event on this PMU",
	  "use a kernel that knows this processor" },
	{ EOPNOTSUPP, "EOPNOTSUPP",
	  "the PMU here cannot sample the event precisely",
	  "use bare metal, or a virtual machine with a virtual PMU that has "
	  "precise events" },
	{ EINVAL, "EINVAL", "the kernel does not accept the event",
	  "use a newer kernel" },
	{ E2BIG, "E2BIG", "the kernel is too old for the event",
	  "use a newer kernel" },
	{ EMFILE, "EMFILE", "no file descriptor is left",
	  "raise the limit of open files (ulimit -n)" },
	{ ENFILE, "ENFILE", "the system has no file descriptor left",
	  "raise fs.file-max" },
	{ ENODEV, "ENODEV", "the PMU has no driver on this CPU",
	  "boot the kernel without the option that switched it off "
	  "(nolapic, clearcpuid=), or use bare metal" },
	{ EBUSY, "EBUSY", "another tool has the PMU for itself",
	  "end the other profiler, or a virtual machine that was given the "
	  "PMU" },
	{ ENOSPC, "ENOSPC", "no counter that can count the event is free",
	  "end the other profiler" },
	{ ENODATA, "ENODATA",
	  "the event opens only beside an auxiliary event that this kernel "
	  "does not list",
	  "use a newer kernel" },
	{ ENOMEM, "ENOMEM", "the kernel has no memory for it",
	  "free some memory" },
	{ ENOSYS, "ENOSYS", "there is no perf_event_open here",
	  "use a kernel with CONFIG_PERF_EVENTS, or allow the call in the "
	  "seccomp profile" },
};

static const struct errno_words *find_error(int error)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (errors[i].error == error)
			return &errors[i];
	return NULL;
}

static bool is_denial(int error)
{
	return error == EACCES || error == EPERM;
}

static void put_errno(struct text *t, int error)
{
	const struct errno_words *e = find_error(error);

	if (e) {
		text_put(t, e->name);
	} else if (is_denial(error)) {
		text_put(t, error == EACCES ? "EACCES" : "EPERM");
	} else {
		text_put(t, "errno ");
		text_number(t, error);
	}
}

/* Explain a denial: by the sysctl, a seccomp filter, or a security module. */
static void put_denial(const struct pmu_refusal *no, struct text *reason,
		       struct text *advice)
{
	int allowed = no->needs_kernel ? 1 : 2;

	text_put(reason, "it is not permitted");
	if (no->paranoid > allowed) {
		text_put(reason, ": kernel.perf_event_paranoid is ");
		text_number(reason, no->paranoid);
		text_put(advice, allowed == 1 ? "sudo sysctl "
						"kernel.perf_event_paranoid=1"
					      : "sudo sysctl "
						"kernel.perf_event_paranoid=2");
		text_put(advice, ", or give the program CAP_PERFMON");
		if (no->needs_kernel)
			text_put(advice, "; from Linux 6.14 on, 2 is enough "
					 "for IBS");
	} else if (no->seccomp) {
		text_put(reason, ", by a seccomp filter it seems");
		text_put(advice, "allow perf_event_open in the container's "
				 "profile (docker run --security-opt "
				 "seccomp=FILE, or --cap-add PERFMON)");
	} else {
		text_put(reason, ", by a security module or the kernel's "
				 "lockdown it seems");
		text_put(advice, "ask the administrator to allow "
				 "perf_event_open");
	}
}

static void put_refused(const struct pmu_refusal *no, struct text *reason,
			struct text *advice)
{
	const struct errno_words *e = find_error(no->error);

	text_put(reason, "perf_event_open of ");
	text_put(reason, no->event);
	text_put(reason, ": ");
	put_errno(reason, no->error);
	text_put(reason, ", ");
	if (is_denial(no->error)) {
		put_denial(no, reason, advice);
	} else if (e) {
		text_put(reason, e->reason);
		text_put(advice, e->advice);
	} else {
		text_put(reason, "an unexpected error");
		text_put(advice, "report it with the kernel's version");
	}
}

static void put_ring(const struct pmu_refusal *no, struct text *reason,
		     struct text *advice)
{
	text_put(reason, "the ring for samples cannot be mapped: ");
	put_errno(reason, no->error);
	if (is_denial(no->error)) {
		text_put(reason, ", too much memory is locked already");
		text_put(advice, "raise kernel.perf_event_mlock_kb, or the "
				 "limit of locked memory (ulimit -l)");
	} else {
		text_put(advice, "free some memory");
	}
}

static void put_missing_pmu(const struct pmu_refusal *no, struct text *reason,
			    struct text *advice)
{
	bool ibs = no->source == PMU_IBS;

	text_put(reason, "the kernel lists no PMU ");
	text_put(reason, no->event);
	if (no->virtual_machine) {
		text_put(reason, ", which virtual machines seldom pass on");
		text_put(advice, ibs ? "use bare metal"
				     : "use bare metal, or a virtual machine "
				       "with a virtual PMU");
	} else {
		text_put(advice,
			 ibs ? "switch IBS on in the BIOS, and use a kernel "
			       "with CONFIG_PERF_EVENTS and without noibs"
			     : "use a kernel with CONFIG_PERF_EVENTS that "
			       "knows this processor");
	}
}

static void put_silent(const struct pmu_refusal *no, struct text *reason,
		       struct text *advice)
{
	text_put(reason, no->event);
	if (no->cause == PMU_STARVED) {
		text_put(reason, " opens, but never gets a counter");
		text_put(advice, no->watchdog
					 ? "the NMI watchdog has one: sudo "
					   "sysctl kernel.nmi_watchdog=0"
					 : "end the other profiler");
		return;
	}
	text_put(reason, " opens, but no sample of a test loop has an address");
	text_put(advice, no->virtual_machine
				 ? "use bare metal, or another virtual machine"
				 : "report it with the kernel's version");
}

/* IBS on a kernel that is too old for it. */
static void put_old_kernel(const struct pmu_refusal *no, struct text *reason,
			   struct text *advice)
{
	text_put(reason, "Linux ");
	text_put(reason, no->release[0] ? no->release : "(version unknown)");
	switch (no->cause) {
	case PMU_NO_THREADS:
		text_put(reason, " gives IBS to whole processors only, not to "
				 "a thread");
		break;
	case PMU_HANGS:
		text_put(reason, " has no filter for IBS, and a program that "
				 "is killed could hang");
		break;
	default:
		text_put(reason, " has no filter for IBS, whose signals would "
				 "interrupt the program's system calls");
		break;
	}
	text_put(advice, "use Linux 6.15 or later");
}

void pmu_errors_explain(const struct pmu_refusal *no, char *reason, size_t size,
			char *advice, size_t advice_size)
{
	struct text r, a;

	text_begin(&r, reason, size);
	text_begin(&a, advice, advice_size);
	switch (no->cause) {
	case PMU_FINE:
		break;
	case PMU_OTHER_VENDOR:
		text_put(&r, no->source == PMU_PEBS
				     ? "this is no Intel processor"
				     : "this is no AMD processor");
		break;
	case PMU_UNKNOWN_MODEL:
		text_put(&r, "the events of this Intel processor (family ");
		text_number(&r, no->detail >> 16);
		text_put(&r, ", model ");
		text_hex(&r, no->detail & 0xffff);
		text_put(&r, ") are not known here; reusetrack record asks "
			     "libpfm4 for them, COMDET_EVENT names them");
		text_put(&a, "use clock, or install a newer libpfm4, or give "
			     "the codes: -e loads=CODE,stores=CODE");
		break;
	case PMU_HALF_ASKED:
		text_put(&r, "COMDET_EVENT names no ");
		text_put(&r, no->event);
		text_put(&r, ", and those of this processor are not known "
			     "here");
		text_put(&a, "name both: loads=CODE,stores=CODE");
		break;
	case PMU_UNFIT:
		text_put(&r, no->event);
		text_put(&r, ": ");
		text_put(&r, no->why_not);
		text_put(&a, "use clock");
		break;
	case PMU_NO_PMU:
		put_missing_pmu(no, &r, &a);
		break;
	case PMU_NOT_PRECISE:
		text_put(&r, "the PMU ");
		text_put(&r, no->event);
		text_put(&r, " offers no samples that name the exact "
			     "instruction");
		text_put(&a, no->virtual_machine
				     ? "use bare metal, or a virtual machine "
				       "that passes PEBS on"
				     : "switch PEBS on: a microcode or the "
				       "kernel may have disabled it (dmesg)");
		break;
	case PMU_CYCLES_ONLY:
		text_put(&r, "this processor's IBS counts cycles, not ops, "
			     "which favours slow instructions");
		text_put(&a, "use clock");
		break;
	case PMU_NO_THREADS:
	case PMU_INTERRUPTS:
	case PMU_HANGS:
		put_old_kernel(no, &r, &a);
		break;
	case PMU_REFUSED:
		put_refused(no, &r, &a);
		break;
	case PMU_NO_RING:
		put_ring(no, &r, &a);
		break;
	case PMU_SILENT:
	case PMU_STARVED:
		put_silent(no, &r, &a);
		break;
	}
}
