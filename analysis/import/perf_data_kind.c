/* SPDX-License-Identifier: MIT */
/*
 * perf_data_kind - what an event of a recording samples: loads, stores, IBS ops
 *
 * The attribute of a watchpoint says so. For others it is found from the name
 * of the event or of its PMU, if the recording has one, else from Intel's
 * number of the event.
 */
#include <ctype.h>
#include <linux/hw_breakpoint.h>
#include <string.h>

#include "perf_data_internal.h"

/*
 * True if @name has @word at its start or after a character that is not a
 * letter.
 */
static bool has_word(const char *name, const char *word)
{
	for (const char *p = name; (p = strcasestr(p, word)); p++)
		if (p == name || !isalnum((unsigned char)p[-1]))
			return true;
	return false;
}

/*
 * Intel's precise events for memory: load latency and store (0xcd), and retired
 * memory instructions (0xd0), whose unit mask has bit 0 for loads and bit 1 for
 * stores; loads by where they hit (0xd1 to 0xd4).
 */
static enum perf_kind kind_of_config(uint64_t config)
{
	uint32_t event = config & 0xff, mask = config >> 8 & 0xff;

	if (event == 0xcd)
		return mask == 1   ? PERF_KIND_LOADS
		       : mask == 2 ? PERF_KIND_STORES
				   : PERF_KIND_UNKNOWN;
	if (event == 0xd0)
		return mask & 1   ? PERF_KIND_LOADS
		       : mask & 2 ? PERF_KIND_STORES
				  : PERF_KIND_UNKNOWN;
	return event >= 0xd1 && event <= 0xd4 ? PERF_KIND_LOADS
					      : PERF_KIND_UNKNOWN;
}

static enum perf_kind kind_of(const struct perf_data *d,
			      const struct perf_data_event *e)
{
	const char *pmu = "";

	/*
	 * A watchpoint on reads and writes does not say which of them it was.
	 */
	if (e->attr.type == PERF_TYPE_BREAKPOINT)
		return e->attr.bp_type == HW_BREAKPOINT_W ? PERF_KIND_STORES
							  : PERF_KIND_UNKNOWN;
	for (size_t i = 0; i < d->pmus; i++)
		if (d->pmu[i].type == e->attr.type)
			pmu = d->pmu[i].name;
	if (!strcmp(pmu, "ibs_op") || !strncmp(e->name, "ibs_op", 6))
		return PERF_KIND_IBS_OP;
	if (has_word(e->name, "mem-stores") || has_word(e->name, "stores") ||
	    has_word(e->name, "all_stores"))
		return PERF_KIND_STORES;
	if (has_word(e->name, "mem-loads") || has_word(e->name, "loads") ||
	    has_word(e->name, "load_latency") || has_word(e->name, "mem_load"))
		return PERF_KIND_LOADS;
	if (e->attr.type == PERF_TYPE_RAW)
		return kind_of_config(e->attr.config);
	return PERF_KIND_UNKNOWN;
}

void perf_data_name_kind(const struct perf_data *d, struct perf_data_event *e)
{
	e->kind = kind_of(d, e);
	e->kind_at = d->kinds;
}
