/* SPDX-License-Identifier: MIT */
/*
 * record - run a program under libcomdet.so and say where its profile is
 *
 * It first looks whether the program can load the library at all, makes the
 * output directory (so that an unwritable place is an early error), starts the
 * program and waits. The exit status is the program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/library.h"
#include "analysis/base/util.h"
#include "analysis/model/trace_chunks.h"
#include "analysis/predict/workload_open.h"
#include "analysis/profile/profile.h"
#include "analysis/record/auto.h"
#include "analysis/record/control.h"
#include "analysis/record/emu.h"
#include "analysis/record/ending.h"
#include "analysis/record/environment.h"
#include "analysis/record/events.h"
#include "analysis/record/options.h"
#include "analysis/record/outside.h"
#include "analysis/record/output.h"
#include "analysis/record/live.h"
#include "analysis/record/record.h"
#include "analysis/record/run.h"
#include "analysis/record/sharing_probe.h"
#include "analysis/record/source.h"
#include "analysis/symbols/elf_hooks.h"
#include "analysis/symbols/elf_inspect.h"
#include "analysis/symbols/jit_files.h"
#include "src/store/outdir.h"

static char *find_library(const char *name, const char *variable)
{
	const char *asked = getenv(variable);
	char *path;

	if (asked && *asked) {
		path = realpath(asked, NULL);
		if (!path || access(path, R_OK))
			die("cannot read %s=%s: %s", variable, safe_text(asked),
			    strerror(errno));
		return path;
	}
	path = library_path(name);
	if (!path)
		die("cannot find %s beside reusetrack nor in ../lib (is /proc "
		    "mounted?); set %s to its path",
		    name, variable);
	return path;
}

static char *find_preload(const char *name, const char *variable)
{
	char *path = find_library(name, variable);

	if (strpbrk(path, " \t\n:"))
		die("the path %s has a blank or a colon, which LD_PRELOAD "
		    "cannot carry; copy %s elsewhere and set %s",
		    safe_text(path), name, variable);
	return path;
}

/* --objects on */
static bool wants_objects(void)
{
	const char *value = getenv("COMDET_OBJECTS");

	return value && !strcmp(value, "on");
}

/* The verb simulate takes the trace from here. The program does not see it. */
static char *trace_pipe;

static void note_pipe(void)
{
	const char *value = getenv(RECORD_TRACE_PIPE);

	trace_pipe = value ? xstrdup(value) : NULL;
	unsetenv(RECORD_TRACE_PIPE);
}

/* How many instructions the trace @path has, and of how many threads. */
static uint64_t count_trace(const char *path, char *error)
{
	struct trace_chunks c;
	uint64_t n = 0;

	error[0] = '\0';
	if (trace_chunks_open(&c, path, error))
		return 0;
	for (size_t i = 0; i < c.places; i++)
		if (c.place[i].chunk.kind == TRACE_THREAD)
			n = sat_add(n, c.place[i].chunk.instructions);
	trace_chunks_close(&c);
	return n;
}

static void say_trace(const struct profile *p, const char *out)
{
	for (size_t i = 0; i < p->processes; i++) {
		const char *name = base_name(p->process[i].file);
		size_t n = strlen(name) - strlen(".cdp");
		char error[TRACE_ERROR_BYTES];
		char *path =
			xasprintf("%s/%.*s%s", out, (int)n, name, OUTDIR_TRACE);
		uint64_t count = count_trace(path, error);

		if (error[0])
			warn("%s: %s", output_name(path), error);
		else if (!count)
			warn("no instructions are in the trace %s: the program "
			     "did not reach the region of interest",
			     output_name(path));
		else
			warn("%s instructions in the trace %s; next: "
			     "reusetrack simulate --machine golden-c3 %s",
			     count_text(count), output_name(path),
			     p->processes > 1 ? output_name(path)
					      : output_name(out));
		free(path);
	}
}

/* Of -m profile the program's process knows nothing: it writes a trace. */
static bool take_profile_mode(void)
{
	const char *mode = getenv("COMDET_MODE"), *quick;

	if (!mode || strcmp(mode, "profile")) {
		quick = getenv("COMDET_QUICK");
		if (quick && !strcmp(quick, "1"))
			die("--quick (COMDET_QUICK) needs -m profile");
		return false;
	}
	if (setenv("COMDET_MODE", "trace", 1))
		die("out of memory");
	return true;
}

enum {
	PROBE_DETECTIONS = 20 /* fewer predict nothing */
};

/*
 * If the profile may lead to a prediction, measure what sharing costs here, now
 * that the program has ended.
 */
