/* SPDX-License-Identifier: MIT */
/*
 * doctor - what works on this machine, what is missing and how to get it
 *
 * Tries what the sources need, by doing it (probe.h), and puts the outcome in
 * words. The exit status is 0 if at least one source can be used.
 */
#include <cpuid.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "analysis/command.h"
#include "analysis/library.h"
#include "analysis/pmu_probe.h"
#include "analysis/probe.h"
#include "analysis/util.h"

enum {
	SOURCES_MAX = 8,
	CHECKS_MAX = 16,
	WORDS = 400,
	FULL_REGISTERS = 4,
	NAME_COLUMNS = 19
};

struct finding {
	const char *name;
	bool good;
	char reason[WORDS], advice[WORDS];
};

struct diagnosis {
	struct finding source[SOURCES_MAX];
	int sources;
	struct finding check[CHECKS_MAX];
	int checks;
	struct finding registers;
	int register_count;
	bool range_64;
	/* What several findings rest on. */
	int paranoid; /* -100: unknown */
	bool seccomp;
	char hypervisor[16]; /* empty: none */
	struct probe sigtrap, blocked, timer, vm_read;
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
	unsigned int a, b, c, e;

	if (!__get_cpuid(1, &a, &b, &c, &e) || !(c & 1u << 31))
		return;
	__cpuid(0x40000000, a, b, c, e);
	memcpy(d->hypervisor, &b, 4);
	memcpy(d->hypervisor + 4, &c, 4);
	memcpy(d->hypervisor + 8, &e, 4);
	if (!d->hypervisor[0])
		strcpy(d->hypervisor, "unknown");
}

static void find_seccomp(struct diagnosis *d)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "Seccomp: %d", &mode) == 1)
			d->seccomp = mode == 2;
	if (f)
		fclose(f);
}

static void find_paranoid(struct diagnosis *d)
{
	char line[32];

	d->paranoid = -100;
	if (read_line("/proc/sys/kernel/perf_event_paranoid", line,
		      sizeof(line)))
		d->paranoid = atoi(line);
}

/* Why perf_event_open was refused, and what to do; the same everywhere. */
static void explain_refusal(const struct diagnosis *d, int error,
			    struct finding *f)
{
	WRITE(f->reason, "perf_event_open: %s", strerror(error));
	if ((error == EACCES || error == EPERM) && d->paranoid > 2)
		WRITE(f->advice,
		      "kernel.perf_event_paranoid is %d: run 'sudo sysctl "
		      "kernel.perf_event_paranoid=2', or give the program "
		      "CAP_PERFMON",
		      d->paranoid);
	else if ((error == EACCES || error == EPERM || error == ENOSYS) &&
		 d->seccomp)
		WRITE(f->advice,
		      "a seccomp filter forbids perf_event_open: allow it in "
		      "the container's profile (docker run --security-opt "
		      "seccomp=FILE, or --cap-add PERFMON)");
	else if (error == ENOSYS)
		WRITE(f->advice, "use a kernel with CONFIG_PERF_EVENTS");
	else if (error == EINVAL || error == E2BIG)
		WRITE(f->advice, "use Linux 5.19 or later");
	else if (error == ENOSPC)
		WRITE(f->advice, "end the debugger or tracer that holds the "
				 "debug registers");
	else if (error == EMFILE || error == ENFILE)
		WRITE(f->advice, "raise the limit of open files (ulimit -n)");
	else
		WRITE(f->advice, "ask the administrator to allow "
				 "perf_event_open");
}

