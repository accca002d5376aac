/* SPDX-License-Identifier: MIT */
/*
 * list - print what this machine can sample: counters, events, fields, modes
 *
 * The qualitative comparison of precise event sampling (M. A. Sasongko, PhD
 * thesis 2022, table 4.1), for this machine. It reads CPUID and what the kernel
 * lists, and opens nothing; reusetrack doctor tries what is listed here.
 */
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "analysis/base/json_build.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/events/named_events.h"
#include "src/pmu/kernel.h"
#include "src/pmu/machine.h"
#include "src/pmu/plan.h"

enum {
	LEAF_PERFMON = 0xa,             /* Intel: architectural PMU */
	LEAF_AMD_FEATURES = 0x80000001, /* AMD: ECX bit 23: core counters */
	LEAF_AMD_PERFMON = 0x80000022,  /* AMD: version 2, EBX: counters */
	AMD_COUNTERS_OLD = 4,
	AMD_COUNTERS = 6,
	ROWS_MAX = 16,
	WORDS = 320,
	KEY_COLUMNS = 18,
	EVENT_INDENT = 4,
};

/* A row of the table, with the same text for people and for programs. */
struct row {
	const char *key;
	char value[WORDS];
};

struct list {
	struct pmu_machine machine;
	struct row row[ROWS_MAX];
	int rows;
};

__attribute__((format(printf, 3, 4))) static void add(struct list *l,
						      const char *key,
						      const char *fmt, ...)
{
	struct row *r = &l->row[l->rows++];
	va_list ap;

	r->key = key;
	va_start(ap, fmt);
	vsnprintf(r->value, sizeof(r->value), fmt, ap);
	va_end(ap);
}

static const struct perf_kernel *kernel(void)
{
	return &perf_kernel_linux;
}

static bool has(const char *pmu, const char *name)
{
	return pmu_sysfs_has(kernel(), pmu, name);
}

/*
 * Append those of @names that the PMU has in its folder @folder, with commas.
 */
static void append_present(char *text, size_t size, const char *pmu,
			   const char *folder, const char *const *names)
{
	char path[96];
	size_t n;

	for (int i = 0; names[i]; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		if (!has(pmu, path))
			continue;
		n = strlen(text);
		snprintf(text + n, size - n, "%s%s", n ? ", " : "", names[i]);
	}
}

static uint32_t leaf(uint32_t number, int reg)
{
	uint32_t regs[4], most[4];

	kernel()->cpuid(NULL, number & 0x80000000, most);
	if (most[0] < number)
		return 0;
	kernel()->cpuid(NULL, number, regs);
	return regs[reg];
}

static void list_processor(struct list *l)
{
	const struct pmu_machine *m = &l->machine;
	const char *vendor = m->vendor == PMU_VENDOR_INTEL ? "Intel"
			     : m->vendor == PMU_VENDOR_AMD ? "AMD"
							   : "unknown vendor";

	add(l, "processor", "%s family %#x model %#x: %s%s", vendor, m->family,
	    m->model, m->known ? m->known->name : "not known here",
	    m->virtual_machine ? ", in a virtual machine" : "");
	if (!m->known)
		return;
	for (int i = 0; i < PMU_KINDS_MAX && m->known->core[i]; i++)
		add(l, "cores", "%s", pmu_core_events(m->known->core[i])->name);
}

static void list_counters(struct list *l)
{
	uint32_t a, n;

	if (l->machine.vendor == PMU_VENDOR_INTEL) {
		a = leaf(LEAF_PERFMON, 0);
		add(l, "counters",
		    a & 0xff ? "%u general, %u fixed, %u bits wide; version %u"
			     : "none are announced",
		    a >> 8 & 0xff, leaf(LEAF_PERFMON, 3) & 0x1f, a >> 16 & 0xff,
		    a & 0xff);
		return;
	}
	n = leaf(LEAF_AMD_PERFMON, 1) & 0xf;
	if (!n)
		n = leaf(LEAF_AMD_FEATURES, 2) & 1 << 23 ? AMD_COUNTERS
							 : AMD_COUNTERS_OLD;
	add(l, "counters",
	    has("cpu", "type") ? "%u general, 48 bits wide"
			       : "%u by the processor; the kernel has no PMU",
	    n);
}

static void list_code(struct list *l, const char *key,
		      const struct pmu_code *code, const char *note)
{
	if (code->config)
		add(l, key, "%s (event %#x, umask %#x)%s", code->name,
		    code->config & 0xff, code->config >> 8, note);
}

static void list_pebs(struct list *l)
{
	static const char *const kinds[] = { "cpu_core", "cpu_atom",
					     "cpu_lowpower" };
	const struct pmu_model *m = l->machine.known;
	bool hybrid = has("cpu_core", "type"), listed = !m;

	for (int i = 0; m && i < PMU_KINDS_MAX && m->core[i]; i++) {
		const struct pmu_core_events *e = pmu_core_events(m->core[i]);
		const char *pmu = hybrid ? kinds[i] : "cpu";
		long precise =
			pmu_sysfs_number(kernel(), pmu, "caps/max_precise");

		if (!has(pmu, "type")) {
			add(l, "PMU", "the kernel lists no PMU %s", pmu);
			continue;
		}
		listed = true;
		add(l, "PMU", "%s: precise_ip up to %ld", pmu,
		    precise < 0 ? 0 : precise);
		list_code(l, "loads", &e->loads, "");
		list_code(l, "stores", &e->stores, "");
		list_code(l, "slow loads", &e->slow_loads,
			  e->needs_aux ? ", beside mem-loads-aux" : "");
		list_code(l, "slow stores", &e->slow_stores, "");
		if (e->why_not[0])
			add(l, "not usable", "%s", e->why_not);
	}
	if (!listed)
		return;
	add(l, "sampled",
	    "exact instruction, data address, data source, "
	    "latency of slow loads; not the width, which the "
	    "instruction tells");
	add(l, "counted", "events, exactly, while sampling");
	add(l, "modes", "user and kernel apart, in hardware");
}