static void probe_sharing(const struct profile *p, int dirfd)
{
	const char *wanted = getenv("COMDET_PROBE");
	struct sharing_cost cost;
	uint64_t n = 0;

	for (size_t i = 0; i < p->pairs; i++)
		n = sat_add(n, p->pair[i].count);
	if ((wanted && !strcmp(wanted, "off")) || n < PROBE_DETECTIONS ||
	    strcmp(profile_main_process(p)->header.source, "clock") != 0)
		return;
	if (sharing_probe(&cost))
		sharing_cost_write(&cost, dirfd);
}

static void finish_record(const struct run *r, int dirfd, bool profile,
			  bool outside)
{
	const char *mode = getenv("COMDET_MODE");
	struct profile p;
	int err = profile_load(&p, r->out);

	if (!err && p.processes) {
		jit_files_save(&p, dirfd);
		if (profile)
			workload_convert(r->out, output_name(r->out));
		else if (mode && !strcmp(mode, "trace")) {
			if (!trace_pipe) /* else it is read */
				say_trace(&p, r->out);
		} else {
			probe_sharing(&p, dirfd);
			output_say(&p, r->out);
		}
	} else if (err) {
		warn("cannot read what was recorded in %s: %s",
		     output_name(r->out), strerror(-err));
	} else if (p.bad_files) {
		warn("what was recorded in %s cannot be read: %s: %s",
		     output_name(r->out), safe_text(p.bad[0].name),
		     p.bad[0].why);
	} else {
		bool gone = output_remove_if_empty(dirfd, r->out);

		warn(outside ? "nothing was recorded: the program ended before "
			       "it was sampled; run it for longer"
			     : "nothing was recorded: libcomdet.so did not "
			       "start in the "
			       "program (a line above says why), or the "
			       "program cleared "
			       "LD_PRELOAD; try reusetrack doctor");
		if (!gone)
			warn("the part that was written is in %s",
			     output_name(r->out));
	}
	profile_release(&p);
}

static enum elf_hooks hooks_of(const struct program *p)
{
	enum elf_hooks hooks = elf_hooks(p->loaded);

	if (hooks == HOOKS_NONE && p->kind == PROGRAM_FITS &&
	    record_looks_for_hooks() && elf_loads_hooks(p->loaded))
		return HOOKS_OURS;
	return hooks;
}

/*
 * With --children, a program started by this one may have hooks; a script may
 * exec one that has.
 */
static bool never_hooked(const struct program *p)
{
	const char *children = getenv("COMDET_CHILDREN");

	return !(children && !strcmp(children, "1")) &&
	       !strcmp(p->loaded, p->path) && elf_never_hooked(p->path);
}

/*
 * True if the watcher takes the place of the library: because it is asked for,
 * or because the program cannot load a library.
 */
static bool goes_outside(const struct program *p)
{
	const char *mode = getenv("COMDET_MODE");

	if (record_emulates())
		return false;
	if (p->kind != PROGRAM_NO_PRELOAD && !record_outside())
		return false;
	if (p->privileged)
		die("cannot profile this program: %s", p->why);
	if (record_needs_hooks() || (mode && *mode && strcmp(mode, "comm"))) {
		if (p->kind == PROGRAM_NO_PRELOAD)
			die("cannot profile this program: %s", p->why);
		die("--outside (COMDET_OUTSIDE) goes with the sources clock, "
		    "pebs and ibs, and with -m comm alone");
	}
	if (faccessat(AT_FDCWD, p->loaded, R_OK, AT_EACCESS))
		die("cannot watch %s from outside: its file may not be read, "
		    "and then the kernel lets only root do that; chmod +r it, "
		    "or run reusetrack as root",
		    safe_text(p->loaded));
	if (!record_outside())
		warn("%s cannot load libcomdet.so, so it is watched from "
		     "outside (man reusetrack-attach)",
		     safe_text(p->loaded));
	return true;
}

/*
 * The library that tells of the synchronization in a traced program; NULL if
 * there is no trace, or the program cannot load it. Then the trace has futex
 * calls alone, and the user should know.
 */
