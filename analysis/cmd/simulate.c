/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine that need not exist
 */
#include <getopt.h>
#include <stdlib.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"
#include "analysis/model/simulate.h"
#include "analysis/model/simulate_print.h"
#include "analysis/model/trace.h"

enum {
	CHANGES_MAX = 64,
	MACHINES_MAX = 64,
};

struct options {
	const char *machine[MACHINES_MAX], *change[CHANGES_MAX], *trace;
	int machines, changes;
	bool json;
};

static const struct option long_options[] = {
	{ "machine", required_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 's' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "simulate", cmd_simulate.usage,
					      ":h", long_options };
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'm' && o->machines < MACHINES_MAX)
			o->machine[o->machines++] = optarg;
		else if (letter == 's' && o->changes < CHANGES_MAX)
			o->change[o->changes++] = optarg;
		else if (letter == 'j')
			o->json = true;
		else
			die("simulate: too many --machine or --set");
	}
	o->trace = directory_argument("simulate", argc, argv);
	if (!o->machines)
		die("simulate: say on which machine: --machine NAME or FILE; "
		    "reusetrack machine --list shows the names");
}

static void read_machine(struct machine *m, const struct options *o, int i)
{
	char error[MACHINE_ERROR_BYTES];

	if (machine_read(m, o->machine[i], error))
		die("simulate: %s", error);
	for (int k = 0; k < o->changes; k++)
		if (machine_set(m, o->change[k], error))
			die("simulate: --set %s: %s", safe_text(o->change[k]),
			    error);
	if (machine_check(m, error))
		die("simulate: %s", error);
}

static int run_simulate(int argc, char **argv)
{
	static struct machine machine[MACHINES_MAX];
	char error[TRACE_ERROR_BYTES];
	struct options o = { 0 };
	struct simulated result;
	struct trace trace;

	parse_options(argc, argv, &o);
	for (int i = 0; i < o.machines; i++)
		read_machine(&machine[i], &o, i);
	if (trace_open(&trace, o.trace, error))
		die("simulate: %s: %s", safe_text(o.trace), error);
	if (trace.warning)
		warn("simulate: %s: %s", safe_text(o.trace), trace.warning);
	for (int i = 0; i < o.machines; i++) {
		if (simulate(&result, &trace, &machine[i], error))
			die("simulate: %s: %s", safe_text(o.trace), error);
		if (i && !o.json)
			putchar('\n');
		if (o.json)
			simulate_print_json(&result, &machine[i]);
		else
			simulate_print_text(&result, &machine[i]);
		simulated_release(&result);
	}
	trace_close(&trace);
	return 0;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.summary = "run a trace on a machine that need not exist",
	.usage = "usage: reusetrack simulate --machine NAME|FILE [OPTION...] "
		 "[TRACE]\n\n"
		 "Simulates the trace in the file or directory TRACE, default "
		 "out, in every cycle\nof an out-of-order machine, and prints "
		 "its time, where its cycles go, and its\nmisses. Record a "
		 "trace with record -s emu -m trace.\n\n"
		 "      --machine NAME|FILE  may be given several times; see "
		 "reusetrack machine\n"
		 "      --set KEY=VALUE      change a value of the machines, "
		 "for example\n"
		 "                           l2.size=1M\n"
		 "      --json               an object in a line for each "
		 "machine\n",
	.run = run_simulate,
};
