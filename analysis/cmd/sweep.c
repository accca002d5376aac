/* SPDX-License-Identifier: MIT */
/*
 * sweep - predict a program on many machines
 */
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/json_build.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/predict/equation.h"
#include "analysis/predict/predict_print.h"
#include "analysis/predict/sampled_memory.h"
#include "analysis/predict/sweep.h"
#include "analysis/predict/workload_open.h"

enum {
	SHARDS_MAX = 1000000,
	SHOWN = 10, /* rows of a list, in the text */
};
#define BOUND 5 /* percent */

struct options {
	const char *space, *csv, *memory;
	bool merge, json;
	double bound; /* share of the best time */
	struct sweep_options how;
};

static const struct option long_options[] = {
	{ "space", required_argument, NULL, 's' },
	{ "samples", required_argument, NULL, 'n' },
	{ "seed", required_argument, NULL, 'S' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "bound", required_argument, NULL, 'b' },
	{ "cost", required_argument, NULL, 'c' },
	{ "shard", required_argument, NULL, 'i' },
	{ "csv", required_argument, NULL, 'v' },
	{ "equation", no_argument, NULL, 'e' },
	{ "micro-traces", required_argument, NULL, 't' },
	{ "memory", required_argument, NULL, 'y' },
	{ "merge", no_argument, NULL, 'm' },
	{ "json", no_argument, NULL, 'j' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

/* "2/8": the second of eight parts. */
static void take_shard(struct sweep_options *o, const char *text)
{
	unsigned int i, n;
	char rest[2];

	if (sscanf(text, "%u/%u%1s", &i, &n, rest) != 2 || i < 1 || i > n ||
	    n > SHARDS_MAX)
		die("sweep: --shard must be I/N with I from 1 to N, not '%s'",
		    safe_text(text));
	o->shard = i - 1;
	o->shards = n;
}

static double bound_of(const char *text)
{
	char *end;
	double x = strtod(text, &end);

	if (end == text || *end || !(x >= 0 && x <= 1000))
		die("sweep: --bound must be a number of percent from 0 to "
		    "1000");
	return x / 100;
}

static void take_option(struct options *o, int letter)
{
	switch (letter) {
	case 's':
		o->space = optarg;
		break;
	case 'n':
		o->how.samples = (uint64_t)whole_number("--samples", optarg, 1,
							100000000);
		break;
	case 'S':
		o->how.seed =
			(uint64_t)whole_number("--seed", optarg, 0, INT32_MAX);
		break;
	case 'J':
		o->how.jobs = (unsigned int)whole_number("--jobs", optarg, 1,
							 OPTION_JOBS_MAX);
		break;
	case 'b':
		o->bound = bound_of(optarg);
		break;
	case 'c':
		o->how.cost = optarg;
		break;
	case 'i':
		take_shard(&o->how, optarg);
		break;
	case 'v':
		o->csv = optarg;
		break;
	case 'e':
		o->how.how.without = EQUATION_TIMED;
		break;
	case 't':
		o->how.leaders = (size_t)whole_number("--micro-traces", optarg,
						      0, INT32_MAX);
		break;
	case 'y':
		o->memory = optarg;
		break;
	case 'm':
		o->merge = true;
		break;
	case 'j':
		o->json = true;
		break;
	}
}

static void parse_options(int argc, char **argv, struct options *o)
{
	const struct option_syntax syntax = { "sweep", cmd_sweep.usage, ":h",
					      long_options };
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		take_option(o, letter);
	if (o->merge == !!o->space)
		die("sweep: say which machines: --space FILE, or --merge with "
		    "tables that --csv wrote");
	if (o->merge && o->memory)
		die("sweep: --memory does not go with --merge");
	if (o->merge && optind == argc)
		die("sweep: --merge needs tables that --csv wrote");
}

static void run(struct sweep *s, const struct options *o, const char *path)
{
	char error[MACHINE_ERROR_BYTES];
	struct workload w;
	struct designs space;
	double cost;

	if (designs_read(&space, o->space, error))
		die("sweep: %s", error);
	if (o->how.cost && designs_cost(o->how.cost, &space.base, &cost, error))
		die("sweep: %s", error);
	workload_open(&w, path, "sweep");
	if (o->memory)
		sampled_memory_open(&w, o->memory, "sweep");
	if (sweep_run(s, &w, &space, &o->how, error))
		die("sweep: %s", error);
	workload_release(&w);
	designs_release(&space);
}

/* How many rows are within the bound of the best. */
static size_t within(const struct sweep *s, double bound)
{
	size_t n = 0;

	while (n < s->rows && s->row[n].ns <= s->row[0].ns * (1 + bound))
		n++;
	return n;
}

static void print_row(const struct sweep *s, size_t i)
{
	const struct sweep_row *r = &s->row[i];

	printf("  %12.0f", r->ns);
	if (!isnan(r->cost))
		printf(" %12.6g", r->cost);
	printf("  %s\n", safe_text(r->values));
}

static void print_text(const struct sweep *s, const struct options *o)
{
	size_t near = within(s, o->bound), shown = 0;
	bool costs = s->rows && !isnan(s->row[0].cost);

	printf("%zu designs", s->rows);
	if (s->impossible)
		printf(", and %zu whose values do not fit each other",
		       s->impossible);
	if (s->quick)
		fputs("\n" PREDICT_QUICK_TEXT, stdout);
	printf("\n\nThe fastest, and %zu within %g %% of it\n", near - 1,
	       100 * o->bound);
	printf("  %12s%s  %s\n", "ns", costs ? "         cost" : "",
	       safe_text(s->names));
	for (size_t i = 0; i < near && i < SHOWN; i++)
		print_row(s, i);
	if (near > SHOWN)
		puts("  ...");
	if (!costs)
		return;
	printf("\nNo design is both faster and cheaper than\n");
	for (size_t i = 0; i < s->rows && shown < SHOWN; i++)
		if (sweep_is_front(s, i)) {
			print_row(s, i);
			shown++;
		}
}

static json_t *json_row(const struct sweep_row *r, const char *names)
{
	json_t *o = json_object(), *values = json_object();
	char *copy = xstrdup(r->values), *all = xstrdup(names);
	char *rest = copy, *keys = all, *value, *key;

	put_count(o, "design", r->design);
	put(o, "time_ns", json_real(r->ns));
	if (!isnan(r->cost))
		put(o, "cost", json_real(r->cost));
	while ((key = strsep(&keys, ",")) && (value = strsep(&rest, ",")))
		put(values, key, text(value));
	put(o, "values", values);
	free(copy);
	free(all);
	return o;
}

static void print_json(const struct sweep *s, const struct options *o)
{
	json_t *all = json_object(), *near = json_array();
	json_t *front = json_array();

	for (size_t i = 0; i < within(s, o->bound); i++)
		append(near, json_row(&s->row[i], s->names));
	for (size_t i = 0; i < s->rows && !isnan(s->row[i].cost); i++)
		if (sweep_is_front(s, i))
			append(front, json_row(&s->row[i], s->names));
	put_count(all, "schema", 1);
	put_count(all, "designs", s->rows);
	put_count(all, "impossible", s->impossible);
	if (!o->merge) /* tables do not say */
		put(all, "quick", json_boolean(s->quick));
	put(all, "best", json_row(&s->row[0], s->names));
	put(all, "within", near);
	put(all, "front", front);
	json_print(all);
}

static void write_csv(const struct sweep *s, const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f)
		die("sweep: cannot write %s", safe_text(path));
	sweep_write(s, f);
	if (fclose(f))
		die("sweep: cannot write %s; is the disk full?",
		    safe_text(path));
}

static int run_sweep(int argc, char **argv)
{
	struct options o = {
		.bound = BOUND / 100.0,
		.how = { .jobs = processors(), .shards = 1 },
	};
	char error[MACHINE_ERROR_BYTES];
	struct sweep s = { 0 };

	parse_options(argc, argv, &o);
	o.how.progress = isatty(STDERR_FILENO);
	if (!o.merge)
		run(&s, &o, directory_argument("sweep", argc, argv));
	for (int i = optind; o.merge && i < argc; i++)
		if (sweep_read(&s, argv[i], error))
			die("sweep: %s", error);
	sweep_sort(&s);
	if (o.csv)
		write_csv(&s, o.csv);
	if (!s.rows && !o.csv)
		die("sweep: the values of no design fit each other");
	if (s.rows && o.json)
		print_json(&s, &o);
	else if (s.rows)
		print_text(&s, &o);
	sweep_release(&s);
	return 0;
}

const struct command cmd_sweep = {
	.name = "sweep",
	.summary = "predict a program on many machines",
	.usage =
		"usage: reusetrack sweep --space FILE [OPTION...] [PROFILE]\n"
		"       reusetrack sweep --merge [OPTION...] TABLE...\n\n"
		"Predicts how long the program takes whose profile is in the "
		"file or directory\nPROFILE, default out, on all machines of a "
		"design space, and names the fastest.\n\n"
		"      --space FILE   the machines; see man reusetrack-sweep\n"
		"      --samples N    so many random designs instead of all\n"
		"      --seed N       which random ones; default 0\n"
		"      --jobs N       predictions at a time; default one for "
		"each processor\n"
		"      --bound P      name those within P percent of the "
		"fastest; default 5\n"
		"      --cost EXPR    and those that no other is both faster "
		"and cheaper than;\n"
		"                     an expression of keys of machines\n"
		"      --equation     by RPPM's corrected equation\n"
		"      --micro-traces N  time only N of them, which stand for "
		"all (default: 0,\n"
		"                     all of them)\n"
		"      --memory DIR   reuse times of lines as sampled with -m "
		"reuse,global\n"
		"      --shard I/N    part I of N, for several machines\n"
		"      --csv FILE     write a table of all designs, too\n"
		"      --merge        read such tables instead of predicting\n"
		"      --json         one JSON object instead of text\n",
	.run = run_sweep,
};