static char *guest_library(const struct program *p)
{
	const char *mode = getenv("COMDET_MODE");
	const char *others = getenv("LD_PRELOAD"), *why;
	char *path;

	if (!mode || strcmp(mode, "trace"))
		return NULL;
	path = library_path("libcomdet-guest.so");
	if (p->kind != PROGRAM_FITS)
		why = "it is static, or not for this C library";
	else if (!path)
		why = "libcomdet-guest.so is not beside reusetrack";
	else if (strpbrk(path, " \t\n:,") || (others && strchr(others, ',')))
		why = "LD_PRELOAD or the path of libcomdet-guest.so has a "
		      "character that QEMU cannot pass on";
	else if (elf_is_go(p->loaded))
		why = "it is written in Go";
	else
		return path;
	warn("of the synchronization in %s the trace has only the futex calls: "
	     "%s",
	     safe_text(p->loaded), why);
	free(path);
	return NULL;
}

static void begin_control(void *none, pid_t pid)
{
	(void)none;
	(void)pid;
	record_begin_control();
}

static int run_with_control(struct run *r, int dirfd)
{
	int status;

	record_make_control_page(dirfd);
	r->begin = begin_control;
	status = run_program(r);
	record_end_control(dirfd);
	return status;
}

static int run_record(int argc, char **argv)
{
	char run_id[OUTDIR_RUN_ID_BYTES] = "", path[PATH_MAX];
	struct program program;
	struct run r = { .out = path, .run_id = run_id };
	struct live live;
	char *library, *heap = NULL, **shell = NULL;
	int first, dirfd, status;
	enum elf_hooks hooks;
	bool outside, profile;

	die_status = RECORD_FAILED;
	note_pipe();
	environment_note();
	first = record_options(argc, argv, cmd_record.usage);
	profile = take_profile_mode();
	program_inspect(&program, argv[first]);
	if (program.kind == PROGRAM_NOT_FOUND)
		die_as(RECORD_NOT_FOUND, "%s", program.why);
	if (program.kind == PROGRAM_CANNOT_RUN)
		die_as(RECORD_CANNOT_RUN, "%s", program.why);
	hooks = hooks_of(&program);
	record_check_source(hooks == HOOKS_OURS);
	if (hooks != HOOKS_OURS)
		record_choose_source();
	record_open_control();
	outside = goes_outside(&program);
	if (hooks == HOOKS_SANITIZER && !record_emulates() && !outside)
		die("cannot profile %s: it is built for ThreadSanitizer, which "
		    "cannot be profiled; build it without, or for -s instr "
		    "link it with -lcomdet-instr in place of libtsan",
		    safe_text(program.loaded));
	if (hooks == HOOKS_NONE && record_needs_hooks() &&
	    never_hooked(&program))
		die("cannot profile %s with -s instr: neither it nor its "
		    "libraries have our hooks; compile it with "
		    "-fsanitize=thread and link it with -lcomdet-instr, or "
		    "take another source",
		    safe_text(program.path));
	r.path = program.path;
	r.argv = argv + first;
	if (outside && wants_objects())
		die("--objects on (COMDET_OBJECTS) needs a library in the "
		    "program, which --outside does without");
	if (outside) {
		library = NULL;
	} else if (record_emulates()) {
		library = find_library("libcomdet-qemu.so", "COMDET_QEMU_LIB");
		shell = record_emu_command(&program, argv + first, library,
					   guest_library(&program), trace_pipe);
		r.path = shell[0];
		r.argv = shell;
	} else {
		if (record_needs_topology())
			record_settle_topology();
		record_events_for_unknown();
		r.library = library =
			find_preload("libcomdet.so", "COMDET_LIB");
		if (wants_objects())
			r.heap = heap = find_preload("libcomdet-heap.so",
						     "COMDET_HEAP_LIB");
	}
	if (program.shell && (r.library || outside)) {
		shell = xcalloc(argc - first + 2, sizeof(*shell));
		shell[0] = "/bin/sh";
		memcpy(shell + 1, argv + first,
		       (argc - first) * sizeof(*shell));
		shell[1] = program.path;
		r.path = shell[0];
		r.argv = shell;
	}
	dirfd = output_make(output_of_rank(getenv("COMDET_OUT")), run_id, path);
	live_begin(&live, &r, dirfd);
	status = outside            ? run_program_outside(&r, dirfd)
		 : record_control() ? run_with_control(&r, dirfd)
				    : run_program(&r);
	live_end(&r);
	if (r.exec_error) {
		output_remove_if_empty(dirfd, path);
		die_as(r.exec_error == ENOENT ? RECORD_NOT_FOUND
					      : RECORD_CANNOT_RUN,
		       "cannot run %s: %s", safe_text(r.path),
		       strerror(r.exec_error));
	}
	ending_note(&r, dirfd);
	finish_record(&r, dirfd, profile, outside);
	close(dirfd);
	free(library);
	free(heap);
	free(shell);
	return status;
}

