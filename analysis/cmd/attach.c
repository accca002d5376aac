/* SPDX-License-Identifier: MIT */
/*
 * attach - profile processes that are running already
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/control.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/outside/group.h"
#include "analysis/outside/hardware.h"
#include "analysis/outside/permission.h"
#include "analysis/outside/watcher.h"
#include "analysis/profile/profile.h"
#include "analysis/record/output.h"
#include "analysis/symbols/jit_files.h"
#include "src/store/outdir.h"
#include "src/store/sample_log.h"

enum {
	TARGETS_MAX = 1024,
	FREQ_DEFAULT = 200,
	FREQ_MAX = 20000,
	SECONDS_MAX = 1000000,
};

struct options {
	struct watch_options watch;
	const char *out;
	uint64_t delay; /* ns */
	const char *control;
	const char *freq, *period; /* as given, NULL: not */
	const char *source;        /* pebs or ibs, NULL: the clock */
	struct pmu_plan plan;
	struct group group;
	pid_t target[TARGETS_MAX];
	size_t targets;
};

/* An option's value, or that of its variable, which may be empty. */
static double seconds(const char *name, const char *value)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(value, &end);
	if (end == value || *end || errno || !(s >= 0) || s > SECONDS_MAX)
		die("%s must be a number of seconds from 0 to %d, not '%s'",
		    name, SECONDS_MAX, safe_text(value));
	return s;
}

static double percent(const char *name, const char *value)
{
	char *end;
	double p;

	errno = 0;
	p = strtod(value, &end);
	if (end == value || *end || errno || !(p > 0) || p > 100)
		die("%s must be a percentage of the CPU time, above 0 and at "
		    "most 100, not '%s'",
		    name, safe_text(value));
	return p;
}

static void add_target(struct options *o, const char *text)
{
	if (o->targets == TARGETS_MAX)
		die("attach takes at most %d targets", TARGETS_MAX);
	o->target[o->targets++] = (pid_t)whole_number(
		o->watch.threads ? "--tid" : "a PID", text, 1, INT_MAX);
}

/* Numbers, separated by commas. */
static void add_targets(struct options *o, const char *list)
{
	char *copy = xstrdup(list), *at = copy, *one;

	while ((one = strsep(&at, ",")))
		add_target(o, one);
	free(copy);
}

static const struct option long_options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "freq", required_argument, NULL, 'F' },
	{ "source", required_argument, NULL, 's' },
	{ "period", required_argument, NULL, 'p' },
	{ "registers", required_argument, NULL, 'r' },
	{ "budget", required_argument, NULL, 'b' },
	{ "children", no_argument, NULL, 'c' },
	{ "call-paths", no_argument, NULL, 'g' },
	{ "delay", required_argument, NULL, 'D' },
	{ "duration", required_argument, NULL, 'd' },
	{ "tid", required_argument, NULL, 't' },
	{ "cgroup", required_argument, NULL, 'G' },
	{ "control", required_argument, NULL, 'C' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void take_option(struct options *o, int letter)
{
	switch (letter) {
	case 'o':
		o->out = optarg;
		break;
	case 's':
		if (strcmp(optarg, "clock") && strcmp(optarg, "pebs") &&
		    strcmp(optarg, "ibs"))
			die("--source must be clock, pebs or ibs, not '%s'",
			    safe_text(optarg));
		o->source = strcmp(optarg, "clock") ? optarg : NULL;
		break;
	case 'p':
		whole_number("--period", optarg, PMU_PERIOD_MIN,
			     PMU_PERIOD_MAX);
		o->period = optarg;
		break;
	case 'F':
		o->freq = optarg;
		o->watch.period =
			1000000000ul /
			(uint64_t)whole_number("-F", optarg, 1, FREQ_MAX);
		break;
	case 'r':
		o->watch.registers =
			(int)whole_number("--registers", optarg, 0, 4);
		break;
	case 'b':
		o->watch.budget = percent("--budget", optarg) / 100;
		break;
	case 'c':
		o->watch.children = true;
		break;
	case 'g':
		o->watch.callers = true;
		break;
	case 'D':
		o->watch.paused = !strcmp(optarg, "-1");
		o->delay =
			o->watch.paused
				? 0
				: (uint64_t)(seconds("--delay", optarg) * 1e9);
		break;
	case 'C':
		o->control = optarg;
		break;
	case 'd':
		o->watch.duration =
			(uint64_t)(seconds("--duration", optarg) * 1e9);
		break;
	case 'G':
		if (!*optarg)
			die("--cgroup must not be empty");
		cgroups_add(&o->group.cgroups, optarg);
		o->watch.group = &o->group;
		break;
	case 't':
		o->watch.threads = true;
		add_targets(o, optarg);
		break;
	}
}

static void read_options(struct options *o, int argc, char **argv)
{
	const struct option_syntax syntax = { .verb = "attach",
					      .usage = cmd_attach.usage,
					      .letters = ":o:F:s:p:gh",
					      .options = long_options };
	int letter;

	memset(o, 0, sizeof(*o));
	o->out = getenv("COMDET_OUT");
	o->watch.period = 1000000000ul / FREQ_DEFAULT;
	o->watch.registers = 4;
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		take_option(o, letter);
	if (o->watch.threads && optind < argc)
		die("attach: name processes or threads (--tid), not both");
	if (o->watch.threads && o->watch.children)
		die("attach: --children goes with processes, not with --tid");
	if (o->watch.paused && !o->control)
		die("attach: --delay -1 needs --control, which ends the delay");
	for (; optind < argc; optind++)
		add_targets(o, argv[optind]);
	if (o->source && o->freq)
		die("attach: -F goes with the source clock; with -s %s set the "
		    "period with -p",
		    o->source);
	if (o->source && o->watch.callers)
		die("attach: --call-paths needs the source clock: leave out -s "
		    "%s",
		    o->source);
	if (o->period && !o->source)
		die("attach: -p goes with -s pebs and -s ibs; with the clock "
		    "set the rate with -F");
	if (o->watch.group && o->targets)
		die("attach: name processes or a control group (--cgroup), not "
		    "both");
	if (!o->targets && !o->watch.group)
		die("attach: name a process: reusetrack attach PID; pgrep -l "
		    "NAME lists processes by name");
}

/* Ctrl-C and its like end us well. */
static int take_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	if (fd < 0)
		die("cannot make a signal descriptor: %s", strerror(errno));
	return fd;
}

