/* SPDX-License-Identifier: MIT */
/*
 * equation - RPPM's equation 1, and its corrections
 *
 *	C = N / D_eff + m_branch (c_res + c_fr) + sum of m_IL c_L
 *	    + m_LLC c_mem / MLP
 *
 * the cycles of N micro-operations (De Pestel et al., ISPASS 2019; details
 *after Van den Steen et al., IEEE TC 65, 2016). Each correction can be left
 *out, so that its gain can be measured; EQUATION_PAPER has none.
 */
#ifndef COMDET_ANALYSIS_PREDICT_EQUATION_H
#define COMDET_ANALYSIS_PREDICT_EQUATION_H

#include "levels.h"
#include "analysis/model/cpi_stack.h"

#define EQUATION_LIST(X)                                                       \
	X(COUNTS, counts, "mispredictions counted, not from the entropy")      \
	X(DEPTHS, depths, "misses by depths, not by reuse times")              \
	X(CLASSES, classes, "chains weighted by the latency of each class")    \
	X(BOUNDS, bounds, "the memory bus and the MSHRs bound the time")       \
	X(WINDOWS, windows, "each window by itself")                           \
	X(GROWTH, growth, "the growth of the chain instead of its length")     \
	X(LEVELS, levels, "the level of each load; misses counted in chains")  \
	X(FLIGHT, flight, "a load waits for the load that fetches its line")   \
	X(FILL, fill, "work under a miss, and from the entry of a branch")     \
	X(OVERLAP, overlap, "base and resolution of branches overlap")         \
	X(TIMED, timed, "micro-traces are timed; without the equation")

enum equation_step {
#define X(NAME, name, words) EQUATION_##NAME##_BIT,
	EQUATION_LIST(X)
#undef X
	EQUATION_STEPS
};
enum {
#define X(NAME, name, words) EQUATION_##NAME = 1 << EQUATION_##NAME##_BIT,
	EQUATION_LIST(X)
#undef X
	EQUATION_PAPER = 0,
	EQUATION_CORRECTED = EQUATION_TIMED - 1,
	EQUATION_ALL = 2 * EQUATION_TIMED - 1,
};
extern const char *const equation_names[EQUATION_STEPS];
extern const char *const equation_words[EQUATION_STEPS];

/* What a list of corrections, as the option --equations has it, leaves out. */
unsigned int equation_without(const char *names);

struct equation;

struct equation *equation_new(const struct machine *m, unsigned int steps);
void equation_free(struct equation *e);

/*
 * The cycles of windows @first to @end, less one, of @t, by component; its
 * micro-traces are those from @micro on, @micros of them. @written is how many
 * lines are written back for each that memory delivers.
 */
void equation_windows(struct equation *e, const struct levels *levels,
		      const struct workload_thread *t, size_t first, size_t end,
		      size_t micro, size_t micros, double written,
		      double stack[CPI_COMPONENTS]);

#endif
