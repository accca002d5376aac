/* SPDX-License-Identifier: MIT */
/*
 * unit_sampler - a sampled simulation: what its threads do between the units,
 * and what the units say of each thread
 *
 * Between two units a thread advances by the cycles that each block took when
 * it was in detail, or by its cycles per instruction in the latest units if it
 * never was. So it comes to its locks and barriers in about the order of a full
 * simulation, and a thread in slow code lets the others do more meanwhile. That
 * is all that this clock decides: times are taken from the units.
 *
 * All threads are in the same phase. So those that run meet at the memory bus,
 * and wait for each other in a unit as they do in a full simulation. A unit's
 * time is that of the program: waiting is part of it.
 *
 * Code that is executed for the first time comes in bursts, which units seldom
 * meet. So the time of misses of instructions, as the caches tell it for each
 * of them, is taken from that of the units, and what it is in the whole program
 * is added to the estimate: a difference estimator (Cochran, Sampling
 * Techniques, 7.2).
 */
#ifndef COMDET_ANALYSIS_MODEL_UNIT_SAMPLER_H
#define COMDET_ANALYSIS_MODEL_UNIT_SAMPLER_H

#include "core.h"
#include "sampling.h"

struct unit_sampler_thread {
	const struct core_account *account;
	struct core_account before;  /* when the unit began */
	double cpi;                  /* in the latest units; 0: never ran */
	double clock;                /* between units */
	double cycles, instructions; /* of the latest units */
	/* Of all units: */
	double stack[CPI_COMPONENTS]; /* cycles without waiting */
	double there;                 /* cycles between its start and its end */
	struct core_account head;     /* before the first stratum */
	uint64_t
		start; /* the instruction of all threads with which it starts */
	uint64_t end;  /* and ends */
	double since, until; /* the times of its start and end */
	double fetched, all; /* fetches.cycles at its start and end */
	bool began, over;
};

/* The cycles of an instruction of a block that was in detail so often. */
struct unit_sampler_block {
	float cpi;
	uint32_t times;
	float chain; /* cycles of its longest chain, for each instruction */
};

struct unit_sampler {
	struct sampling sampling;
	uint64_t executed; /* instructions of all threads */
	struct unit_sampler_thread *thread;
	size_t threads;
	struct unit_sampler_block *block; /* by number */
	struct core_fetches fetches;
	struct forecast *forecast; /* by core */
	double begun;              /* the time at which the unit began */
	double cpi;                /* of all threads in the latest unit */
};

/* As sampling_init, for @threads threads and @blocks blocks. */
int unit_sampler_init(struct unit_sampler *s, uint64_t instructions,
		      size_t threads, size_t blocks, uint32_t cores,
		      const struct sampling_wish *wish,
		      char error[SAMPLING_ERROR_BYTES]);
void unit_sampler_release(struct unit_sampler *s);

/* Thread @i starts at @time, and has @account; it ends at @time. */
void unit_sampler_start(struct unit_sampler *s, size_t i,
			const struct core_account *account, double time);
void unit_sampler_end(struct unit_sampler *s, size_t i, double time);

/* Begin all phases that begin with the next instruction, at @time. */
void unit_sampler_turn(struct unit_sampler *s, double time);

/* An instruction comes next. Returns true if a phase begins with it. */
static inline bool unit_sampler_is_turn(const struct unit_sampler *s)
{
	return s->executed == s->sampling.turn;
}

/* The next @n instructions only change caches and predictors. */
static inline bool unit_sampler_passes(const struct unit_sampler *s, uint32_t n)
{
	return s->sampling.phase == SAMPLING_PASS &&
	       s->executed + n <= s->sampling.turn;
}

static inline bool unit_sampler_is_detailed(const struct unit_sampler *s)
{
	return s->sampling.phase != SAMPLING_PASS;
}

/*
 * Between units, @n instructions of thread @i and of @block begin at @now.
 * Returns when they end.
 */
uint64_t unit_sampler_pass(struct unit_sampler *s, size_t i, size_t block,
			   uint32_t n, uint64_t now);

/* The @n instructions of @block were in detail and took @cycles. */
void unit_sampler_learn(struct unit_sampler *s, size_t block, uint32_t n,
			uint64_t cycles);

/* @n instructions of @b went through @core of @m, in detail or not. */
void unit_sampler_foresee(struct unit_sampler *s, const struct machine *m,
			  uint32_t core, const struct trace *trace,
			  const struct trace_block *b, uint32_t n);

/* The time of thread @i from its start to its end. */
struct sampling_estimate unit_sampler_time(const struct unit_sampler *s,
					   size_t i);

/* The time of its start, and the time of the whole program. */
double unit_sampler_start_of(const struct unit_sampler *s, size_t i);
struct sampling_estimate unit_sampler_all(const struct unit_sampler *s);

/* The CPI stack of thread @i; its components add up to @cycles. */
void unit_sampler_stack(const struct unit_sampler *s, size_t i, double cycles,
			struct cpi_stack *to);

#endif
