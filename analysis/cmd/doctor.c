/* SPDX-License-Identifier: MIT */
/*
 * doctor - print what works on this machine and how to get what is missing
 *
 * The findings of doctor/doctor.h as text or JSON. The exit status is 0 if at
 * least one source can be used.
 */
#include <getopt.h>
#include <jansson.h>
#include <string.h>

#include "command.h"
#include "analysis/base/json_build.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/doctor/doctor.h"

enum {
	NAME_COLUMNS = 19
};

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
	puts("\nRunning programs (reusetrack attach)");
	print_finding(&d->attach, colour, "usable", "no    ");
	puts("\nWhat was tried and looked at");
	for (int i = 0; i < d->checks; i++)
		print_finding(&d->check[i], colour, "good  ", "bad   ");
	if (doctor_source(d, "clock")->good)
		puts("\nNext: reusetrack record -- ./program");
	else if (doctor_source(d, "emu")->good)
		puts("\nNext: reusetrack record -s emu -- ./program");
}

static json_t *finding_json(const struct finding *f, const char *good)
{
	return json_pack("{s:s, s:b, s:s, s:s}", "name", f->name, good, f->good,
			 "reason", f->reason, "advice", f->advice);
}

static int doctor_json(const struct diagnosis *d)
{
	json_t *sources = json_array(), *checks = json_array();

	for (int i = 0; i < d->sources; i++)
		json_array_append_new(sources,
				      finding_json(&d->source[i], "usable"));
	for (int i = 0; i < d->checks; i++)
		json_array_append_new(checks,
				      finding_json(&d->check[i], "good"));
	return json_print(json_pack(
		"{s:i, s:o, s:{s:b, s:i, s:b, s:s, s:s}, s:{s:b, s:s, s:s}, "
		"s:o}",
		"schema", 1, "sources", sources, "debug_registers", "usable",
		d->registers.good, "count", d->register_count, "range_64",
		d->range_64, "reason", d->registers.reason, "advice",
		d->registers.advice, "attach", "usable", d->attach.good,
		"reason", d->attach.reason, "advice", d->attach.advice,
		"checks", checks));
}

static int run_doctor(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ "color", required_argument, NULL, 'c' },
		{ NULL, 0, NULL, 0 },
	};
	struct diagnosis d;
	const struct option_syntax syntax = { "doctor", cmd_doctor.usage, ":j",
					      long_options };
	int letter, mode = COLOUR_AUTO;
	bool json = false, usable = false;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		if (letter == 'j')
			json = true;
		else
			mode = colour_parse(optarg);
		if (mode < 0)
			die("doctor: --color is auto, always or never, not "
			    "'%s'",
			    safe_text(optarg));
	}
	if (optind < argc)
		die("doctor takes no argument; see reusetrack doctor --help");
	doctor_diagnose(&d);
	for (int i = 0; i < d.sources; i++)
		usable |= d.source[i].good;
	if (json) {
		if (doctor_json(&d))
			return 1;
	} else {
		print_text(&d, colour_wanted(mode, stdout));
	}
	return usable ? 0 : 1;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "try what works on this machine, and say what is missing",
	.usage = "usage: reusetrack doctor [--json] [--color WHEN]\n\n"
		 "Tries each source of samples, the debug registers, and "
		 "whether "
		 "attach may watch\n"
		 "running processes, by doing it, and says what is missing and "
		 "how to get it. The\n"
		 "exit status is 0 if at least one source can be used, else "
		 "1.\n\n"
		 "      --json          one JSON object instead of text\n"
		 "      --color WHEN    auto, always or never\n",
	.run = run_doctor,
};
