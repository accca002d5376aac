/* SPDX-License-Identifier: MIT */
/*
 * timing_internal - what the files of timing share
 */
#ifndef COMDET_ANALYSIS_PREDICT_TIMING_INTERNAL_H
#define COMDET_ANALYSIS_PREDICT_TIMING_INTERNAL_H

#include "cycle_queue.h"
#include "port_lanes.h"
#include "timing.h"
#include "analysis/model/memory_bus.h"
#include "analysis/model/ports.h"
#include "analysis/model/set_turn.h"
#include "analysis/model/streams.h"
#include "analysis/model/time_queue.h"

enum {
	APART = 1 << 16, /* cycles between two micro-traces */
};

/*
 * The times of the micro-operations of the micro-trace. Those of an earlier
 * one, which nobody asks for, are before all times of this one; but where the
 * same one was timed just before, its stores may end later.
 */
struct times {
	uint64_t done[MICRO_UOPS], commit[MICRO_UOPS];
	uint64_t operands[MICRO_UOPS]; /* from when its sources are there */
	uint64_t line[MICRO_UOPS]; /* when a miss brings the line it accesses */
	uint64_t missed[MICRO_UOPS]; /* when its access missed L1D, */
	uint8_t from[MICRO_UOPS];    /* and the level that has the line */
	uint64_t ended[MICRO_UOPS];  /* of a store: its access is complete */
	/* Where the line still is: a forwarded load has not brought it. */
	uint8_t left[MICRO_UOPS];
};

/*
 * A set of L1D. Where a micro-trace is timed again behind itself, the program
 * would have gone on: it comes again to a set that it comes to all the time,
 * and to another one in place of a set that it had left.
 */
struct timing_set {
	uint64_t free; /* when; see set_turn.h */
	uint64_t last; /* micro-operation that missed in it, of all timed */
	uint64_t gap;  /* largest between two of them in a micro-trace */
};

struct timing {
	struct timing_core core;
	struct port_lanes lanes;
	struct ports *ports; /* NULL: the lanes do */
	struct memory_bus *bus;
	struct cycle_queue iq;
	struct time_queue loads, stores, mshrs;
	struct timing_set *set; /* of L1D; NULL: they are always free */
	struct times at;

	/* The micro-trace that is timed. */
	const uint8_t *level;
	const struct micro_uop *uop;
	const struct micro_access *access; /* of the thread */
	uint64_t first, pass;              /* micro-operations timed before it,
					      and before it was timed again */
	uint64_t latest; /* of all sets, the last that missed */
	double written, unwritten;         /* lines to write back */
	double others, other_next; /* transfers in a cycle, and the next */
	uint64_t begin;            /* when the bus begins */
	uint64_t end;              /* of what was timed before */
	struct timed *to;          /* &warm: not counted yet */
	struct timed *whole;       /* where it will be */
	struct timed warm;
	double slot_share; /* of the width, a micro-operation */
};

static inline uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* When what is asked for @now arrives from memory; *@bus: the wait. */
uint64_t timing_ask_memory(struct timing *t, uint64_t now, uint64_t *bus);

/* What an access found. */
struct found {
	uint64_t done, bus;
	enum caches_level level;
	bool held; /* a store has its data */
};

/* The number @i accesses its line of @level @now; quick ones are in timing.c. */
struct found timing_access(struct timing *t, uint32_t i,
			   enum caches_level level, uint64_t now);

#endif
