/* SPDX-License-Identifier: MIT */
/*
 * timing - how long the micro-operations of a micro-trace take on a core
 *
 * The rules are those of the simulated core (analysis/model/core.h); the level
 * of an access follows from how far back it reuses its line, and not from the
 * state of caches. The first part of each micro-trace fills the core and is not
 * counted.
 */
#ifndef COMDET_ANALYSIS_PREDICT_TIMING_H
#define COMDET_ANALYSIS_PREDICT_TIMING_H

#include "levels.h"
#include "analysis/model/cpi_stack.h"

/* What the counted micro-operations of some micro-traces did. */
struct timed {
	double uops, cycles;
	double squares[3]; /* sums of cycles^2, cycles x uops, uops^2 */
	uint32_t micros;
	struct cpi_stack stack;
	double wrong;        /* mispredicted branches */
	double data[LEVELS]; /* loads and stores by their level */
	double code[LEVELS]; /* lines of instructions */
	/* Cycles that they hold no MSHR, as lines were asked for before, or
	 * wait for a line that is on its way. */
	double saved[LEVELS];
	double vain; /* lines of memory that a prefetcher asked for in vain */
	/* Of CPI_DEPENDENCE: stores waited until their queue had an entry,
	 * which one to a line of this level gave up. That may have been issued
	 * before: so @whole counts what @data does, but in whole micro-traces,
	 * which have @whole_uops. */
	double queued[LEVELS], whole[LEVELS], whole_uops;
};

/*
 * All of a machine that decides how long a micro-trace takes, whose accesses go
 * to some of the levels. Two machines are equal here if all bytes are.
 */
struct timing_core {
	uint32_t width, rob, iq, load_queue, store_queue, mshrs;
	uint32_t refill, vector_load_extra, predictor, zero_idioms;
	uint32_t prefetcher, ahead; /* for misses of L1D */
	uint32_t forwarding, forwarding_vector, in_turn;
	uint32_t sets, after_load, after_store; /* of L1D; 0: no turns */
	struct machine_uop uop[UOP_CLASSES];
	uint64_t latency[LEVELS]; /* of a load */
	uint64_t to_memory;       /* cycles until memory is asked */
	double slot;              /* of a transfer */
};

/*
 * In timing_core.c, as the next two. Those levels have a bit in @used; what
 * others take is 0.
 */
void timing_core_of(struct timing_core *c, const struct machine *m,
		    unsigned int used);

/* How many cycles less a line of @level holds an MSHR, on average. */
double timed_saved(const struct timed *t, enum caches_level level);

/*
 * How many cycles more stores waited for their queue, if those of each level
 * had the factor of its component, which is for t->whole.
 */
double timed_queued(const struct timed *t, const double factor[CPI_COMPONENTS]);

/* Of each line of data from memory, how many are fetched in vain. */
double timed_vain(const struct timed *t);

struct timing;

struct timing *timing_new(const struct machine *m);
void timing_free(struct timing *t);

/* Go on with another machine, with no transfers of other cores. */
void timing_change(struct timing *t, const struct machine *m);

/* Other cores have memory transfer @lines lines a cycle. */
void timing_others(struct timing *t, double lines);

/*
 * Time the micro-trace @of of @thread, whose accesses go to the levels @level
 * (levels_of_micro), and add what it did to @to. Of each line that memory
 * delivers, @written lines are written back. What was timed before has no
 * effect, but for lines that are still to be written back.
 */
void timing_run(struct timing *t, const struct workload_thread *thread,
		const struct micro_trace *of, const uint8_t *level,
		double written, struct timed *to);

#endif
