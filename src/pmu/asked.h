/* SPDX-License-Identifier: MIT */
/*
 * asked - events that the user names, as COMDET_EVENT has them
 *
 * A list with commas of one event of loads and one of stores at most:
 *
 *	loads=CODE[/CODE1][:NAME]	stores=CODE[/CODE1][:NAME]
 *
 * CODE and CODE1 are perf_event_attr.config and config1, in hexadecimal; NAME
 * is for people. The profiled process knows no names of events: `reusetrack
 * record` looks these up in libpfm4, and passes the codes on.
 */
#ifndef COMDET_PMU_ASKED_H
#define COMDET_PMU_ASKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
	PMU_ASKED_LOADS,
	PMU_ASKED_STORES,
	PMU_ASKED_KINDS,
	PMU_ASKED_NAME_BYTES = 44,
	PMU_ASKED_TEXT_BYTES = 192,
};

struct pmu_asked_event {
	uint64_t config, config1; /* config 0: not asked for */
	char name[PMU_ASKED_NAME_BYTES];
};

struct pmu_asked {
	struct pmu_asked_event event[PMU_ASKED_KINDS];
};

/*
 * Read @text, NULL or empty if nothing is asked for. Returns 0, or -EINVAL with
 * nothing asked for. Context: any.
 */
int pmu_asked_read(struct pmu_asked *asked, const char *text);

/* Write it as pmu_asked_read reads it. Context: any. */
void pmu_asked_write(const struct pmu_asked *asked, char *text, size_t size);

/* True if at least one event is asked for. */
bool pmu_asked_any(const struct pmu_asked *asked);

/*
 * True if the event counts each of the accesses, as its name says (ALL_LOADS,
 * ALL_STORES).
 */
bool pmu_asked_counts_all(const struct pmu_asked_event *e);

#endif