/* Wait; false if a signal came first. */
static bool delay(uint64_t ns)
{
	struct timespec ts = { (time_t)(ns / 1000000000),
			       (long)(ns % 1000000000) };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	return sigtimedwait(&set, NULL, &ts) < 0;
}

/* The processes that are in the control groups now. */
static struct listing list_group(struct options *o)
{
	struct listing l = group_scan(&o->group, NULL);

	if (!l.n && o->group.why)
		die("cannot attach: no process of the control group can be "
		    "watched: %s",
		    o->group.why);
	if (!l.n)
		die("cannot attach: no process is in the control group %s; "
		    "cat /proc/PID/cgroup shows those of a process",
		    safe_text(o->group.cgroups.name[0]));
	return l;
}

/* Why the hardware does not sample here, before anything is made. */
static void plan_source(struct options *o)
{
	struct pmu_wish wish = {
		.period = o->period ? strtoull(o->period, NULL, 10) : 0,
	};
	char *why;

	if (!o->source)
		return;
	why = hardware_plan(&o->plan, &perf_kernel_linux,
			    strcmp(o->source, "pebs") ? PMU_IBS : PMU_PEBS,
			    &wish);
	if (why)
		die("cannot attach: %s", why);
	o->watch.plan = &o->plan;
}

static void check_targets(const struct options *o)
{
	for (size_t i = 0; i < o->targets; i++) {
		char *why = permission_denied(o->target[i], o->watch.threads);

		if (why)
			die("cannot attach: %s", why);
	}
}

static void say_registers(const struct profile *p, int wanted)
{
	const struct cdp_header *h = &profile_main_process(p)->header;

	if (h->registers >= (uint32_t)wanted)
		return;
	warn("%u of %d debug registers were free: %s; %s sharing is found "
	     "without; end the other one, and attach again",
	     h->registers, wanted, safe_text(h->registers_reason),
	     h->registers ? "less" : "much less");
}

static void say_left_out(const struct group *g)
{
	if (g->why)
		warn("%" PRIu64 " process%s of the control group %s not "
		     "watched: %s",
		     g->left_out_ever, g->left_out_ever == 1 ? "" : "es",
		     g->left_out_ever == 1 ? "was" : "were", g->why);
}