static void explain_probe(const struct diagnosis *d, const struct probe *p,
			  const char *works, struct finding *f)
{
	f->good = p->end == PROBE_WORKS;
	switch (p->end) {
	case PROBE_WORKS:
		WRITE(f->reason, "%s", works);
		break;
	case PROBE_REFUSED:
		explain_refusal(d, p->error, f);
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
		WRITE(f->reason, "the trial was ended by signal %d (%s)",
		      p->error, strsignal(p->error));
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
			d->paranoid > -100 && d->paranoid <= 2);
	if (d->paranoid == -100) {
		WRITE(f->reason, "not readable: no perf_events here");
		WRITE(f->advice, "use a kernel with CONFIG_PERF_EVENTS");
	} else {
		WRITE(f->reason, "%d; up to 2 a program may measure itself",
		      d->paranoid);
		if (!f->good)
			WRITE(f->advice, "sudo sysctl "
					 "kernel.perf_event_paranoid=2");
	}
	f = new_finding(d->check, &d->checks, "seccomp",
			!d->seccomp || d->sigtrap.end == PROBE_WORKS);
	WRITE(f->reason, "%s",
	      !d->seccomp ? "no filter"
	      : f->good   ? "a filter is in force, and allows what is needed"
			  : "a filter is in force, and may be what forbids "
			    "perf_event_open");
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
	explain_probe(d, &d->sigtrap,
		      "a task-clock sample came as a synchronous SIGTRAP", f);

	f = new_finding(d->check, &d->checks, "sigtrap_blocked", false);
	explain_probe(d, &d->blocked,
		      "a program that blocks SIGTRAP survives sampling", f);
	if (d->blocked.end == PROBE_KILLED)
		WRITE(f->advice, "none needed: queued signals are used "
				 "instead; Linux 5.19 mends it");

	f = new_finding(d->check, &d->checks, "posix_timer", false);
	explain_probe(d, &d->timer,
		      "a timer on a thread's CPU time delivered a signal", f);

	f = new_finding(d->check, &d->checks, "process_vm_readv", false);
	explain_probe(d, &d->vm_read, "a process may read its own memory so",
		      f);
	if (d->vm_read.end == PROBE_REFUSED) {
		WRITE(f->reason, "process_vm_readv: %s",
		      strerror(d->vm_read.error));
		WRITE(f->advice, "allow process_vm_readv in the seccomp "
				 "profile");
	}
}

/* As the preload library decides: both, or timers and queued signals. */
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
		explain_probe(d, &count, "", f);
		return;
	}
	d->register_count = count.count;
	probe_watchpoint(&fires, 8, rtsig);
	explain_probe(d, &fires, "", f);
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

static void judge_clock(struct diagnosis *d)
{
	bool trap =
		d->sigtrap.end == PROBE_WORKS && d->blocked.end == PROBE_WORKS;
	bool timer = d->timer.end == PROBE_WORKS;
	bool registers = d->registers.good;
	struct finding *f =
		new_finding(d->source, &d->sources, "clock", trap || timer);

	if (!f->good) {
		WRITE(f->reason, "neither perf_events nor POSIX timers "
				 "deliver samples");
		WRITE(f->advice, "%s",
		      d->check[4].advice[0] ? d->check[4].advice
					    : "use a later kernel");
		return;
	}
	WRITE(f->reason, "samples by %s, %s",
	      trap ? "task-clock with SIGTRAP" : "POSIX timers",
	      registers ? "watchpoints by debug registers"
			: "without watchpoints: what two samples meet is "
			  "detected, which is less");
	if (!registers)
		WRITE(f->advice, "%s", d->registers.advice);
}

/* Looked at, not tried: running a program under QEMU takes its time. */
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

