/* SPDX-License-Identifier: MIT */
/*
 * record_options - the options of record and their twins in the environment
 *
 * An option is written into its environment variable and from then on only
 * the variable counts, so that an option and its twin cannot disagree.
 */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/command.h"
#include "analysis/pmu_probe.h"
#include "analysis/record.h"
#include "analysis/util.h"
#include "src/cache_sets.h"

enum {
	FREQ_MAX_HZ = 20000,
	SECONDS_MAX = 10 * 1000 * 1000,
	PERIOD_MIN = 100,
	LDLAT_MAX = 65535,
	SLOTS_MAX = 65536,
	SLICE_MAX = 1000 * 1000 * 1000
};

#define PERIOD_MAX 1000000000000

struct option_twin {
	const char *name; /* as the user knows it */
	const char *twin;
	int letter; /* what getopt_long returns */
	/* Dies unless @value is good; @name is the option or the twin. */
	void (*check)(const char *name, const char *value);
	const char *fixed; /* the value of an option without an argument */
};

/* Some of @words, separated by commas, each once. */
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

	if (!strcmp(value, "profile"))
		die("%s profile is not available in this build; use comm, "
		    "reuse, or some of comm,reuse,shared,global with -s emu "
		    "or -s instr",
		    name);
	check_words(name, value, modes,
		    "use comm, reuse, or some of comm,reuse,shared,global "
		    "with -s emu or -s instr");
}

static void check_granularity(const char *name, const char *value)
{
	static const char *const words[] = { "address", "line", NULL };

	check_words(name, value, words, "use address, line or address,line");
}

/* Rather no profile than one by another source than was asked for. */
static void check_hardware(const char *name, const char *value,
			   enum pmu_source source)
{
	char reason[300], advice[300];

	if (!pmu_probe(source, reason, sizeof(reason), advice, sizeof(advice)))
		die("%s %s cannot be used here: %s%s%s", name, value, reason,
		    advice[0] ? "; " : "", advice);
}

static void check_source(const char *name, const char *value)
{
	static const char *const sources[] = { "auto",  "pebs", "ibs", "clock",
					       "instr", "emu",  NULL };

	if (!strcmp(value, "import"))
		die("%s import is the verb reusetrack import", name);
	check_words(name, value, sources,
		    "use auto, pebs, ibs, clock, instr or emu");
	if (strchr(value, ','))
		die("%s takes one source, not '%s'", name, safe_text(value));
	if (!strcmp(value, "pebs"))
		check_hardware(name, value, PMU_PEBS);
	if (!strcmp(value, "ibs"))
		check_hardware(name, value, PMU_IBS);
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
	if (strcmp(value, "auto"))
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
		die("%s are name, bytes and ways of each, the nearest first, "
		    "such as 'L1d 49152 12; L2 1048576 16; L3 33554432 16 "
		    "shared', not '%s'",
		    name, safe_text(value));
}

/* Nothing to see in it before the source is known: record_emu. */
static void check_topology(const char *name, const char *value)
{
}

static const struct option_twin twins[] = {
	{ "-m", "COMDET_MODE", 'm', check_mode, NULL },
	{ "-s", "COMDET_SOURCE", 's', check_source, NULL },
	{ "-p", "COMDET_PERIOD", 'p', check_period, NULL },
	{ "-F", "COMDET_FREQ", 'F', check_freq, NULL },
	{ "--ldlat", "COMDET_LDLAT", 'Y', check_ldlat, NULL },
	{ "-o", "COMDET_OUT", 'o', check_out, NULL },
	{ "--algorithm", "COMDET_ALGORITHM", 'A', check_algorithm, NULL },
	{ "--children", "COMDET_CHILDREN", 'C', check_switch, "1" },
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
	{ "--delay", "COMDET_DELAY", 'D', check_seconds, NULL },
	{ "--duration", "COMDET_DURATION", 'U', check_seconds, NULL },
};
enum {
	TWINS = sizeof(twins) / sizeof(twins[0])
};

