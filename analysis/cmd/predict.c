/* SPDX-License-Identifier: MIT */
/*
 * predict - say what a profile implies for another machine
 *
 * For one that a file describes (predict/predict.h), and for this one if it
 * prefetched the adjacent line (locality/adjacent.h).
 */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "analysis/base/json_build.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/locality/adjacent.h"
#include "analysis/locality/mrc.h"
#include "analysis/model/machine.h"
#include "analysis/predict/equation.h"
#include "analysis/predict/known.h"
#include "analysis/predict/predict.h"
#include "analysis/predict/predict_print.h"
#include "analysis/predict/sampled_memory.h"
#include "analysis/predict/workload_file.h"
#include "analysis/predict/workload_open.h"
#include "src/base/regular_file.h"

enum {
	LINE_MAX_BYTES = 256,
	CHANGES_MAX = 64,
	MACHINES_MAX = 64,
};
#define NS_MAX    1e6
#define BYTES_MAX 1e15

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

static struct latency exactly(double ns)
{
	return (struct latency){ .ns = ns, .by = { ns, ns } };
}

/* Set the value @name of the file; false if there is no such name. */
static bool set(struct adjacent_machine *m, const char *name, double value)
{
	if (!strcmp(name, "dram_ns"))
		m->dram = exactly(value);
	else if (!strcmp(name, "transfer_ns"))
		m->transfer = exactly(value);
	else if (!strcmp(name, "llc_bytes"))
		m->llc_bytes = (uint64_t)value;
	else if (!strcmp(name, "private_bytes"))
		m->private_bytes = (uint64_t)value;
	else
		return false;
	return true;
}

