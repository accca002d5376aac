/* SPDX-License-Identifier: MIT */
/*
 * predict - say what a profile implies for another machine
 *
 * For one that a file describes (predict/predict.h), and for this one if it
 * prefetched the adjacent line (predict_adjacent.h).
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "predict_adjacent.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"
#include "analysis/predict/equation.h"
#include "analysis/predict/known.h"
#include "analysis/predict/predict.h"
#include "analysis/predict/predict_print.h"
#include "analysis/predict/sampled_memory.h"
#include "analysis/predict/workload_file.h"
#include "analysis/predict/workload_open.h"

enum {
	CHANGES_MAX = 64,
	MACHINES_MAX = 64,
};

static const struct option long_options[] = {
	{ "adjacent-line-prefetch", no_argument, NULL, 'a' },
	{ "latencies", required_argument, NULL, 'l' },
	{ "machine", required_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 's' },
	{ "model", required_argument, NULL, 'M' },
	{ "literal-order", no_argument, NULL, 'L' },
	{ "micro-traces", required_argument, NULL, 't' },
	{ "memory", required_argument, NULL, 'y' },
	{ "keep", required_argument, NULL, 'k' },
	{ "equations", required_argument, NULL, 'e' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

struct options {
	bool adjacent, json;
	const char *latencies, *dir, *keep, *memory;
	const char *machine[MACHINES_MAX], *change[CHANGES_MAX];
	int machines, changes;
	struct predict_options how;
	long long leaders;
};

/* Add @text to a list that has room for @max. */
static void add_text(const char **list, int *n, int max, const char *text)
{
	if (*n == max)
		die("predict: at most %d times --machine and --set", max);
	list[(*n)++] = text;
}

static enum predict_model model_of(const char *name)
{
	int i = 0;

	while (i < PREDICT_MODELS && strcmp(name, predict_model_names[i]))
		i++;
	if (i == PREDICT_MODELS)
		die("predict: --model must be rppm, main or crit");
	return (enum predict_model)i;
}

static void check_options(const struct options *o)
{
	if (o->adjacent && o->machines)
		die("predict: --adjacent-line-prefetch does not go with "
		    "--machine");
	if (o->changes && !o->machines)
		die("predict: --set needs --machine");
	if (!o->adjacent && !o->machines)
		die("predict: say what to predict: --machine NAME or FILE, or "
		    "--adjacent-line-prefetch");
	if ((o->keep || o->memory) && !o->machines)
		die("predict: --keep and --memory need --machine");
	if (o->latencies && !o->adjacent)
		die("predict: --latencies needs --adjacent-line-prefetch");
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "predict", cmd_predict.usage,
					      ":h", long_options };
	int letter;

	optind = 1;
	*o = (struct options){ .dir = "out" };
	while ((letter = next_option(&syntax, argc, argv)) != -1) {
		switch (letter) {
		case 'a':
			o->adjacent = true;
			break;
		case 'l':
			o->latencies = optarg;
			break;
		case 'm':
			add_text(o->machine, &o->machines, MACHINES_MAX,
				 optarg);
			break;
		case 's':
			add_text(o->change, &o->changes, CHANGES_MAX, optarg);
			break;
		case 'M':
			o->how.model = model_of(optarg);
			break;
		case 'e':
			o->how.without = equation_without(optarg);
			break;
		case 'L':
			o->how.literal_order = true;
			break;
		case 't':
			o->leaders = whole_number("--micro-traces", optarg, 0,
						  INT32_MAX);
			break;
		case 'y':
			o->memory = optarg;
			break;
		case 'k':
			o->keep = optarg;
			break;
		case 'j':
			o->json = true;
			break;
		}
	}
	o->dir = directory_argument("predict", argc, argv);
	check_options(o);
}

