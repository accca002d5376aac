/* SPDX-License-Identifier: MIT */
/*
 * machine - list and print the machines that simulate knows
 */
#include <getopt.h>
#include <stdlib.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"
#include "analysis/model/machine_host.h"
#include "analysis/model/machine_measure.h"
#include "analysis/model/machine_shipped.h"

enum {
	CHANGES_MAX = 64
};

static const struct option long_options[] = {
	{ "list", no_argument, NULL, 'l' },
	{ "host", no_argument, NULL, 'o' },
	{ "measure", no_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 's' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void list(void)
{
	const char *name, *words;

	for (size_t i = 0; (name = machine_shipped_name(i, &words)); i++)
		printf("%-12s %s\n", name, words);
}

static void say_missing(const struct machine_times *t)
{
	const struct {
		double measured;
		const char *what;
	} all[] = {
		{ t->rmw_ns, "what a load of stored data takes" },
		{ t->rmw_double_ns, "the same of a double" },
		{ t->l2_ns, "the latency of L2" },
		{ t->set_load_ns, "loads that miss in one set of L1D" },
		{ t->set_store_ns, "stores that miss in one set of L1D" },
		{ t->llc_ns, "the latency of the LLC" },
		{ t->memory_ns, "the latency of memory" },
		{ t->next_ns, "how far the prefetcher runs ahead" },
		{ t->bandwidth_gbs, "the bandwidth of memory" },
		{ t->round_trip_ns, "a line's way between two cores" },
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		if (!(all[i].measured > 0))
			warn("machine: could not measure %s; what is printed "
			     "for it is that of a machine like this one",
			     all[i].what);
	if (t->llc_ns > 0 && !(t->llc_bytes > 0))
		warn("machine: could not measure how much of the LLC there "
		     "is; what is printed is what the processor says");
}

static void measure_host(struct machine *m)
{
	struct machine_times t;

	machine_measure(m, &t);
	machine_take_times(m, &t);
	say_missing(&t);
}

static int run_machine(int argc, char **argv)
{
	const struct option_syntax syntax = { "machine", cmd_machine.usage,
					      ":h", long_options };
	const char *change[CHANGES_MAX];
	char error[MACHINE_ERROR_BYTES];
	int letter, changes = 0;
	bool host = false, measure = false;
	struct machine m;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'l') {
			list();
			return 0;
		}
		if (letter == 'o')
			host = true;
		if (letter == 'm')
			measure = true;
		if (letter == 's' && changes < CHANGES_MAX)
			change[changes++] = optarg;
	}
	if (argc - optind != !host)
		die("machine: name one machine or file, or use --host or "
		    "--list");
	if (measure && !host)
		die("machine: --measure goes with --host");
	if (host) {
		machine_host(&m);
		if (measure)
			measure_host(&m);
	} else if (machine_read(&m, argv[optind], error))
		die("machine: %s", error);
	for (int i = 0; i < changes; i++)
		if (machine_set(&m, change[i], error))
			die("machine: --set %s: %s", safe_text(change[i]),
			    error);
	if (machine_check(&m, error))
		die("machine: %s", error);
	machine_print(&m, stdout);
	return 0;
}

const struct command cmd_machine = {
	.name = "machine",
	.summary = "list and print the machines that simulate knows",
	.usage =
		"usage: reusetrack machine [--set KEY=VALUE]... NAME|FILE\n"
		"       reusetrack machine [--set KEY=VALUE]... --host "
		"[--measure]\n"
		"       reusetrack machine --list\n\n"
		"Prints a machine as a machine file, with what each key "
		"means.\n\n"
		"      --list           the machines that are part of "
		"reusetrack\n"
		"      --host           this machine: its caches, cores and "
		"frequency; what the\n"
		"                       processor does not tell is that of the "
		"shipped machine\n"
		"                       that is most like it\n"
		"      --measure        with --host: measure frequency, "
		"latencies and\n"
		"                       bandwidth, for some seconds, on an "
		"idle machine\n"
		"      --set KEY=VALUE  change a value, for example "
		"l2.size=1M\n",
	.run = run_machine,
};
