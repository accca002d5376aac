/* SPDX-License-Identifier: MIT */
/*
 * memory_tally - sampled accesses summed by data source, site and cache line
 *
 * For profiles whose source says where data came from. Shares are by period: of
 * loads among loads and of stores among stores, since the two are different
 * events. Every sum saturates.
 */
#ifndef COMDET_ANALYSIS_PROFILE_MEMORY_TALLY_H
#define COMDET_ANALYSIS_PROFILE_MEMORY_TALLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile.h"
#include "src/base/interval.h"
#include "src/pmu/memory.h"
#include "src/pmu/sample.h"

/* A read-modify-write counts as a store if the sample says that it is one. */
enum memory_access {
	MEMORY_LOADS,
	MEMORY_STORES,
	MEMORY_ACCESSES
};

struct memory_sum {
	uint64_t samples, periods;
	double periods_squared;
	uint64_t hitm, locked, tlb_miss;
	uint64_t latencies, latency_sum, latency_max;
};

/* An instruction or a cache line. */
struct memory_place {
	uint32_t process;
	uint64_t address, generation; /* address 0: all that have no record */
	uint64_t example;             /* a data address sampled there */
	struct memory_sum access[MEMORY_ACCESSES];
	uint64_t source[MEMORY_ACCESSES][DATA_SOURCE_COUNT]; /* samples */
};

struct memory_tally {
	struct memory_sum source[MEMORY_ACCESSES][DATA_SOURCE_COUNT];
	struct memory_sum all[MEMORY_ACCESSES];
	struct memory_place *site, *line; /* most latency first */
	size_t sites, lines;
	struct cdp_memory_event *event; /* of all processes, by name */
	size_t events, events_room;
};

/* False, with nothing to release, if @p says nothing of the memory system. */
bool memory_tally_init(struct memory_tally *t, const struct profile *p);
void memory_tally_release(struct memory_tally *t);

/*
 * The share by period, with its 95 % interval from Kish's effective number of
 * samples.
 */
double memory_share(const struct memory_tally *t, enum memory_access a,
		    enum data_source s, struct interval *interval);

/* Mean latency in core cycles, 0 if none is known. */
double memory_latency(const struct memory_sum *s);
/* The sum of loads and stores. */
struct memory_sum memory_both(const struct memory_place *p);
/* The source of most loads of @p, or of most stores if it has no loads. */
enum data_source memory_main_source(const struct memory_place *p);

const char *memory_source_name(enum data_source s); /* for programs */
const char *memory_source_text(enum data_source s);

#endif