static void list_ibs(struct list *l)
{
	static const char *const formats[] = { "cnt_ctl", "l3missonly",
					       "swfilt", "ldlat", NULL };
	uint32_t caps = l->machine.ibs_caps;
	char text[WORDS] = "";

	add(l, "IBS",
	    caps ? "capabilities %#x: %s, intervals up to %#x"
		 : "not announced by the processor",
	    caps, caps & IBS_CAPS_OP_COUNT ? "counts ops" : "counts cycles",
	    caps & IBS_CAPS_COUNT_EXT ? 0x7fffff0 : 0xffff0);
	if (!has("ibs_op", "type")) {
		add(l, "PMU", "the kernel lists no ibs_op");
		return;
	}
	append_present(text, sizeof(text), "ibs_op", "format", formats);
	add(l, "PMU", "ibs_op: %s", text[0] ? text : "no options");
	add(l, "events",
	    "every op alike: loads and stores are told apart in "
	    "the sample");
	add(l, "sampled",
	    "exact instruction%s, data address, physical address, width, "
	    "load, store, locked, data source%s, latency of misses, TLB",
	    caps & IBS_CAPS_RIP_INVALID_CHECK ? " or that it is not known" : "",
	    caps & IBS_CAPS_ZEN4 ? " in detail" : "");
	add(l, "counted", "ops; accesses are their share in the samples");
	add(l, "modes",
	    has("ibs_op", "format/swfilt")
		    ? "user and kernel apart, by the driver"
		    : "all; user samples are picked out, and without "
		      "privilege it does not open");
}

static void list_other(struct list *l)
{
	add(l, "clock",
	    "any machine: a sample after every so many ns of CPU time; the "
	    "access, "
	    "its address and width are decoded; accesses are not counted");
	add(l, "debug registers", "4; reusetrack doctor says how many fire");
}

static void look(struct list *l)
{
	memset(l, 0, sizeof(*l));
	pmu_machine_look(&l->machine, kernel());
	list_processor(l);
	list_counters(l);
	if (l->machine.vendor == PMU_VENDOR_INTEL)
		list_pebs(l);
	else if (l->machine.vendor == PMU_VENDOR_AMD)
		list_ibs(l);
	list_other(l);
}

static int list_json(const struct list *l)
{
	json_t *rows = json_array();

	for (int i = 0; i < l->rows; i++)
		json_array_append_new(rows, json_pack("{s:s, s:s}", "what",
						      l->row[i].key, "value",
						      l->row[i].value));
	return json_print(json_pack("{s:i, s:i, s:i, s:b, s:o}", "schema", 1,
				    "family", l->machine.family, "model",
				    l->machine.model, "known",
				    l->machine.known != NULL, "rows", rows));
}

static void add_event(void *ctx, const char *name, const char *what)
{
	json_array_append_new(
		ctx, json_pack("{s:s, s:s}", "name", name, "what", what));
}

/* The events that record -e takes on this processor. */
static int list_events(bool json)
{
	json_t *events = json_array(), *e;
	char why[WORDS];
	size_t i;

	if (named_events_each(add_event, events, why, sizeof(why)))
		die("list events: %s", why);
	if (!json_array_size(events))
		die("list events: libpfm4 knows no event of loads or stores of "
		    "this processor that is sampled precisely");
	if (json)
		return json_print(json_pack("{s:i, s:o}", "schema", 1, "events",
					    events))
			       ? 1
			       : 0;
	json_array_foreach(events, i, e)
	{
		printf("%s\n", json_string_value(json_object_get(e, "name")));
		printf("%*s", EVENT_INDENT, "");
		print_wrapped(stdout,
			      json_string_value(json_object_get(e, "what")),
			      EVENT_INDENT, EVENT_INDENT);
	}
	json_decref(events);
	return 0;
}

static int run_list(int argc, char **argv)
{
	static const struct option long_options[] = {
		{ "json", no_argument, NULL, 'j' },
		{ NULL, 0, NULL, 0 },
	};
	struct list l;
	const struct option_syntax syntax = { "list", cmd_list.usage, ":j",
					      long_options };
	bool json = false;
	int letter;

	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		json = true;
	if (optind + 1 == argc && !strcmp(argv[optind], "events"))
		return list_events(json);
	if (optind < argc)
		die("list takes no argument but events; see reusetrack list "
		    "--help");
	look(&l);
	if (json)
		return list_json(&l) ? 1 : 0;
	for (int i = 0; i < l.rows; i++) {
		printf("%-*s", KEY_COLUMNS, l.row[i].key);
		print_wrapped(stdout, l.row[i].value, KEY_COLUMNS, KEY_COLUMNS);
	}
	return 0;
}

const struct command cmd_list = {
	.name = "list",
	.summary = "what this machine can sample",
	.usage =
		"usage: reusetrack list [--json] [events]\n\n"
		"Says which counters and events this machine has for "
		"sampling memory accesses,\n"
		"what a sample holds, and what can be told apart. Nothing is "
		"opened: see\n"
		"reusetrack doctor for what works. With the word events, names "
		"those that\n"
		"record -e takes on this processor.\n\n"
		"      --json    one JSON object instead of text\n",
	.run = run_list,
};
