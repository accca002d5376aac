/* SPDX-License-Identifier: MIT */
/*
 * choose - from a clock interrupt to one access
 *
 * An interrupt is not an access. Half of the samples, marked as stalled, take
 * the access that the interrupted thread waited for: that of the instruction
 * before the interrupted one, found by decoding backwards. The others are
 * uniform: each access in a window of coming accesses (interp/interp.h) has
 * the same chance. The index is drawn first where that changes no chance, and
 * interpretation stops there (choose.c); one window in eight is measured to its
 * end. If the path is blocked by a value that cannot be computed, at an
 * instruction not passed before, an execution breakpoint there lets the program
 * compute it. There is at most one breakpoint for two samples, except where
 * nothing else can be chosen.
 *
 * If the stalled access is unknown, a stand-in is taken: the next access at
 * the same place of the loop, or any of a short window (a full one costs as
 * much as a uniform sample and is worth less here). Stand-ins are marked as
 * stalled. How often they occur depends on the code; counted as uniform, they
 * would give some code twice the weight of other code.
 *
 * Context: handler of the thread that owns the struct choose.
 */
#ifndef COMDET_X86_CHOOSE_H
#define COMDET_X86_CHOOSE_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/x86/interp/interp.h"
#include "src/base/loss.h"
#include "src/base/rng.h"

enum {
	CHOOSE_BREAKPOINTS_MAX = 1
};

enum chosen {
	CHOSEN,            /* access and kind are set */
	CHOSEN_BREAKPOINT, /* arm one at breakpoint_ip, then choose_resume */
	CHOSEN_NOTHING,    /* cause says why */
};

struct choice {
	enum chosen what;
	struct access access;
	enum sample_kind kind;
	uint64_t breakpoint_ip;
	enum loss_cause cause;
	bool stalled_unknown; /* a stand-in, see above */
	/*
	 * The access is number @number - 1 of the window that the interpreter
	 * has just interpreted, which interp_replay can return to. 0: it is of
	 * the instruction before the interrupted one, or of a window whose
	 * beginning is gone (@gone).
	 */
	uint32_t number;
	bool gone;
};

struct choose {
	struct rng *rng;
	struct interp *interp;
	uint32_t stalled_percent; /* of samples, default 50 */
	bool breakpoints;         /* CHOSEN_BREAKPOINT may be returned */
	/* below: private to choose.c */
	uint32_t breakpoints_used;
	uint32_t credit;    /* samples saved up; a breakpoint costs
			       BREAKPOINT_CREDIT */
	uint64_t start;     /* instruction the window began on */
	uint32_t stop_at;   /* access drawn beforehand, 0: none */
	uint32_t drawn;     /* the same of a window whose length is not known */
	uint32_t unblocked; /* windows in a row whose path was not blocked */
	bool wanted_stalled;
	bool waiting; /* for a breakpoint to be reached */
};

/* Choose an access for a thread that was interrupted at @cpu. */
void choose_start(struct choose *c, const struct cpu_state *cpu,
		  const struct memory *mem, struct choice *out);

/* Go on after the execution breakpoint was reached with registers @cpu. */
void choose_resume(struct choose *c, const struct cpu_state *cpu,
		   const struct memory *mem, struct choice *out);

/*
 * Choose among the accesses found so far, because the breakpoint could not be
 * armed or the next sample came first.
 */
void choose_abandon(struct choose *c, struct choice *out);

#endif
