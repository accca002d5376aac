/* SPDX-License-Identifier: MIT */
/*
 * options - the options of record and their twins in the environment
 *
 * Each option is written into its environment variable, and from then on only
 * the variable counts. So an option and its twin cannot disagree.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "events.h"
#include "options.h"
#include "outside.h"
#include "record.h"
#include "roi.h"
#include "source.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/doctor/pmu_probe.h"
#include "analysis/outside/hardware.h"
#include "src/exact/cache_sets.h"

enum {
	FREQ_MAX_HZ = 20000,
	SECONDS_MAX = 10 * 1000 * 1000,
	PERIOD_MIN = 100,
	LDLAT_MAX = 65535,
	SLOTS_MAX = 65536,
	SLICE_MAX = 1000 * 1000 * 1000
};

#define PERIOD_MAX 1000000000000

/* The option or twin that asks for a source, for events; NULL: none. */
static const char *source_asked_by, *event_asked_by;

struct option_twin {
	const char *name; /* as the user writes it */
	const char *twin;
	int letter; /* what getopt_long returns */
	/* Dies unless @value is good; @name is the option or the twin. */
	void (*check)(const char *name, const char *value);
	const char *fixed; /* the value of an option without an argument */
};

/* Check for some of @words, separated by commas, each at most once. */
static void check_words(const char *name, const char *value,
			const char *const *words, const char *advice)
{
	unsigned int found = 0;
	const char *p = value;
	int i;

	do {
		size_t n = strcspn(p, ",");

		for (i = 0; words[i]; i++)
			if (n == strlen(words[i]) && !strncmp(p, words[i], n))
				break;
		if (!words[i])
			die("%s: there is no '%s'; %s", name, safe_text(value),
			    advice);
		if (found & 1u << i)
			die("%s: %s is given twice", name, words[i]);
		found |= 1u << i;
		p += n;
	} while (*p++ == ',');
}

static void check_mode(const char *name, const char *value)
{
	static const char *const modes[] = { "comm", "reuse", "shared",
					     "global", NULL };

	if (!strcmp(value, "trace") || !strcmp(value, "profile"))
		return;
	check_words(name, value, modes,
		    "use comm, reuse, trace or profile with -s emu, or some of "
		    "comm,reuse,shared,global with -s emu or -s instr; profile "
		    "or trace goes with no other");
}

static void check_granularity(const char *name, const char *value)
{
	static const char *const words[] = { "address", "line", NULL };

	check_words(name, value, words, "use address, line or address,line");
}

/* Why it cannot be used from outside the program; NULL: it can. */
static char *lack_outside(enum pmu_source source)
{
	struct pmu_asked asked;
	const struct pmu_wish wish = { .asked = &asked };
	struct pmu_plan plan;

	pmu_probe_asked(&asked);
	return hardware_plan(&plan, pmu_probe_kernel, source, &wish);
}

/*
 * Refuse to run rather than profile with another source than the one asked for.
 */
static void check_hardware(const char *name, const char *value,
			   enum pmu_source source)
{
	char reason[300], advice[300], *lack;

	if (record_outside()) {
		lack = lack_outside(source);
		if (lack)
			die("cannot watch the program: %s", lack);
		return;
	}
	if (pmu_probe(source, reason, sizeof(reason), advice, sizeof(advice)))
		return;
	lack = lack_outside(source);
	die("%s %s cannot be used here: %s%s%s%s", name, value, reason,
	    advice[0] ? "; " : "", advice,
	    lack ? ""
		 : "; with --outside, which sends the program no signals, it "
		   "can");
}

static void check_source(const char *name, const char *value)
{
	static const char *const sources[] = { "auto",  "pebs", "ibs", "clock",
					       "instr", "emu",  NULL };

	if (!strcmp(value, "import"))
		die("%s: import is not a source; use the verb reusetrack "
		    "import",
		    name);
	check_words(name, value, sources,
		    "use auto, pebs, ibs, clock, instr or emu");
	if (strchr(value, ','))
		die("%s takes one source, not '%s'", name, safe_text(value));
	if (!source_asked_by)
		source_asked_by = name;
}

/* After all options are known: events by name are looked up first. */
static void check_hardware_source(void)
{
	const char *value = getenv("COMDET_SOURCE");

	if (source_asked_by && value && !strcmp(value, "pebs"))
		check_hardware(source_asked_by, value, PMU_PEBS);
	if (source_asked_by && value && !strcmp(value, "ibs"))
		check_hardware(source_asked_by, value, PMU_IBS);
}

static void check_event(const char *name, const char *value)
{
	if (!event_asked_by)
		event_asked_by = name;
}