/* Looked at, not tried: it takes a program that was built for it. */
static void judge_instr(struct diagnosis *d)
{
	char *archive = library_path("libcomdet-instr.a");
	struct finding *f = new_finding(d->source, &d->sources, "instr",
					archive != NULL);

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

static void judge_others(struct diagnosis *d)
{
	judge_pmu(d, "pebs", PMU_PEBS);
	judge_pmu(d, "ibs", PMU_IBS);
	judge_instr(d);
	judge_emu(d);
}

static void diagnose(struct diagnosis *d)
{
	memset(d, 0, sizeof(*d));
	find_paranoid(d);
	find_seccomp(d);
	find_hypervisor(d);
	probe_sigtrap(&d->sigtrap);
	probe_sigtrap_blocked(&d->blocked);
	probe_timer(&d->timer);
	probe_vm_read(&d->vm_read);
	check_system(d);
	check_delivery(d);
	check_registers(d);
	judge_clock(d);
	judge_others(d);
}

static void print_finding(const struct finding *f, bool colour,
			  const char *good, const char *bad)
{
	const char *verdict = f->good ? good : bad;
	size_t column = NAME_COLUMNS + strlen(verdict) + 4;

	printf("  %-*s %s%s%s ", NAME_COLUMNS, f->name,
	       !colour   ? ""
	       : f->good ? "\033[32m"
			 : "\033[31m",
	       verdict, colour ? "\033[0m" : "");
	print_wrapped(stdout, f->reason, column, column);
	if (!f->advice[0])
		return;
	printf("%*s-> ", (int)column, "");
	print_wrapped(stdout, f->advice, column + 3, column + 3);
}

static void print_text(const struct diagnosis *d, bool colour)
{
	puts("Sources of samples");
	for (int i = 0; i < d->sources; i++)
		print_finding(&d->source[i], colour, "usable", "no    ");
	puts("\nDebug registers (watchpoints)");
	print_finding(&d->registers, colour, "usable", "no    ");
	if (d->registers.good)
		printf("  %-*s %s\n", NAME_COLUMNS, "one for 64 bytes",
		       d->range_64 ? "yes" : "no, 8 bytes at most");
	puts("\nWhat was tried and looked at");
	for (int i = 0; i < d->checks; i++)
		print_finding(&d->check[i], colour, "good  ", "bad   ");
	if (d->source[0].good)
		puts("\nNext: reusetrack record -- ./program");
	else if (d->source[d->sources - 1].good)
		puts("\nNext: reusetrack record -s emu -- ./program");
}

static json_t *finding_json(const struct finding *f, const char *good)
{
	return json_pack("{s:s, s:b, s:s, s:s}", "name", f->name, good, f->good,
			 "reason", f->reason, "advice", f->advice);
}

static int print_json(const struct diagnosis *d)
{
	json_t *sources = json_array(), *checks = json_array(), *o;
	int err;

	for (int i = 0; i < d->sources; i++)
		json_array_append_new(sources,
				      finding_json(&d->source[i], "usable"));
	for (int i = 0; i < d->checks; i++)
		json_array_append_new(checks,
				      finding_json(&d->check[i], "good"));
	o = json_pack("{s:i, s:o, s:{s:b, s:i, s:b, s:s, s:s}, s:o}", "schema",
		      1, "sources", sources, "debug_registers", "usable",
		      d->registers.good, "count", d->register_count, "range_64",
		      d->range_64, "reason", d->registers.reason, "advice",
		      d->registers.advice, "checks", checks);
	if (!o)
		die("out of memory");
	err = json_dumpf(o, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(o);
	return err;
}

static int run_doctor(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "color", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	struct diagnosis d;
	int letter, mode = COLOUR_AUTO;
	bool json = false, usable = false;

	opterr = 0;
	optind = 1;
	while ((letter = getopt_long(argc, argv, ":j", long_options, NULL)) !=
	       -1) {
		if (letter == 'j')
			json = true;
		else if (letter == 'c')
			mode = colour_parse(optarg);
		else
			die_option("doctor", letter, argv, long_options);
		if (mode < 0)
			die("doctor: --color is auto, always or never, not "
			    "'%s'",
			    safe_text(optarg));
	}
	if (optind < argc)
		die("doctor takes no argument; see reusetrack doctor --help");
	diagnose(&d);
	for (int i = 0; i < d.sources; i++)
		usable |= d.source[i].good;
	if (json) {
		if (print_json(&d))
			return 1;
	} else {
		print_text(&d, colour_wanted(mode, stdout));
	}
	return usable ? 0 : 1;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "try what works on this machine, and say what is missing",
	.usage =
		"usage: reusetrack doctor [--json] [--color WHEN]\n\n"
		"Tries each source of samples and the debug registers by using "
		"them, and says\n"
		"what is missing and how to get it. The exit status is 0 if at "
		"least one source\n"
		"can be used, else 1.\n\n"
		"      --json          one JSON object instead of text\n"
		"      --color WHEN    auto, always or never\n",
	.run = run_doctor,
};
