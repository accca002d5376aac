/* SPDX-License-Identifier: MIT */
/*
 * simulate - run a trace on a machine that need not exist
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/model/machine.h"
#include "analysis/model/miss_places.h"
#include "analysis/model/simulate.h"
#include "analysis/model/simulate_many.h"
#include "analysis/model/simulate_print.h"
#include "analysis/model/trace.h"
#include "analysis/model/trace_live.h"
#include "analysis/model/what_if.h"
#include "analysis/profile/profile.h"
#include "analysis/record/traced.h"
#include "src/store/outdir.h"

enum {
	CHANGES_MAX = 64,
	MACHINES_MAX = 64, /* with all values of --set */
	UNITS_MAX = 1000000,
};

struct options {
	const char *machine[MACHINES_MAX], *change[CHANGES_MAX], *trace;
	int machines, changes;
	const char *roi, *timeline;
	char **program; /* to trace; NULL: there is a trace */
	struct traced traced;
	bool json, what_if, misses;
	unsigned int jobs;
	bool sampled;
	struct sampling_wish wish;
};

struct machines {
	struct machine machine[MACHINES_MAX];
	size_t n;
};

static const struct option long_options[] = {
	{ "machine", required_argument, NULL, 'm' },
	{ "set", required_argument, NULL, 's' },
	{ "roi", required_argument, NULL, 'r' },
	{ "json", no_argument, NULL, 'j' },
	{ "timeline", required_argument, NULL, 't' },
	{ "jobs", required_argument, NULL, 'J' },
	{ "misses", no_argument, NULL, 'M' },
	{ "what-if", no_argument, NULL, 'w' },
	{ "sampled", optional_argument, NULL, 'S' },
	{ "seed", required_argument, NULL, 'e' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void wish_sample(struct options *o)
{
	o->sampled = true;
	if (optarg)
		o->wish.units = (uint64_t)whole_number(
			"--sampled", optarg, SAMPLING_LEAST, UNITS_MAX);
}

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
		else if (letter == 'r')
			o->roi = optarg;
		else if (letter == 'j')
			o->json = true;
		else if (letter == 't')
			o->timeline = optarg;
		else if (letter == 'J')
			o->jobs = (unsigned int)whole_number(
				"--jobs", optarg, 1, OPTION_JOBS_MAX);
		else if (letter == 'M')
			o->misses = true;
		else if (letter == 'w')
			o->what_if = true;
		else if (letter == 'S')
			wish_sample(o);
		else if (letter == 'e')
			o->wish.seed = (uint64_t)whole_number("--seed", optarg,
							      0, LONG_MAX);
		else
			die("simulate: too many --machine or --set");
	}
	if (optind < argc && !strcmp(argv[optind - 1], "--"))
		o->program = argv + optind;
	else
		o->trace = directory_argument("simulate", argc, argv);
	if (o->roi && !o->program)
		die("simulate: --roi needs a program to trace: -- PROGRAM");
	if (!o->machines)
		die("simulate: say on which machine: --machine NAME or FILE; "
		    "reusetrack machine --list shows the names");
}

static void set(struct machine *m, const char *change)
{
	char error[MACHINE_ERROR_BYTES];

	if (machine_set(m, change, error))
		die("simulate: --set %s: %s", safe_text(change), error);
}

/* The machine @m with each value of KEY=VALUE/VALUE/... in its turn. */
static void add_each(struct machines *to, const struct machine *m,
		     const char *change)
{
	char *copy = xstrdup(change), *rest = copy, *value, *one;
	int key = (int)strcspn(change, "=");

	for (int i = 0; (value = strsep(&rest, "/")); i++) {
		struct machine *next = &to->machine[to->n++];

		if (to->n > MACHINES_MAX)
			die("simulate: more than %d machines", MACHINES_MAX);
		one = i ? xasprintf("%.*s=%s", key, change, value)
			: xstrdup(value);
		*next = *m;
		set(next, one);
		snprintf(next->name, sizeof(next->name), "%.30s %.31s", m->name,
			 one);
		free(one);
	}
	free(copy);
}

/* Each list of values multiplies the machines. */
static void change_machines(struct machines *all, const char *change)
{
	static struct machines next;

	next.n = 0;
	for (size_t i = 0; i < all->n; i++)
		if (strchr(change, '/'))
			add_each(&next, &all->machine[i], change);
		else
			set(&all->machine[i], change);
	if (next.n)
		*all = next;
}

