/* SPDX-License-Identifier: MIT */
/*
 * sampling - which instructions of a trace are simulated in detail, and what
 * they say of all
 *
 * Systematic sampling as in SMARTS (Wunderlich, Wenisch, Falsafi and Hoe, ISCA
 * 2003). The first fiftieth of a program, at most SAMPLING_HEAD_MAX
 * instructions, is all in detail: it starts with empty caches and is like
 * nothing after it. The other instructions of all threads, in the order in
 *which they are simulated, are cut into strata of equal length. Each stratum
 *has one unit, which is measured; the instructions before it are simulated in
 *detail too, so that queues are as full as they are in a long run; all others
 *only change caches and predictors.
 *
 * A unit lies at a random place of its stratum. With the same place in all of
 * them, a program that repeats itself at the distance of the units would show
 * the same part of it in each: a wrong time, and no spread that tells so.
 *
 * The time of n strata of K instructions is T = K sum(r_i), where r_i is time
 * by instruction in unit i, of U instructions. Its variance is
 *
 *	V = n K^2 (1 - U / K) sum((r_i+1 - r_i)^2) / 2 (n - 1),
 *
 * the estimator by successive differences (Wolter, JASA 79, 1984, v2). It takes
 * what the strata differ by for spread within them, so it is rather too large.
 * Both are of what a forecast of the time leaves: the linear regression
 * estimator (Cochran, Sampling Techniques, 7.1). A forecast needs no detail, so
 * all instructions have one: f_i is that of unit i, F_i that of all of stratum
 * i, by instruction. With b, the slope of r on f over the units, by successive
 * differences as well,
 *
 *	T = K sum(r_i + b (F_i - f_i)),
 *
 * and V has r_i - b f_i in place of r_i. So a burst of misses that no unit met
 * is in T, and one that a unit met does not count for the whole stratum. If all
 * units have about the same forecast and some stratum another one, they do not
 * tell b: it comes near sum(r) / sum(f), and all that it adds is in doubt.
 *
 * The interval is T +- t sqrt(V), with Student's t of 2 n / 3 degrees of
 * freedom, those of V for independent normal r_i, and wider by what sampling
 * cannot know: SAMPLING_ALONE of the time for what warming does not restore, or
 * SAMPLING_TOGETHER if threads run at a time, whose order between the units is
 * not that of a full simulation. simulate_result.c adds the time for lines of
 * other cores, of which that order decides most.
 */
#ifndef COMDET_ANALYSIS_MODEL_SAMPLING_H
#define COMDET_ANALYSIS_MODEL_SAMPLING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/rng.h"

enum {
	SAMPLING_UNIT = 1000, /* instructions, of each core */
	SAMPLING_WARM = 2000, /* the same: in detail, before a unit */
	SAMPLING_LEAST = 30,  /* units of a program */
	SAMPLING_FEW = 10,    /* with fewer units there is no interval */
	SAMPLING_UNITS = 1000,
	SAMPLING_HEAD_MAX = 1000000,
	SAMPLING_ERROR_BYTES = 160,
};

#define SAMPLING_ALONE    0.01
#define SAMPLING_TOGETHER 0.02

/* What the user wants. */
struct sampling_wish {
	uint64_t units; /* 0: as many as are worth while */
	uint64_t seed;
};

enum sampling_phase {
	SAMPLING_HEAD,  /* the first instructions: in detail, and measured */
	SAMPLING_PASS,  /* only caches and predictors */
	SAMPLING_READY, /* in detail */
	SAMPLING_MEASURE
};

/* Of a unit, for each instruction. */
struct sampling_unit {
	double cycles, forecast;
};

struct sampling {
	uint64_t unit, warm, distance; /* instructions */
	double doubt;                  /* SAMPLING_ALONE or SAMPLING_TOGETHER */
	uint64_t head;      /* the first stratum begins with this instruction */
	double head_cycles; /* the time before it */
	struct rng rng;
	enum sampling_phase phase;
	uint64_t turn;  /* the instruction with which the next phase begins */
	uint64_t start; /* of the stratum's unit */
	double begun;   /* the time at which the unit began */
	struct sampling_unit *unit_of; /* by stratum */
	size_t units, room;
	double ahead; /* forecast of the present unit */
	double *all;  /* by stratum: the forecast of all its instructions */
	size_t strata, strata_room;
	uint64_t end; /* the instruction behind those with a forecast */
};

struct sampling_estimate {
	double cycles;
	double error; /* half of the 95 % interval; INFINITY: too few units */
	size_t units;
};

/*
 * Sample @instructions on @cores, which run at a time. Returns 0, or -EINVAL
 * with a line in @error: there are too few instructions.
 */
int sampling_init(struct sampling *s, uint64_t instructions, uint32_t cores,
		  const struct sampling_wish *wish,
		  char error[SAMPLING_ERROR_BYTES]);
void sampling_release(struct sampling *s);

/*
 * Instruction @s->turn comes next, at @time in cycles: the next phase begins.
 * Some phases have no instructions; then there are several turns before one.
 */
void sampling_turn(struct sampling *s, double time);

/*
 * The forecast of the time of some instructions, those before instruction @at,
 * which are all in the same phase. In order.
 */
void sampling_foresee(struct sampling *s, uint64_t at, double cycles);

/*
 * The time from instruction @from to instruction @to of all threads, without
 * those before the first stratum.
 */
struct sampling_estimate sampling_time(const struct sampling *s, uint64_t from,
				       uint64_t to);

#endif
