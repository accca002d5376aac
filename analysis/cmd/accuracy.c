/* SPDX-License-Identifier: MIT */
/*
 * accuracy - measure how close the estimates are to exact counts
 *
 * Runs the microbenchmarks under the source emu, sampled and exact over the
 * same accesses, suite by suite, and compares estimates with counts. The exit
 * status is 1 if any row fails its bound.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "analysis/accuracy/accuracy.h"
#include "analysis/accuracy/pmu_study.h"
#include "analysis/accuracy/print.h"
#include "analysis/accuracy/rppm_study.h"
#include "analysis/accuracy/run.h"
#include "analysis/accuracy/simulate_study.h"
#include "analysis/accuracy/suites.h"
#include "analysis/base/library.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"

enum {
	SLICE_DEFAULT = 30,
	SLICE_MIN = 1,
	SLICE_MAX = 1000 * 1000,
	JOBS_MAX = 64,
	MINUTES_MAX = 100000,
};

static const struct option options[] = {
	{ "suite", required_argument, NULL, 's' },
	{ "source", required_argument, NULL, 'o' },
	{ "reference", required_argument, NULL, 'R' },
	{ "short", no_argument, NULL, 'S' },
	{ "json", no_argument, NULL, 'j' },
	{ "slice", required_argument, NULL, 'l' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "minutes", required_argument, NULL, 'm' },
	{ "keep", required_argument, NULL, 'k' },
	{ "resume", no_argument, NULL, 'r' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* By the number in accuracy_suites: run it. */
static bool wanted[32];
/* These have no trials, and run only if they are named. */
static bool precise, simulated, predicted;
static const char *reference;
static const char *pmu_study_sources;

static void want_suite(const char *name)
{
	size_t i = 0;

	if (!strcmp(name, "precise")) {
		precise = true;
		return;
	}
	if (!strcmp(name, "simulate")) {
		simulated = true;
		return;
	}
	if (!strcmp(name, "rppm")) {
		predicted = true;
		return;
	}
	while (i < accuracy_suite_count &&
	       strcmp(accuracy_suites[i]->name, name) != 0)
		i++;
	if (i == accuracy_suite_count)
		die("--suite: there is no '%s'; reusetrack accuracy --help "
		    "lists them",
		    safe_text(name));
	wanted[i] = true;
}

/* Names of suites, separated by commas; longer ones than @name are cut. */
static void want(const char *names)
{
	char name[32];
	size_t n;

	for (;; names += n + 1) {
		n = strcspn(names, ",");
		snprintf(name, sizeof(name), "%.*s", (int)n, names);
		want_suite(name);
		if (!names[n])
			return;
	}
}

static void read_options(int argc, char **argv, struct accuracy *all)
{
	const struct option_syntax syntax = { "accuracy", cmd_accuracy.usage,
					      ":h", options };
	bool some = false;
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		switch (letter) {
		case 's':
			want(optarg);
			some = true;
			break;
		case 'o':
			pmu_study_sources = optarg;
			break;
		case 'R':
			reference = optarg;
			break;
		case 'S':
			all->short_form = true;
			break;
		case 'j':
			all->json = true;
			break;
		case 'l':
			all->slice = (uint64_t)whole_number(
				"--slice", optarg, SLICE_MIN, SLICE_MAX);
			break;
		case 'J':
			all->jobs = (unsigned int)whole_number("--jobs", optarg,
							       1, JOBS_MAX);
			break;
		case 'm':
			all->minutes = whole_number("--minutes", optarg, 0,
						    MINUTES_MAX);
			break;
		case 'k':
			all->keep = optarg;
			break;
		case 'r':
			all->resume = true;
			break;
		}
	}
	if (all->resume && !all->keep)
		die("--resume needs --keep DIR, where the recordings are");
	if (pmu_study_sources && !precise)
		die("--source needs the suite precise: add --suite precise");
	if (reference && !simulated && !predicted)
		die("--reference needs the suite simulate or rppm: add --suite "
		    "simulate");
	if (optind < argc)
		die("accuracy takes no argument '%s'; choose suites with "
		    "--suite",
		    safe_text(argv[optind]));
	for (size_t i = 0; !some && i < accuracy_suite_count; i++)
		wanted[i] = !all->short_form || accuracy_suites[i]->in_short;
}

