/* SPDX-License-Identifier: MIT */
/*
 * source - which source record asks for, and what goes with it
 *
 * This reads the environment, which holds all options by then. An option that
 * does not apply to the source is refused rather than ignored.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "source.h"
#include "analysis/base/util.h"

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

static bool hooks_found; /* in the program or its libraries */

bool record_looks_for_hooks(void)
{
	return !is_set("COMDET_FREQ", NULL) && !is_set("COMDET_BUDGET", NULL) &&
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
	OF_CLOCK = 1, /* the clock, or auto if the program has no hooks */
	OF_EMU = 2,
	OF_INSTR = 4,
	OF_PEBS = 8,
	OF_IBS = 16
};

/* Options that only some sources have; the others must not ignore them. */
static const struct {
	const char *names, *twin;
	const char *value; /* NULL: any value */
	int sources;
	const char *words;
} fits[] = {
	{ "-p (COMDET_PERIOD)", "COMDET_PERIOD", NULL,
	  OF_EMU | OF_INSTR | OF_PEBS | OF_IBS,
	  "needs a source that counts accesses: -s emu, instr, pebs or ibs; "
	  "with clock set the rate with -F HZ" },
	{ "-e (COMDET_EVENT)", "COMDET_EVENT", NULL, OF_PEBS,
	  "needs the source pebs: -s pebs" },
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
	{ "--roi (COMDET_ROI)", "COMDET_ROI", NULL, OF_EMU,
	  "needs the source emu: -s emu -m trace" },
	{ "--outside (COMDET_OUTSIDE)", "COMDET_OUTSIDE", "1",
	  OF_CLOCK | OF_PEBS | OF_IBS,
	  "needs the source clock, pebs or ibs: leave out -s, or take one of "
	  "these" },
	{ "--delay -1 (COMDET_DELAY)", "COMDET_DELAY", "-1",
	  OF_CLOCK | OF_INSTR | OF_PEBS | OF_IBS,
	  "needs a source within the program, which ends the delay" },
	{ "--control (COMDET_CONTROL)", "COMDET_CONTROL", NULL,
	  OF_CLOCK | OF_INSTR | OF_PEBS | OF_IBS,
	  "cannot pause the source emu" },
	{ "--objects on (COMDET_OBJECTS)", "COMDET_OBJECTS", "on",
	  OF_CLOCK | OF_PEBS | OF_IBS, "needs the source clock, pebs or ibs" },
	{ "-F (COMDET_FREQ)", "COMDET_FREQ", NULL, OF_CLOCK,
	  "needs the source clock; with the others set the period with -p" },
	{ "--budget (COMDET_BUDGET)", "COMDET_BUDGET", NULL, OF_CLOCK,
	  "needs the source clock" },
};

/* True if something is asked about caches that several cores share. */
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

/* A trace is all that its run measures. */
static void check_trace_fits(int source)
{
	bool trace = is_set("COMDET_MODE", "trace");

	if (!trace && is_set("COMDET_ROI", NULL))
		die("--roi (COMDET_ROI) needs -m trace or -m profile");
	if (trace && source != OF_EMU)
		die("-m trace or -m profile (COMDET_MODE) needs the source "
		    "emu: -s emu");
	if (trace && is_set("COMDET_EXACT", "1"))
		die("--exact (COMDET_EXACT) does not go with -m trace or "
		    "-m profile");
	if (trace && is_set("COMDET_PATHS", "1"))
		die("--call-paths (COMDET_PATHS) does not go with -m trace or "
		    "-m profile");
	if (trace && is_set("COMDET_PERIOD", NULL))
		die("-p (COMDET_PERIOD) does not go with -m trace, which takes "
		    "no samples");
}

/* Refuse now what the preload would refuse only once the program runs. */
static void check_reuse_fits(int source)
{
	const char *mode = getenv("COMDET_MODE");
	bool hardware = source == OF_INSTR && is_set("COMDET_WATCH", "hw");

	if (!mode || (!strstr(mode, "reuse") && !asks_of_caches()))
		return;
	if (source != OF_INSTR && is_set("COMDET_PATHS", "1"))
		die("--call-paths (COMDET_PATHS) of uses and reuses needs the "
		    "source instr: -s instr");
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
	check_trace_fits(source);
	if (is_set("COMDET_FREQ", NULL) && is_set("COMDET_BUDGET", NULL))
		die("-F (COMDET_FREQ) fixes the rate, and --budget "
		    "(COMDET_BUDGET) changes it: give one of them");
	if (is_set("COMDET_MODE", "reuse") && is_set("COMDET_BUDGET", NULL))
		die("--budget (COMDET_BUDGET) is for maps of communication: "
		    "leave out -m reuse");
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