/* Read lines "NAME VALUE"; '#' begins a comment. */
static void read_latencies(struct adjacent_machine *m, const char *path)
{
	char line[LINE_MAX_BYTES];
	int fd = regular_file_open(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");

	if (!f)
		die("cannot open %s: %s", safe_text(path),
		    regular_file_error(fd < 0 ? fd : -errno));
	for (int n = 1; fgets(line, sizeof(line), f); n++) {
		char name[32], rest[2];
		double value;
		int words;

		line[strcspn(line, "#\n")] = 0;
		if (strspn(line, " \t\r") == strlen(line))
			continue;
		words = sscanf(line, "%31s %lf %1s", name, &value, rest);
		if (words != 2 || !(value > 0) ||
		    value > (strstr(name, "_ns") ? NS_MAX : BYTES_MAX) ||
		    !set(m, name, value))
			die("%s, line %d: needs dram_ns, transfer_ns, "
			    "llc_bytes or private_bytes and a number above 0, "
			    "not '%s'",
			    safe_text(path), n, safe_text(line));
	}
	fclose(f);
	if (!(m->dram.ns > 0) || !(m->transfer.ns > 0))
		die("%s has no line '%s NUMBER'", safe_text(path),
		    m->dram.ns > 0 ? "transfer_ns" : "dram_ns");
}

/* Take the largest private cache and the largest of all. */
static void take_caches(struct adjacent_machine *m,
			const struct reuse_streams *s)
{
	for (size_t i = 0; i < s->caches; i++) {
		const struct host_cache *c = &s->cache[i];

		if (c->shared || i + 1 == s->caches)
			m->llc_bytes = c->bytes;
		if (!c->shared && (i + 1 < s->caches || !i))
			m->private_bytes = c->bytes;
	}
}

static void measure(struct adjacent_machine *m)
{
	int err = latency_of_transfer(&m->transfer);

	if (err == -ENODEV)
		die("predict: cannot measure transfers between cores: this "
		    "process may use only one processor; give latencies "
		    "measured elsewhere with --latencies FILE");
	if (!err)
		err = latency_of_dram(m->llc_bytes, &m->dram);
	if (err)
		die("predict: cannot measure latencies: %s; give them with "
		    "--latencies FILE",
		    strerror(-err));
}

static struct adjacent_machine machine_of(const struct options *o,
					  const struct reuse_streams *s)
{
	struct adjacent_machine m = { 0 };

	take_caches(&m, s);
	if (o->latencies)
		read_latencies(&m, o->latencies);
	if (!m.llc_bytes || !m.private_bytes)
		die("predict: this machine does not say how large its caches "
		    "are; give llc_bytes and private_bytes with --latencies "
		    "FILE");
	if (!o->latencies)
		measure(&m);
	return m;
}

static json_t *json_interval(double value, struct interval by)
{
	json_t *j = json_pack("{s:f,s:f,s:f}", "estimate", value, "low", by.low,
			      "high", by.high);

	if (!j)
		die("out of memory");
	return j;
}

static const char *const verdicts[] = {
	[ADJACENT_GAIN] = "gain",
	[ADJACENT_LOSS] = "loss",
	[ADJACENT_NOTHING] = "nothing",
	[ADJACENT_OPEN] = "open",
};

static void predict_json(const struct adjacent *a,
			 const struct adjacent_machine *m, bool measured)
{
	json_t *j = json_pack(
		"{s:i,s:{s:s,s:f,s:o,s:o,s:o,s:o,s:o,s:s,s:I,s:I}}", "schema",
		1, "adjacent_line_prefetch", "verdict", verdicts[a->verdict],
		"accesses", a->accesses, "gain_ns",
		json_interval(a->gain.value, a->gain.by), "dram_reuses",
		json_interval(a->dram.value, a->dram.by), "sharing_reuses",
		json_interval(a->sharing.value, a->sharing.by), "dram_ns",
		json_interval(m->dram.ns, m->dram.by), "transfer_ns",
		json_interval(m->transfer.ns, m->transfer.by), "latencies",
		measured ? "measured" : "given", "llc_bytes",
		(json_int_t)m->llc_bytes, "private_bytes",
		(json_int_t)m->private_bytes);

	json_print(j);
}

/* A time with its sign. */
static const char *time_text(double ns)
{
	static char text[8][48];
	static int next;
	char *t = text[next++ % 8];

	snprintf(t, sizeof(text[0]), "%s%s", ns < 0 ? "-" : "",
		 duration_text((uint64_t)fmin(fabs(ns), 1e18)));
	return t;
}

static const char *whole(double x)
{
	return count_text((uint64_t)fmin(fmax(x + 0.5, 0), 1e18));
}

static void print_reuses(const char *what, const struct adjacent_estimate *e,
			 const char *latency, const struct latency *l)
{
	printf("  %-6s  %s (95 %%: %s to %s)\n", what, whole(e->value),
	       whole(e->by.low), whole(e->by.high));
	printf("  %-6s  %.1f ns", latency, l->ns);
	if (l->by.high > l->by.low)
		printf(" (95 %%: %.1f to %.1f)", l->by.low, l->by.high);
	printf("; together %s\n", time_text(e->value * l->ns));
}

static void print_text(const struct adjacent *a,
		       const struct adjacent_machine *m, bool measured)
{
	static const char *const said[] = {
		[ADJACENT_GAIN] =
			"likely a gain: lines that come back from DRAM in "
			"order outweigh those that are falsely shared",
		[ADJACENT_LOSS] =
			"likely a loss: falsely shared lines outweigh those "
			"that come back from DRAM in order",
		[ADJACENT_NOTHING] =
			"no difference: neither lines that come back from DRAM "
			"in order nor falsely shared ones were found",
		[ADJACENT_OPEN] = "open: the interval of G contains 0; record "
				  "with a smaller period to narrow it",
	};

	printf("Adjacent-line prefetch: ");
	print_wrapped(stdout, said[a->verdict],
		      strlen("Adjacent-line "
			     "prefetch: "),
		      2);
	printf("\n  G = R_dram L_dram - R_fs L_fs = %s (95 %%: %s to %s)\n\n",
	       time_text(a->gain.value), time_text(a->gain.by.low),
	       time_text(a->gain.by.high));
	print_reuses("R_dram", &a->dram, "L_dram", &m->dram);
	print_reuses("R_fs", &a->sharing, "L_fs", &m->transfer);
	printf("\n  ");
	print_wrapped(stdout,
		      "R_dram and R_fs count accesses of the program that "
		      "reuse a line but no byte of it: R_dram those within a "
		      "thread after the line has left the shared cache, R_fs "
		      "those by another core, of stored data, while the line "
		      "is still in a private cache.",
		      2, 2);
	printf("  %s accesses; shared cache %s,", whole(a->accesses),
	       size_text((double)m->llc_bytes));
	printf(" private %s; latencies %s.\n",
	       size_text((double)m->private_bytes),
	       measured ? "measured here" : "as given");
	printf("  ");
	print_wrapped(stdout,
		      "The sign of G is the prediction; its size is not the "
		      "time saved.",
		      2, 2);
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

static int run_adjacent(const struct options *asked)
{
	struct adjacent_machine machine;
	struct options o = *asked;
	struct reuse_streams streams;
	struct adjacent result;
	const char *lacks;
	struct profile p;
	int status;

	profile_open(&p, o.dir);
	status = p.bad_files ? 1 : 0;
	reuse_streams_init(&streams, &p);
	lacks = adjacent_lacks(&streams);
	if (lacks)
		die("predict: cannot predict from %s: %s", safe_text(o.dir),
		    lacks);
	machine = machine_of(&o, &streams);
	adjacent_predict(&result, &streams, &machine);
	if (o.json)
		predict_json(&result, &machine, !o.latencies);
	else
		print_text(&result, &machine, !o.latencies);
	reuse_streams_release(&streams);
	profile_release(&p);
	return status;
}

static int run_predict(int argc, char **argv)
{
	struct options o;

	parse_options(argc, argv, &o);
	return o.machines ? run_on_machines(&o) : run_adjacent(&o);
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