static void run_suite(struct accuracy *all, const struct accuracy_suite *s)
{
	size_t first = all->trials, rows = all->rows;

	all->suite_first = first;
	s->plan(all);
	accuracy_run(all, s);
	if (all->trials == first)
		return;
	if (!all->json)
		accuracy_print_suite(s);
	for (size_t i = first; i < all->trials; i++)
		if (all->trial[i].failed)
			warn("%s, %s: %s", s->name, all->trial[i].label,
			     safe_text(all->trial[i].failed));
	s->judge(all, first);
	if (!all->json)
		accuracy_print_rows(all, rows);
}

static int run_accuracy(int argc, char **argv)
{
	struct accuracy all = {
		.slice = SLICE_DEFAULT,
		.jobs = 1,
		.minutes = -1,
	};
	size_t count[3] = { 0 };
	bool others = false;
	size_t first;

	read_options(argc, argv, &all);
	for (size_t i = 0; i < accuracy_suite_count; i++)
		others |= wanted[i];
	if ((others || simulated || predicted) && !in_path("qemu-x86_64"))
		die("cannot find qemu-x86_64, under which the microbenchmarks "
		    "run; install the package qemu-user (apt install "
		    "qemu-user)");
	for (size_t i = 0; i < accuracy_suite_count; i++)
		if (wanted[i])
			run_suite(&all, accuracy_suites[i]);
	if (precise)
		pmu_study_run_all(&all, pmu_study_sources);
	first = all.rows;
	if (simulated) {
		simulate_study_run(&all, reference);
		if (!all.json)
			accuracy_print_rows(&all, first);
	}
	first = all.rows;
	if (predicted) {
		rppm_study_run(&all, reference);
		if (!all.json)
			accuracy_print_rows(&all, first);
	}
	if (all.left_out)
		warn("%zu runs left out for lack of time%s", all.left_out,
		     all.keep ? "; --resume runs them"
			      : "; with --keep DIR, --resume could run them");
	for (size_t i = 0; i < all.rows; i++)
		count[all.row[i].verdict]++;
	if (all.json)
		accuracy_print_json(&all);
	else
		printf("%zu of %zu rows within their bounds, %zu without a "
		       "bound\n",
		       count[ACCURACY_PASSED],
		       count[ACCURACY_PASSED] + count[ACCURACY_FAILED],
		       count[ACCURACY_SHOWN]);
	return count[ACCURACY_FAILED] || !all.rows;
}

const struct command cmd_accuracy = {
	.name = "accuracy",
	.summary = "compare estimates with exact counts, on microbenchmarks",
	.usage =
		"usage: reusetrack accuracy [OPTION...]\n\nRuns "
		"microbenchmarks under the source emu, sampled and exact over "
		"the same\naccesses, and prints what was estimated beside "
		"what was counted. The exit\nstatus is 1 if any row fails its "
		"bound.\n\n  --suite NAME[,...]  only these: write-volume, "
		"patterns,\n                      false-sharing, read-write, "
		"point-to-point, intervals,\n                      chunks, "
		"registers, board, operations, placement,\n                   "
		"   periods, slices, estimators; precise\n           "
		"           (loops with known samples) simulate, rppm "
		"(the\n                      simulator and predictions against "
		"a reference; 77 if\n                      absent) run only if "
		"named\n"
		"  --reference DIR     simulate, rppm: the folder of the "
		"reference\n"
		"  --source NAME[,...] precise: "
		"clock, emu, instr, pebs, ibs (all that open)\n  --short      "
		"       a part, within a minute; less certain\n  --slice N    "
		"       accesses in a thread's turn (30)\n  --jobs N          "
		"  runs at a time (1)\n  --minutes N         start no run "
		"after N minutes; says what is left out\n  --keep DIR         "
		" keep the recordings in DIR\n  --resume            use the "
		"recordings that are already in DIR\n  --json              "
		"one JSON object instead of tables\n",
	.run = run_accuracy,
};