/* The machine number @i with all changes. */
static void read_machine(struct machine *m, const struct options *o, int i)
{
	char why[MACHINE_ERROR_BYTES];
	const char *change = NULL;
	int err = machine_read(m, o->machine[i], why);

	for (int k = 0; k < o->changes && !err; k++) {
		change = o->change[k];
		err = machine_set(m, change, why);
	}
	if (err && change)
		die("predict: --set %s: %s", safe_text(change), why);
	if (err || machine_check(m, why))
		die("predict: %s", why);
}

static int run_on_machines(const struct options *o)
{
	char error[WORKLOAD_ERROR_BYTES];
	struct predict_options how = o->how;
	struct leaders leaders = { 0 };
	struct predicted result;
	struct workload w;
	struct machine m;

	for (int i = 0; i < o->machines; i++)
		read_machine(&m, o, i); /* before anything is printed */
	workload_open(&w, o->dir, "predict");
	if (o->memory)
		sampled_memory_open(&w, o->memory, "predict");
	if (o->keep && workload_file_write(&w, o->keep, error))
		die("predict: cannot write %s: %s", safe_text(o->keep), error);
	if (o->leaders) {
		leaders_choose(&leaders, &w, (size_t)o->leaders);
		how.leaders = &leaders;
		how.known = known_new(&w, &leaders);
	}
	for (int i = 0; i < o->machines; i++) {
		read_machine(&m, o, i);
		if (predict(&result, &w, &m, &how, error))
			die("predict: %s: %s", safe_text(o->dir), error);
		if (o->json)
			predict_print_json(&result, &m);
		else {
			if (i)
				putchar('\n');
			predict_print_text(&result, &m);
		}
		predicted_release(&result);
	}
	if (how.known)
		known_free(how.known);
	leaders_release(&leaders);
	workload_release(&w);
	return 0;
}

static int run_predict(int argc, char **argv)
{
	struct options o;

	parse_options(argc, argv, &o);
	if (o.machines)
		return run_on_machines(&o);
	return predict_adjacent(o.dir, o.latencies, o.json);
}

static const char usage[] =
	"usage: reusetrack predict --machine NAME|FILE [OPTION...] [PROFILE]\n"
	"       reusetrack predict --adjacent-line-prefetch [OPTION...] "
	"[DIR]\n\n"
	"Predicts how long the program takes whose profile is in the file or "
	"directory\n"
	"PROFILE, default out, and where its cycles go. Record a profile with\n"
	"record -s emu -m profile; a trace does as well.\n\n"
	"      --machine NAME|FILE  may be given several times; see reusetrack "
	"machine\n"
	"      --set KEY=VALUE      change a value of the machines: "
	"l2.size=1M\n"
	"      --model NAME         rppm, the default: all threads, which wait "
	"for each\n"
	"                           other; main: the first one alone; crit: "
	"the slowest\n"
	"      --equations LIST     paper, corrected, timed (default), or "
	"single\n"
	"                           corrections of RPPM's equation; see the "
	"man page\n"
	"      --literal-order      locks go to the thread that is least far, "
	"as in RPPM\n"
	"      --micro-traces N     time only N of them; 0, the default: all\n"
	"      --memory DIR         reuse times of lines as sampled with -m "
	"reuse,global\n"
	"      --keep FILE          write the profile to a new FILE\n"
	"      --json               an object in a line for each machine\n\n"
	"Says whether the program recorded in DIR, default out, gains by a "
	"prefetcher\n"
	"that fetches lines in pairs. Needs a recording made with -m "
	"reuse,shared.\n\n"
	"      --adjacent-line-prefetch  what to predict; required\n"
	"      --latencies FILE  dram_ns and transfer_ns, instead of measuring "
	"them;\n"
	"                        llc_bytes and private_bytes may follow\n"
	"      --json            one JSON object instead of text\n";

const struct command cmd_predict = {
	.name = "predict",
	.summary = "say how fast a program runs on another machine",
	.usage = usage,
	.run = run_predict,
};
