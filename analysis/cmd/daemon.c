/* SPDX-License-Identifier: MIT */
/*
 * daemon - profile the busy processes of the machine, in turns
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/daemon/daemon.h"
#include "analysis/daemon/choice.h"

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	{ "output", required_argument, NULL, 'o' },
	{ "slice", required_argument, NULL, 's' },
	{ "duration", required_argument, NULL, 'd' },
	{ "roll-size", required_argument, NULL, 'z' },
	{ "roll-age", required_argument, NULL, 'a' },
	{ "keep", required_argument, NULL, 'k' },
	{ "socket", required_argument, NULL, 'S' },
	{ "listen", required_argument, NULL, 'l' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void take_option(struct daemon_options *o, struct busy_filter *f,
			int letter)
{
	if (choice_take(o, f, letter, optarg))
		return;
	switch (letter) {
	case 'o':
		o->out = optarg;
		break;
	case 's':
		o->slice = choice_ns("--slice", optarg, 0.1, 3600);
		if (o->first_slice > o->slice)
			o->first_slice = o->slice;
		break;
	case 'd':
		o->duration = choice_ns("--duration", optarg, 0, 1e8);
		break;
	case 'z':
		o->roll_bytes = (uint64_t)whole_number("--roll-size", optarg, 1,
						       1 << 20)
				<< 20;
		break;
	case 'a':
		o->roll_age = choice_ns("--roll-age", optarg, 1, 1e8);
		break;
	case 'S':
		o->socket = optarg;
		break;
	case 'l':
		o->port = (uint16_t)whole_number("--listen", optarg, 1, 65535);
		break;
	case 'k':
		o->keep = whole_number("--keep", optarg, 1, 100000);
		break;
	}
}

static int run_daemon(int argc, char **argv)
{
	const struct option_syntax syntax = { .verb = "daemon",
					      .usage = cmd_daemon.usage,
					      .letters = ":o:F:p:h",
					      .options = long_options };
	struct machine_watch *w = xcalloc(1, sizeof(*w));
	struct daemon_options o;
	int letter, status;

	choice_defaults(&o);
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		take_option(&o, &w->busy.filter, letter);
	if (optind < argc)
		die("daemon takes no argument; name processes with --pid");
	daemon_init(w, &o);
	status = daemon_run(w);
	daemon_release(w);
	free(w);
	return status;
}

const struct command cmd_daemon = {
	.name = "daemon",
	.summary = "profile the busy processes of the machine, in turns",
	.usage =
		"usage: reusetrack daemon [OPTION...]\n\nWatches the processes "
		"that use processors, in turns and from outside, as attach\n"
		"does, and writes profiles for report below one directory. It "
		"ends with\nSIGTERM or Ctrl-C. SIGHUP begins a new profile.\n\n"
		"Which processes; without any of these, all:\n"
		"  -p, --pid PID       these; several are separated by commas\n"
		"      --name PATTERN  those with such a name, as in 'java*'\n"
		"      --cgroup GROUP  those of a control group: its path, or "
		"a "
		"part of it,\n                      such as the ID of a "
		"container\n"
		"      --user USER     those of this user\n\n"
		"How:\n"
		"      --budget P      percent of all processors that watching "
		"may take, its own\n                      CPU time and what "
		"the "
		"processes lose; default 1\n"
		"  -F, --freq HZ       samples a second of a thread's CPU "
		"time, "
		"1 to 20000;\n                      default 200\n"
		"      --registers N   debug registers to use, 0 to 4\n"
		"      --slice S       seconds that processes are watched at a "
		"time; default 10\n"
		"      --duration S    end after so many seconds\n\n"
		"Output:\n"
		"  -o, --output DIR    where to write; default daemon.out\n"
		"      --roll-size MB  begin a new profile when one has this "
		"size; default 64\n"
		"      --roll-age S    or this age in seconds; default 3600\n"
		"      --keep N        profiles to keep; default 24\n"
		"      --socket PATH   serve HTTP on a UNIX socket: /healthz, "
		"/metrics and\n                      /debug/pprof/sharing?"
		"seconds=N\n"
		"      --listen PORT   the same on 127.0.0.1\n",
	.run = run_daemon,
};