static void read_machines(struct machines *all, const struct options *o)
{
	char error[MACHINE_ERROR_BYTES];

	for (int i = 0; i < o->machines; i++)
		if (machine_read(&all->machine[all->n++], o->machine[i], error))
			die("simulate: %s", error);
	for (int i = 0; i < o->changes; i++)
		change_machines(all, o->change[i]);
	for (size_t i = 0; i < all->n; i++)
		if (machine_check(&all->machine[i], error))
			die("simulate: %s: %s", safe_text(all->machine[i].name),
			    error);
}

static void write_timeline(const struct options *o, const struct timeline *t,
			   const struct simulated *s, const struct machine *m)
{
	FILE *f = fopen(o->timeline, "we");
	char *title = xasprintf("%s on %s: %s", o->trace, m->name,
				precise_time_text(s->ns));

	if (!f || timeline_write(t, title, m->ghz, f) || fclose(f))
		die("simulate: cannot write %s", safe_text(o->timeline));
	free(title);
}

/* One machine, with a picture. */
static int simulate_with_timeline(struct simulated *result,
				  const struct options *o,
				  const struct trace *t,
				  const struct machine *m, char *error)
{
	struct timeline timeline;
	struct simulate_extras extras = { .timeline = &timeline,
					  .misses = o->misses };
	int err = simulate_with(result, t, m, &extras, error);

	if (!err)
		write_timeline(o, &timeline, result, m);
	timeline_release(&timeline);
	return err;
}

/* The names of the process that was traced; without its profile, none. */
struct names {
	struct profile profile;
	struct process nothing;
	struct symbols *symbols;
};

/* The profile that was recorded with the trace; malloc'ed. */
static char *profile_of(const struct options *o, const struct trace *t)
{
	size_t stem;

	if (o->program)
		return xstrdup(o->traced.out);
	stem = strlen(t->path);
	if (stem > strlen(OUTDIR_TRACE) &&
	    !strcmp(t->path + stem - strlen(OUTDIR_TRACE), OUTDIR_TRACE))
		stem -= strlen(OUTDIR_TRACE);
	return xasprintf("%.*s.cdp", (int)stem, t->path);
}

static void open_names(struct names *n, char *path)
{
	memset(n, 0, sizeof(*n));
	if (profile_load(&n->profile, path) || !n->profile.processes)
		warn("simulate: without %s, places have no names",
		     safe_text(path));
	n->symbols = symbols_new(true, path);
	free(path);
}

static void close_names(struct names *n)
{
	symbols_free(n->symbols);
	profile_release(&n->profile);
}

static void print_misses(struct names *n, const struct simulated *s,
			 const struct machine *m, bool json)
{
	struct miss_places places;

	miss_places_init(&places, s->misses, n->symbols,
			 n->profile.processes ? n->profile.process
					      : &n->nothing);
	if (json)
		simulate_print_json(s, m, miss_places_json(&places));
	else
		miss_places_print_text(&places);
	miss_places_release(&places);
}

static void print_result(const struct options *o, const struct trace *t,
			 const struct simulated *s, const struct machine *m)
{
	struct names names;

	if (!o->json)
		simulate_print_text(s, m);
	else if (!s->misses)
		simulate_print_json(s, m, NULL);
	if (!s->misses)
		return;
	open_names(&names, profile_of(o, t));
	print_misses(&names, s, m, o->json);
	close_names(&names);
}

/*
 * The program has ended, and its trace is @complete or not. Returns our exit
 * status.
 */
static int say_end(const struct options *o, bool complete)
{
	int sig = traced_end();

	if (complete)
		return 0;
	if (sig)
		warn("simulate: %s was killed by signal %d (%s); only what it "
		     "did before is simulated",
		     safe_text(o->trace), sig, strsignal(sig));
	else
		warn("simulate: %s: " TRACE_CUT_SHORT, safe_text(o->trace));
	return sig > 0;
}

/* The trace of the program that is being recorded, or of what was. */
static int open_program(struct options *o, struct trace *t, size_t machines)
{
	bool live = !o->sampled && !o->what_if && !o->timeline;
	char error[TRACE_ERROR_BYTES], *path;
	int err;

	o->trace = o->program[0];
	traced_start(&o->traced, o->program, o->roi);
	if (live) {
		err = trace_live_open(t, o->traced.fd, machines, o->jobs,
				      error);
		if (err)
			traced_end();
	} else { /* what they need of it all is known at the end */
		path = traced_keep(&o->traced);
		traced_end();
		err = trace_open(t, path, error);
		free(path);
	}
	if (err)
		die("simulate: %s: %s", safe_text(o->trace), error);
	return live ? 0 : say_end(o, t->complete);
}

static void open_file(const struct options *o, struct trace *t)
{
	char error[TRACE_ERROR_BYTES];

	if (trace_open(t, o->trace, error))
		die("simulate: %s: %s", safe_text(o->trace), error);
	if (t->warning)
		warn("simulate: %s: %s", safe_text(o->trace), t->warning);
}

