/* SPDX-License-Identifier: MIT */
/*
 * choose - from a clock interrupt to one access
 *
 * An interrupt is not an access. Half of the samples (tagged apart) take the
 * access that the interrupted thread waited for: the instruction before the
 * interrupted one, found by decoding backwards. The others are chosen
 * uniformly in a window of upcoming accesses (interp/interp.h). The length of a
 * complete window is remembered per instruction once it has proved constant,
 * so that next time the index is drawn first and interpretation stops there;
 * one in eight is measured anew. Where the path is blocked by a value we
 * cannot compute, and was not there before, an execution breakpoint on the
 * blocking instruction lets the program go there by itself. Breakpoints are
 * rationed to one for two samples, except where there is nothing else.
 *
 * Where the stalled access is unknown, the stand-in is the next access made
 * at the same place of the loop, or any of a short window (interp_shorten: it
 * would cost as much as the uniform ones and is worth less). It is tagged as
 * stalled: where this happens depends on the code, so among the uniform ones
 * it would give some code twice the weight of other code.
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
	CHOSEN,            /* one access, its kind told */
	CHOSEN_BREAKPOINT, /* arm one at breakpoint_ip, then choose_resume */
	CHOSEN_NOTHING,    /* cause tells why */
};

struct choice {
	enum chosen what;
	struct access access;
	enum sample_kind kind;
	uint64_t breakpoint_ip;
	enum loss_cause cause;
	bool stalled_unknown; /* a stand-in, see above */
};

struct choose {
	struct rng *rng;
	struct interp *interp;
	uint32_t stalled_percent; /* of samples, default 50 */
	bool breakpoints;         /* may CHOSEN_BREAKPOINT be answered? */
	/* below: private to choose.c */
	uint32_t breakpoints_used;
	uint32_t credit;  /* of breakpoints, in quarters */
	uint64_t start;   /* instruction the window began on */
	uint32_t stop_at; /* access drawn beforehand, 0: none */
	bool wanted_stalled;
	bool waiting; /* for a breakpoint */
};

/* A sample: the thread was interrupted at @cpu. */
void choose_start(struct choose *c, const struct cpu_state *cpu,
		  const struct memory *mem, struct choice *out);

/* The execution breakpoint was reached; @cpu is there. */
void choose_resume(struct choose *c, const struct cpu_state *cpu,
		   const struct memory *mem, struct choice *out);

/*
 * The breakpoint will not be reached (the next sample came first, or it could
 * not be armed): choose among what is already exact.
 */
void choose_abandon(struct choose *c, struct choice *out);

#endif