static const struct option long_options[] = {
	{ "mode", required_argument, NULL, 'm' },
	{ "source", required_argument, NULL, 's' },
	{ "period", required_argument, NULL, 'p' },
	{ "freq", required_argument, NULL, 'F' },
	{ "ldlat", required_argument, NULL, 'Y' },
	{ "output", required_argument, NULL, 'o' },
	{ "algorithm", required_argument, NULL, 'A' },
	{ "children", no_argument, NULL, 'C' },
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
	{ "delay", required_argument, NULL, 'D' },
	{ "duration", required_argument, NULL, 'U' },
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

static bool source_is(const char *name)
{
	const char *source = getenv("COMDET_SOURCE");

	return source && !strcmp(source, name);
}

static bool is_set(const char *twin, const char *value)
{
	const char *is = getenv(twin);

	return is && (value ? !strcmp(is, value) : *is);
}

static bool hooks_found; /* in what the program is started with */

bool record_looks_for_hooks(void)
{
	return !is_set("COMDET_FREQ", NULL) &&
	       (!is_set("COMDET_SOURCE", NULL) || source_is("auto"));
}

static bool takes_hooks(void)
{
	return source_is("instr") || (hooks_found && record_looks_for_hooks());
}

bool record_emulates(void)
{
	return source_is("emu");
}

bool record_needs_hooks(void)
{
	return source_is("instr");
}

enum {
	OF_CLOCK = 1, /* auto too, where the program has no hooks */
	OF_EMU = 2,
	OF_INSTR = 4,
	OF_PEBS = 8,
	OF_IBS = 16
};

/* What only some sources know must not be ignored by the others. */
static const struct {
	const char *names, *twin;
	const char *value; /* NULL: whatever it is */
	int sources;
	const char *words;
} fits[] = {
	{ "-p (COMDET_PERIOD)", "COMDET_PERIOD", NULL,
	  OF_EMU | OF_INSTR | OF_PEBS | OF_IBS,
	  "needs a source that counts accesses: -s emu, instr, pebs or ibs; "
	  "with clock set the rate with -F HZ" },
	{ "--ldlat (COMDET_LDLAT)", "COMDET_LDLAT", NULL, OF_PEBS,
	  "needs the source pebs: -s pebs" },
	{ "--topology (COMDET_TOPOLOGY)", "COMDET_TOPOLOGY", NULL,
	  OF_EMU | OF_INSTR,
	  "needs the source emu, or instr with -m shared or global" },
	{ "--caches (COMDET_CACHES)", "COMDET_CACHES", NULL, OF_EMU,
	  "needs the source emu: -s emu --exact -m reuse" },
	{ "--exact (COMDET_EXACT)", "COMDET_EXACT", "1", OF_EMU | OF_INSTR,
	  "needs the source emu or instr: -s emu or -s instr" },
	{ "--slice (COMDET_SLICE)", "COMDET_SLICE", NULL, OF_EMU,
	  "needs the source emu: -s emu" },
	{ "--pmu (COMDET_PMU)", "COMDET_PMU", NULL, OF_EMU,
	  "needs the source emu: -s emu" },
	{ "--place (COMDET_PLACE)", "COMDET_PLACE", NULL, OF_EMU,
	  "needs the source emu: -s emu" },
	{ "--granularity (COMDET_GRANULARITY)", "COMDET_GRANULARITY", NULL,
	  OF_EMU | OF_INSTR,
	  "needs the source emu or instr: -s emu or -s instr" },
	{ "--slots (COMDET_SLOTS)", "COMDET_SLOTS", NULL, OF_EMU | OF_INSTR,
	  "needs the source emu or instr: -s emu or -s instr" },
	{ "--call-paths (COMDET_PATHS)", "COMDET_PATHS", "1", OF_INSTR,
	  "needs the source instr, whose hooks know them: -s instr" },
	{ "--watch sw (COMDET_WATCH)", "COMDET_WATCH", "sw", OF_INSTR,
	  "needs the source instr: -s instr" },
	{ "--watch hw (COMDET_WATCH)", "COMDET_WATCH", "hw",
	  OF_CLOCK | OF_INSTR | OF_PEBS | OF_IBS,
	  "means debug registers, which emu simulates" },
	{ "--algorithm epoch (COMDET_ALGORITHM)", "COMDET_ALGORITHM", "epoch",
	  OF_EMU | OF_INSTR,
	  "needs the source emu or instr: -s emu or -s instr" },
	{ "--algorithm chain (COMDET_ALGORITHM)", "COMDET_ALGORITHM", "chain",
	  OF_EMU | OF_INSTR,
	  "needs the source emu or instr: -s emu or -s instr" },
	{ "-F (COMDET_FREQ)", "COMDET_FREQ", NULL, OF_CLOCK,
	  "needs the source clock; with the others set the period with -p" },
};

/* Is anything asked of caches that several cores share? */
static bool asks_of_caches(void)
{
	const char *mode = getenv("COMDET_MODE");

	return mode && (strstr(mode, "shared") || strstr(mode, "global"));
}

static void check_mode_fits(int source)
{
	const char *mode = getenv("COMDET_MODE");

	if (!mode || !*mode || !strcmp(mode, "comm") ||
	    !strcmp(mode, "reuse") || source == OF_EMU || source == OF_INSTR)
		return;
	die("-m %s (COMDET_MODE) needs the source emu or instr: -s emu or "
	    "-s instr; the others take comm or reuse, alone",
	    safe_text(mode));
}

/* What the preload would refuse only when the program runs. */
static void check_reuse_fits(int source)
{
	const char *mode = getenv("COMDET_MODE");
	bool hardware = source == OF_INSTR && is_set("COMDET_WATCH", "hw");

	if (!mode || (!strstr(mode, "reuse") && !asks_of_caches())) {
		if (source == OF_INSTR && is_set("COMDET_PATHS", "1"))
			die("--call-paths (COMDET_PATHS) are of uses and "
			    "reuses: add -m reuse, shared or global");
		return;
	}
	if (source == OF_INSTR && is_set("COMDET_EXACT", "1"))
		die("--exact (COMDET_EXACT) with -s instr counts transfers, "
		    "not reuses; leave it out, or take -s emu");
	if (is_set("COMDET_PERIOD", "0") &&
	    (source == OF_INSTR || !is_set("COMDET_EXACT", "1")))
		die("-p 0 (COMDET_PERIOD) takes no samples, and -m %s needs "
		    "some%s",
		    safe_text(mode), source == OF_EMU ? ", or --exact" : "");
	if (source == OF_INSTR && strstr(mode, "comm") &&
	    is_set("COMDET_ALGORITHM", "comdetective"))
		die("-m %s (COMDET_MODE) with -s instr needs --algorithm epoch "
		    "or chain",
		    safe_text(mode));
	if (hardware && (asks_of_caches() || strstr(mode, "comm")))
		die("-m %s (COMDET_MODE) needs --watch sw", safe_text(mode));
	if (hardware && is_set("COMDET_SLOTS", NULL))
		die("--slots (COMDET_SLOTS) needs --watch sw: with hw each "
		    "register has one use");
	if (hardware && is_set("COMDET_GRANULARITY", NULL) &&
	    !is_set("COMDET_GRANULARITY", "address"))
		die("--granularity %s (COMDET_GRANULARITY) needs --watch sw: a "
		    "debug register has 8 bytes",
		    safe_text(getenv("COMDET_GRANULARITY")));
}

bool record_needs_topology(void)
{
	return takes_hooks() && asks_of_caches();
}

void record_check_source(bool hooks)
{
	const char *topology = getenv("COMDET_TOPOLOGY");
	int source;

	hooks_found = hooks;
	source = record_emulates()   ? OF_EMU
		 : takes_hooks()     ? OF_INSTR
		 : source_is("pebs") ? OF_PEBS
		 : source_is("ibs")  ? OF_IBS
				     : OF_CLOCK;
	check_mode_fits(source);
	check_reuse_fits(source);
	if (source == OF_INSTR && topology && *topology && !asks_of_caches())
		die("--topology (COMDET_TOPOLOGY) with -s instr needs -m "
		    "shared or global");
	for (size_t i = 0; i < sizeof(fits) / sizeof(fits[0]); i++) {
		const char *value = getenv(fits[i].twin);

		if (!value || !*value || fits[i].sources & source ||
		    (fits[i].value && strcmp(value, fits[i].value)) ||
		    (fits[i].sources == OF_EMU && !strcmp(value, "0")))
			continue;
		die("%s %s", fits[i].names, fits[i].words);
	}
}

int record_options(int argc, char **argv)
{
	int letter;

	opterr = 0;
	optind = 1;
	/* "+": what follows the program's name is the program's. */
	while ((letter = getopt_long(argc, argv, "+:m:s:p:F:o:gh", long_options,
				     NULL)) != -1) {
		switch (letter) {
		case 'h':
			fputs(cmd_record.usage, stdout);
			exit(fflush(stdout) ? RECORD_FAILED : 0);
		case '?':
		case ':':
			die_option("record", letter, argv, long_options);
		default:
			take_option(letter, optarg);
		}
	}
	check_environment();
	if (optind < argc)
		return optind;
	record_check_source(false);
	die("record: which program? For example: reusetrack record -- "
	    "./program its arguments");
}
