/* SPDX-License-Identifier: MIT */
/*
 * named_events - events of loads and stores by their names, from libpfm4
 *
 * libpfm4 is looked for when it is first needed, so reusetrack also runs where
 * it is not installed. The profiled process never loads it: it allocates. What
 * is found here goes there as codes, in COMDET_EVENT.
 */
#ifndef COMDET_ANALYSIS_EVENTS_NAMED_EVENTS_H
#define COMDET_ANALYSIS_EVENTS_NAMED_EVENTS_H

#include <stdbool.h>
#include <stddef.h>

#include "src/pmu/asked.h"

/*
 * Put this processor's event @name (such as MEM_LOAD_RETIRED.L3_MISS) into its
 * place in @asked, loads or stores. Returns 0, or -1 with the reason in @why.
 */
int named_event_find(const char *name, struct pmu_asked *asked, char *why,
		     size_t size);

/*
 * Ask for all loads and all stores, as libpfm4 names them for this processor.
 * Returns true if it does.
 */
bool named_events_all(struct pmu_asked *asked);

/*
 * Call @each for every event of this processor that names_event_find finds, in
 * libpfm4's order. Returns 0, or -1 with the reason in @why.
 */
int named_events_each(void (*each)(void *ctx, const char *name,
				   const char *what),
		      void *ctx, char *why, size_t size);

#endif