static int say_end(enum watch_end end, const struct watch_sums *sums, int dirfd,
		   const char *path, int registers)
{
	struct profile p;
	int err = profile_load(&p, path);
	bool goes_on = end != WATCH_ALL_ENDED;

	if (!err && p.processes) {
		/* It may have executed what we may not watch. */
		goes_on |=
			profile_main_process(&p)->header.state == CDP_STOPPED;
		jit_files_save(&p, dirfd);
		say_registers(&p, registers);
		output_say(&p, path);
	} else {
		warn("cannot read what was recorded in %s", output_name(path));
	}
	warn("%s; the watcher took %s of CPU time, %.2g %% of a processor",
	     goes_on ? "what was watched goes on"
		     : "what was watched has ended",
	     duration_text(sums->cpu_ns),
	     sums->ns ? 100.0 * (double)sums->cpu_ns / (double)sums->ns : 0);
	profile_release(&p);
	return err != 0;
}

/* For tests of how accesses are chosen. */
static void open_sample_log(const char *path)
{
	int err = path && *path ? sample_log_open(path) : 0;

	if (err)
		die("cannot write COMDET_SAMPLE_LOG=%s: %s", safe_text(path),
		    strerror(-err));
}

static int run_attach(int argc, char **argv)
{
	char run_id[OUTDIR_RUN_ID_BYTES], path[PATH_MAX];
	struct watch_sums sums;
	struct control control;
	struct listing group = { 0 };
	struct options o;
	struct watcher *w;
	enum watch_end end;
	char *why;
	int dirfd, status;

	read_options(&o, argc, argv);
	check_targets(&o);
	plan_source(&o);
	if (o.watch.group)
		group = list_group(&o);
	if (o.control) {
		control_open(&control, "--control", o.control, 0);
		o.watch.control = &control;
	}
	o.watch.stop = take_signals();
	if (o.delay && !delay(o.delay))
		return 0;
	open_sample_log(getenv("COMDET_SAMPLE_LOG"));
	o.watch.progress = isatty(STDERR_FILENO);
	dirfd = output_make(o.out, run_id, path);
	o.watch.dirfd = dirfd;
	o.watch.run_id = run_id;
	w = watcher_attach(&o.watch, o.watch.group ? group.pid : o.target,
			   o.watch.group ? group.n : o.targets, &why);
	if (!w) {
		output_remove_if_empty(dirfd, path);
		die("cannot attach: %s", why);
	}
	end = watcher_run(w);
	watcher_close(w, &sums);
	say_left_out(&o.group);
	status = say_end(end, &sums, dirfd, path, o.watch.registers);
	listing_release(&group);
	group_release(&o.group);
	close(dirfd);
	close(o.watch.stop);
	return status;
}

const struct command cmd_attach = {
	.name = "attach",
	.summary = "profile processes that are running already",
	.usage = "usage: reusetrack attach [OPTION...] PID...\n"
		 "       reusetrack attach [OPTION...] --tid TID...\n"
		 "       reusetrack attach [OPTION...] --cgroup GROUP\n"
		 "\n"
		 "Watches running programs from outside, also static and "
		 "managed ones, and writes\n"
		 "their profile to the directory out. They are not stopped, "
		 "and nothing is loaded\n"
		 "into them. Ends when they have ended, after --duration, or "
		 "with Ctrl-C.\n"
		 "\n"
		 "  -o, --output DIR    where to write; default out "
		 "(COMDET_OUT)\n"
		 "  -F, --freq HZ       samples a second of a thread's CPU "
		 "time, 1 to 20000;\n"
		 "                      default 200\n"
		 "  -s, --source SOURCE  clock, the default; pebs or ibs: the "
		 "processor samples\n"
		 "  -p, --period N      accesses (pebs) or ops (ibs) between "
		 "samples;\n"
		 "                      default 500000\n"
		 "      --budget PERCENT  of their CPU time, that the watcher "
		 "may take\n"
		 "      --registers N   debug registers to use, 0 to 4\n"
		 "      --children      also processes that they have started "
		 "or will start\n"
		 "  -g, --call-paths    also the calls that led to both "
		 "accesses of a detection\n"
		 "      --delay S       seconds to wait before sampling\n"
		 "      --duration S    seconds to sample; 0, the default: "
		 "until they have ended\n"
		 "      --tid TID       only this thread; several are "
		 "separated by commas\n"
		 "      --cgroup GROUP  all processes of a control group, also "
		 "those to come:\n"
		 "                      its path, or a part of it, such as a "
		 "container's ID\n"
		 "      --control SPEC  fifo:COMMANDS[,ANSWERS] or "
		 "fd:COMMANDS[,ANSWERS], where\n"
		 "                      other programs say enable, disable, "
		 "ping and stop;\n"
		 "                      --delay -1 begins disabled\n"
		 "\n"
		 "Memory that processes share is found between all processes "
		 "that one attach\n"
		 "watches. The exit status is 0, also after Ctrl-C, or 1 if "
		 "nothing was recorded.\n",
	.run = run_attach,
};