const struct command cmd_record = {
	.name = "record",
	.summary = "run a program and profile it",
	.usage =
		"usage: reusetrack record [OPTION...] [--] PROGRAM "
		"[ARGUMENT...]\n\nRuns PROGRAM, unmodified, and writes its "
		"profile to the directory out.\nThe exit status is the "
		"program's (128 + signal if one ended it), or 125 for "
		"a\nfailure of record, 126 if PROGRAM cannot be run, 127 if it "
		"is not found.\n\n  -o, --output DIR    where to write; "
		"default out (COMDET_OUT)\n  -F, --freq HZ       clock: "
		"always so many samples a second of CPU time,\n              "
		"        1 to 20000 (COMDET_FREQ)\n      --budget P      "
		"clock: spend P percent of the CPU time, default 5;\n        "
		"              200 samples a second at first and where lines "
		"are\n                      shared, 50 elsewhere "
		"(COMDET_BUDGET)\n      "
		"--children      also profile programs "
		"it starts (COMDET_CHILDREN=1)\n      --outside       watch "
		"from outside, as attach does (COMDET_OUTSIDE=1)\n      "
		"--objects ON    on: also who allocated heap blocks; default "
		"off\n                      (COMDET_OBJECTS)\n      "
		"--probe ON      off: do not measure, at the end, what "
		"sharing costs\n                      here (COMDET_PROBE)\n"
		"      --progress      show time, samples and detections while "
		"it runs, if\n                      standard error is a "
		"terminal (COMDET_PROGRESS=1)\n"
		"      --registers N   debug "
		"registers to use, 0 to 4 (COMDET_REGISTERS)\n      --delay S  "
		"     seconds to wait before sampling (COMDET_DELAY)\n      "
		"--duration S    seconds to sample (COMDET_DURATION)\n      "
		"--control SPEC  fifo:COMMANDS[,ANSWERS] or "
		"fd:COMMANDS[,ANSWERS], where\n                      other "
		"programs say enable, disable, ping and stop;\n"
		"                      --delay -1 begins disabled "
		"(COMDET_CONTROL)\n  -m, "
		"--mode LIST     what to measure: comm, the default, or reuse; "
		"with emu and\n                      instr also shared, "
		"global; "
		"with emu trace, profile\n                      "
		"(COMDET_MODE)\n  -s, --source NAME   "
		"auto, "
		"pebs, ibs, clock, "
		"instr or emu (COMDET_SOURCE);\n                      by the "
		"clock "
		"shares are of CPU time, else of accesses\n  -p, --period N    "
		"  accesses "
		"(with ibs: ops) between samples; not clock\n                  "
		"    (COMDET_PERIOD)\n  -e, --event LIST    "
		"pebs: these events, by name or code (COMDET_EVENT)\n"
		"      --ldlat N       pebs: only loads "
		"of N cycles or more (COMDET_LDLAT)\n\nWith the sources instr, "
		"for programs linked with -lcomdet-instr, and emu:\n      "
		"--algorithm NAME  comdetective, epoch or chain "
		"(COMDET_ALGORITHM)\n      --exact         count every "
		"transfer too (COMDET_EXACT=1)\n      --watch KIND    instr: "
		"sw or, with debug registers, hw (COMDET_WATCH)\n      "
		"--topology FILE cores and caches; default the host's "
		"(COMDET_TOPOLOGY)\n      --granularity LIST  reuse of "
		"address, line; default both\n                      "
		"(COMDET_GRANULARITY)\n      --slots N       uses watched at "
		"once, default 4096; instr 100\n                      "
		"(COMDET_SLOTS)\n  -g, --call-paths    the calls that led to "
		"both accesses; instr: to\n                      use and "
		"reuse too (COMDET_PATHS=1)\n\nWith the source emu, under "
		"QEMU:\n      "
		"--place NAME    threads on cores: compact or scatter "
		"(COMDET_PLACE)\n      --slice N       accesses in a turn, or "
		"free; default 1000 (COMDET_SLICE)\n      --roi "
		"BEGIN,END "
		"  with -m trace, from one function of PROGRAM to "
		"another,\n                      or from one number of "
		"instructions to another (COMDET_ROI)\n      --quick         "
		"with -m profile, trace a part in full and the rest by the\n"
		"                      lines that it uses (COMDET_QUICK=1)\n"
		"      --caches "
		"LIST   "
		"simulated with --exact and -m reuse; default the host's\n     "
		"                 (COMDET_CACHES)\n      --pmu NAME      "
		"sample as pebs or as ibs does (COMDET_PMU)\n",
	.run = run_record,
};
