/* SPDX-License-Identifier: MIT */
/*
 * machine - a processor that may not exist, as the simulator needs it
 *
 * A machine file has lines "KEY = VALUE"; '#' begins a comment. "like = NAME"
 * takes all values of another machine first. docs/machines.md describes each
 * key; `reusetrack machine NAME` prints all of them with their values.
 */
#ifndef COMDET_ANALYSIS_MODEL_MACHINE_H
#define COMDET_ANALYSIS_MODEL_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "uop.h"

enum {
	MACHINE_PORTS = 16,
	MACHINE_CORES = 64,
	MACHINE_LINE_SHIFT = 6, /* log2 of the bytes of a cache line */
	MACHINE_NAME_BYTES = 64,
	MACHINE_ERROR_BYTES = 400,
	MACHINE_ROB_MAX = 4096,
	MACHINE_AHEAD_MAX = 127,
};

/* The order is that of machine_predictor_names. */
enum machine_predictor {
	PREDICTOR_PERFECT,
	PREDICTOR_ONE_BIT,
	PREDICTOR_TOURNAMENT,
	PREDICTOR_PENTIUM_M,
	PREDICTOR_TAGE,
	PREDICTORS
};
extern const char *const machine_predictor_names[PREDICTORS];

/* The order is that of machine_prefetcher_names. */
enum machine_prefetcher {
	PREFETCHER_NONE,
	PREFETCHER_NEXT_LINE,
	PREFETCHER_ADJACENT,
	PREFETCHER_STRIDE,
	PREFETCHER_STREAM,
	PREFETCHERS
};
extern const char *const machine_prefetcher_names[PREFETCHERS];

struct machine_uop {
	uint32_t latency; /* cycles from issue to result */
	uint32_t busy;    /* cycles that it has the divider; 0: needs none */
	uint32_t ports;   /* a bit each */
};

struct machine_cache {
	uint64_t size; /* bytes */
	uint32_t ways;
	uint32_t latency; /* cycles to the data of a hit */
	uint32_t tag;     /* cycles until a miss is known */
};

struct machine {
	char name[MACHINE_NAME_BYTES];
	double ghz;
	uint32_t cores;
	uint32_t width, rob, iq, load_queue, store_queue, mshrs;
	uint32_t refill; /* cycles from the issue of a mispredicted branch to
			    the first result of what follows */
	uint32_t vector_load_extra;
	uint32_t predictor;   /* enum machine_predictor */
	uint32_t prefetcher;  /* enum machine_prefetcher, of L1D misses */
	uint32_t ahead;       /* lines that PREFETCHER_STREAM runs ahead */
	uint32_t zero_idioms; /* true: UOP_IS_ZERO is renaming alone */
	uint32_t forwarding;  /* cycles to data that a store holds; 0: its line
				 is accessed */
	uint32_t forwarding_vector; /* cycles more into a vector register */
	struct machine_uop uop[UOP_CLASSES];
	struct machine_cache l1i, l1d, l2, llc; /* l1 and l2 of each core */
	/* Cycles from a load or store that misses L1D to its set's next miss.
	 */
	uint32_t after_load, after_store;
	uint32_t transfer;  /* cycles more if another core has modified it */
	uint32_t in_turn;   /* true: a line stays until its core has had it */
	uint32_t directory; /* cycles of the look-up before memory */
	double memory_ns;
	double memory_gbs;  /* bytes per ns of the memory bus */
	uint32_t sync_call; /* cycles of a call that synchronizes */
	uint32_t sync_wake; /* cycles until a released thread runs */
};

/* Misses of one set of L1D wait for each other. */
static inline bool machine_has_turns(const struct machine *m)
{
	return m->after_load || m->after_store;
}

/*
 * Read the machine that is called @name, or the file @name. Returns 0, or
 * -EINVAL with one line for the user in @error, which names file and line.
 */
int machine_read(struct machine *m, const char *name,
		 char error[MACHINE_ERROR_BYTES]);

/* The same of @text, which is called @name in messages. */
int machine_parse(struct machine *m, const char *name, const char *text,
		  char error[MACHINE_ERROR_BYTES]);

/* Change one value, as "l2.size=1M". Call machine_check after the last. */
int machine_set(struct machine *m, const char *change,
		char error[MACHINE_ERROR_BYTES]);

/* Returns 0, or -EINVAL if values do not fit each other. */
int machine_check(const struct machine *m, char error[MACHINE_ERROR_BYTES]);

/* Write @m as a file that machine_parse reads, with what each key means. */
void machine_print(const struct machine *m, FILE *f);

#endif
