/* SPDX-License-Identifier: MIT */
/*
 * machine_measure - what a machine file says, measured on this machine
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_MEASURE_H
#define COMDET_ANALYSIS_MODEL_MACHINE_MEASURE_H

#include <stddef.h>
#include <stdint.h>

#include "machine.h"

/* 0 where a value could not be measured. */
struct machine_times {
	double cycle_ns; /* of a chain of additions, one a cycle */
	double l2_ns;    /* a load that hits there, from issue to data */
	double set_load_ns, set_store_ns; /* of lines of one set, as of L2 */
	double llc_ns;
	double llc_bytes; /* of the LLC that this machine really has */
	double memory_ns;
	double next_ns; /* a load of the next line of a stream from memory */
	double rmw_ns;  /* an addition to memory, after the one before */
	double rmw_double_ns; /* the same of floating-point numbers */
	double bandwidth_gbs; /* of all cores that this process may use */
	double round_trip_ns; /* of a line between two cores */
};

/*
 * Measure for about three seconds of an idle machine. @m says how large the
 * caches are. The least of several repeats counts, as whatever disturbs a
 * measurement makes it longer; of the bandwidth the greatest, of round trips
 * the median. Of all that the median of five rounds counts: what others on the
 * host leave of the LLC and of the memory changes from second to second.
 */
void machine_measure(const struct machine *m, struct machine_times *t);

/* Put the medians of @n rounds into @t, each of those that are not 0. */
void machine_middle_times(const struct machine_times *rounds, size_t n,
			  struct machine_times *t);

/*
 * Put @t into @m: the keys of docs/machines.md from the times of whole
 * accesses. What was not measured stays as it is.
 */
void machine_take_times(struct machine *m, const struct machine_times *t);

#endif