static void check_ldlat(const char *name, const char *value)
{
	whole_number(name, value, 0, LDLAT_MAX);
}

static void check_algorithm(const char *name, const char *value)
{
	if (strcmp(value, "comdetective") && strcmp(value, "epoch") &&
	    strcmp(value, "chain"))
		die("%s: there is no '%s'; use comdetective, or epoch or chain "
		    "with -s instr or -s emu",
		    name, safe_text(value));
}

static void check_watch(const char *name, const char *value)
{
	if (strcmp(value, "hw") && strcmp(value, "sw"))
		die("%s is hw or sw, not '%s'", name, safe_text(value));
}

static void check_freq(const char *name, const char *value)
{
	whole_number(name, value, 1, FREQ_MAX_HZ);
}

static void check_budget(const char *name, const char *value)
{
	char *end;
	double p = strtod(value, &end);

	if (*end || !(p >= 0.01 && p <= 100))
		die("%s must be a percentage of the CPU time, 0.01 to 100, not "
		    "'%s'",
		    name, safe_text(value));
}

static void check_registers(const char *name, const char *value)
{
	whole_number(name, value, 0, 4);
}

static void check_slots(const char *name, const char *value)
{
	whole_number(name, value, 1, SLOTS_MAX);
}

static void check_switch(const char *name, const char *value)
{
	whole_number(name, value, 0, 1);
}

static void check_seconds(const char *name, const char *value)
{
	char *end;
	double s = strtod(value, &end);

	if (end == value || *end || !(s >= 0 && s <= SECONDS_MAX))
		die("%s must be seconds, 0 or more, not '%s'", name,
		    safe_text(value));
}

/* -1: until the program says comdet_resume(). */
static void check_delay(const char *name, const char *value)
{
	if (strcmp(value, "-1"))
		check_seconds(name, value);
}

static void check_out(const char *name, const char *value)
{
	if (strlen(value) >= PATH_MAX - 64)
		die("%s: the name of the directory is too long", name);
	if (strchr(value, '\n'))
		die("%s: the name of the directory has a line break", name);
}

static void check_period(const char *name, const char *value)
{
	if (strcmp(value, "0"))
		whole_number(name, value, PERIOD_MIN, PERIOD_MAX);
}

static void check_slice(const char *name, const char *value)
{
	if (strcmp(value, "auto") && strcmp(value, "free"))
		whole_number(name, value, 0, SLICE_MAX);
}

static void check_pmu(const char *name, const char *value)
{
	if (strcmp(value, "pebs") && strcmp(value, "ibs"))
		die("%s is pebs or ibs, not '%s'", name, safe_text(value));
}

static void check_place(const char *name, const char *value)
{
	if (strcmp(value, "compact") && strcmp(value, "scatter"))
		die("%s is compact or scatter, not '%s'", name,
		    safe_text(value));
}

static void check_caches(const char *name, const char *value)
{
	struct cache_sets_config config;

	if (cache_sets_parse(&config, value))
		die("%s needs name, bytes and ways of each cache, the nearest "
		    "first, such as 'L1d 49152 12; L2 1048576 16; L3 33554432 "
		    "16 shared', not '%s'",
		    name, safe_text(value));
}

static void check_on_off(const char *name, const char *value)
{
	if (strcmp(value, "on") && strcmp(value, "off"))
		die("%s is on or off, not '%s'", name, safe_text(value));
}

/* What it may hold depends on the source: see record_emu_command(). */
static void check_topology(const char *name, const char *value)
{
}

/* record_open_control() opens it. */
static void check_control(const char *name, const char *value)
{
}