/* Returns the exit status. */
static int simulate_all(const struct options *o, const struct trace *t,
			const struct machines *all)
{
	char error[TRACE_ERROR_BYTES], why[TRACE_ERROR_BYTES];
	struct simulated result[MACHINES_MAX];
	int err, status = 0;
	struct simulate_extras extras[MACHINES_MAX] = { 0 };

	for (size_t i = 0; i < all->n; i++) {
		extras[i].misses = o->misses;
		if (o->sampled)
			extras[i].sampled = &o->wish;
	}
	err = o->timeline ? simulate_with_timeline(result, o, t, all->machine,
						   error)
			  : simulate_many(result, t, all->machine, all->n,
					  o->jobs, extras, error);
	if (err && t->live)
		traced_stop();
	if (t->live)
		status = say_end(o, err || trace_live_end(t->live, why) != 0);
	if (err)
		die("simulate: %s: %s", safe_text(o->trace), error);
	for (size_t i = 0; i < all->n; i++) {
		if (i && !o->json)
			putchar('\n');
		print_result(o, t, &result[i], &all->machine[i]);
		simulated_release(&result[i]);
	}
	return status;
}

static void ask_what_if(const struct options *o, const struct trace *t,
			const struct machines *all)
{
	char error[TRACE_ERROR_BYTES];
	struct what_if answer;

	for (size_t i = 0; i < all->n; i++) {
		const struct machine *m = &all->machine[i];

		if (what_if(&answer, t, m, o->jobs, error))
			die("simulate: %s: %s", safe_text(o->trace), error);
		if (i && !o->json)
			putchar('\n');
		if (o->json)
			what_if_print_json(&answer, m);
		else
			what_if_print_text(&answer, m);
	}
}

static int run_simulate(int argc, char **argv)
{
	static struct machines machines;
	struct options o = { .jobs = processors() };
	struct trace trace;
	int status = 0;

	parse_options(argc, argv, &o);
	read_machines(&machines, &o);
	if (o.misses && o.what_if)
		die("simulate: --misses and --what-if are two questions; ask "
		    "one");
	if (o.sampled && (o.misses || o.what_if || o.timeline))
		die("simulate: --sampled gives times alone, without --misses, "
		    "--what-if and --timeline");
	if (o.timeline && (o.what_if || machines.n > 1))
		die("simulate: --timeline is of one machine");
	if (o.program)
		status = open_program(&o, &trace, machines.n);
	else
		open_file(&o, &trace);
	if (o.what_if)
		ask_what_if(&o, &trace, &machines);
	else
		status |= simulate_all(&o, &trace, &machines);
	if (trace.live)
		trace_live_close(&trace);
	else
		trace_close(&trace);
	return status;
}

const struct command cmd_simulate = {
	.name = "simulate",
	.summary = "run a trace on a machine that need not exist",
	.usage = "usage: reusetrack simulate --machine NAME|FILE [OPTION...] "
		 "[TRACE]\n"
		 "       reusetrack simulate --machine NAME|FILE [OPTION...] "
		 "-- PROGRAM...\n\n"
		 "Simulates the trace in the file or directory TRACE, default "
		 "out, in every cycle\nof an out-of-order machine, and prints "
		 "its time, where its cycles go, and its\nmisses. Record a "
		 "trace with record -s emu -m trace, or name a PROGRAM: it\nis "
		 "simulated while it is traced, and prints to standard "
		 "error.\n\n"
		 "      --machine NAME|FILE  may be given several times; see "
		 "reusetrack machine\n"
		 "      --set KEY=VALUE      change a value of the machines, "
		 "for example\n"
		 "                           l2.size=1M; l2.size=256K/1M: "
		 "a machine for each\n"
		 "      --roi BEGIN,END      the part of PROGRAM to trace, as "
		 "for record\n"
		 "      --misses             which source lines and objects "
		 "miss the caches, and\n"
		 "                           why\n"
		 "      --what-if            what single changes of the "
		 "machine would bring,\n"
		 "                           in their order\n"
		 "      --sampled[=UNITS]    simulate only a sample in detail, "
		 "and "
		 "say how far off\n"
		 "                           the time may be\n"
		 "      --seed N             which sample; default 0\n"
		 "      --jobs N             machines to simulate at a time; "
		 "default one for\n"
		 "                           each processor\n"
		 "      --timeline FILE      write what threads did when, as "
		 "a picture (SVG)\n"
		 "      --json               an object in a line for each "
		 "machine\n",
	.run = run_simulate,
};