static const struct option_twin twins[] = {
	{ "-m", "COMDET_MODE", 'm', check_mode, NULL },
	{ "-s", "COMDET_SOURCE", 's', check_source, NULL },
	{ "-p", "COMDET_PERIOD", 'p', check_period, NULL },
	{ "-F", "COMDET_FREQ", 'F', check_freq, NULL },
	{ "-e", "COMDET_EVENT", 'e', check_event, NULL },
	{ "--budget", "COMDET_BUDGET", 'B', check_budget, NULL },
	{ "--ldlat", "COMDET_LDLAT", 'Y', check_ldlat, NULL },
	{ "-o", "COMDET_OUT", 'o', check_out, NULL },
	{ "--algorithm", "COMDET_ALGORITHM", 'A', check_algorithm, NULL },
	{ "--children", "COMDET_CHILDREN", 'C', check_switch, "1" },
	{ "--outside", "COMDET_OUTSIDE", 'O', check_switch, "1" },
	{ "--objects", "COMDET_OBJECTS", 'J', check_on_off, NULL },
	{ "--progress", "COMDET_PROGRESS", 'P', check_switch, "1" },
	{ "--probe", "COMDET_PROBE", 'Q', check_on_off, NULL },
	{ "--registers", "COMDET_REGISTERS", 'R', check_registers, NULL },
	{ "--topology", "COMDET_TOPOLOGY", 'T', check_topology, NULL },
	{ "--caches", "COMDET_CACHES", 'K', check_caches, NULL },
	{ "--watch", "COMDET_WATCH", 'W', check_watch, NULL },
	{ "--exact", "COMDET_EXACT", 'X', check_switch, "1" },
	{ "--slice", "COMDET_SLICE", 'S', check_slice, NULL },
	{ "--pmu", "COMDET_PMU", 'M', check_pmu, NULL },
	{ "--place", "COMDET_PLACE", 'L', check_place, NULL },
	{ "--granularity", "COMDET_GRANULARITY", 'G', check_granularity, NULL },
	{ "--slots", "COMDET_SLOTS", 'N', check_slots, NULL },
	{ "--call-paths", "COMDET_PATHS", 'g', check_switch, "1" },
	{ "--quick", "COMDET_QUICK", 'q', check_switch, "1" },
	{ "--roi", "COMDET_ROI", 'I', record_check_roi, NULL },
	{ "--delay", "COMDET_DELAY", 'D', check_delay, NULL },
	{ "--duration", "COMDET_DURATION", 'U', check_seconds, NULL },
	{ "--control", "COMDET_CONTROL", 'Z', check_control, NULL },
};
enum {
	TWINS = sizeof(twins) / sizeof(twins[0])
};

static const struct option long_options[] = {
	{ "mode", required_argument, NULL, 'm' },
	{ "source", required_argument, NULL, 's' },
	{ "period", required_argument, NULL, 'p' },
	{ "freq", required_argument, NULL, 'F' },
	{ "event", required_argument, NULL, 'e' },
	{ "budget", required_argument, NULL, 'B' },
	{ "ldlat", required_argument, NULL, 'Y' },
	{ "output", required_argument, NULL, 'o' },
	{ "algorithm", required_argument, NULL, 'A' },
	{ "children", no_argument, NULL, 'C' },
	{ "outside", no_argument, NULL, 'O' },
	{ "objects", required_argument, NULL, 'J' },
	{ "progress", no_argument, NULL, 'P' },
	{ "probe", required_argument, NULL, 'Q' },
	{ "registers", required_argument, NULL, 'R' },
	{ "topology", required_argument, NULL, 'T' },
	{ "caches", required_argument, NULL, 'K' },
	{ "watch", required_argument, NULL, 'W' },
	{ "exact", no_argument, NULL, 'X' },
	{ "slice", required_argument, NULL, 'S' },
	{ "pmu", required_argument, NULL, 'M' },
	{ "place", required_argument, NULL, 'L' },
	{ "granularity", required_argument, NULL, 'G' },
	{ "slots", required_argument, NULL, 'N' },
	{ "call-paths", no_argument, NULL, 'g' },
	{ "quick", no_argument, NULL, 'q' },
	{ "roi", required_argument, NULL, 'I' },
	{ "delay", required_argument, NULL, 'D' },
	{ "duration", required_argument, NULL, 'U' },
	{ "control", required_argument, NULL, 'Z' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void take_option(int letter, const char *value)
{
	for (int i = 0; i < TWINS; i++) {
		const struct option_twin *t = &twins[i];

		if (t->letter != letter)
			continue;
		if (t->fixed)
			value = t->fixed;
		if (!*value)
			die("%s needs a value", t->name);
		t->check(t->name, value);
		if (setenv(t->twin, value, 1))
			die("cannot set %s: %s", t->twin, strerror(errno));
		return;
	}
}

static void check_environment(void)
{
	for (int i = 0; i < TWINS; i++) {
		const char *value = getenv(twins[i].twin);

		if (value && *value)
			twins[i].check(twins[i].twin, value);
	}
}

int record_options(int argc, char **argv, const char *usage)
{
	/* "+": options after the program's name belong to the program. */
	const struct option_syntax syntax = { "record", usage,
					      "+:m:s:p:e:F:o:gh",
					      long_options };
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		take_option(letter, optarg);
	check_environment();
	if (event_asked_by)
		record_resolve_events(event_asked_by);
	check_hardware_source();
	if (optind < argc)
		return optind;
	record_check_source(false);
	die("record: which program? For example: reusetrack record -- "
	    "./program its arguments");
}
