/* SPDX-License-Identifier: MIT */
/*
 * sampler - from the kernel's samples of watched threads to detections
 *
 * The same choice of an access, the same engine and the same tables as in the
 * preload; the differences are that memory is read from another process, later
 * (memory.h), that places are keys (keys.h), and that one thread does it for
 * all. The kernel gives no vector registers and no base of thread-local
 * storage: addresses that depend on them stay unknown.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_SAMPLER_H
#define COMDET_ANALYSIS_OUTSIDE_SAMPLER_H

#include <stdint.h>

#include "callers.h"
#include "keys.h"
#include "memory.h"
#include "registers.h"
#include "tasks.h"
#include "src/engine/comm.h"
#include "src/engine/visits.h"

struct sampler {
	struct comm comm;
	struct tasks *tasks;
	struct registers *registers;
	struct outside_memory memory;
	struct keys keys;
	struct callers callers;
	struct interp *interp;
	struct visit_table visits;
	uint64_t seed;
	/* Of the record at hand, for the engine's call-backs: */
	const struct cpu_state *cpu; /* NULL: not known */
	uint64_t time;
	uint64_t armed_at; /* 0: nothing was armed */
	/* so far */
	uint64_t samples, detections;
};

/*
 * @period is ns of CPU time between samples, @registers how many to arm. They
 * come from @pool.
 */
void sampler_init(struct sampler *s, struct tasks *tasks,
		  struct registers *pool, uint64_t period, int registers,
		  uint64_t seed);
void sampler_release(struct sampler *s);

/* Make @t ready for samples. */
void sampler_thread(struct sampler *s, struct task_thread *t);

/* The clock interrupted @t, which has a row. */
void sampler_clock(struct sampler *s, struct task_thread *t,
		   const struct outside_record *r);

/*
 * The hardware sampled @t, which has a row. @gap is the mean time in ns of a
 * thread between samples.
 */
void sampler_hardware(struct sampler *s, struct task_thread *t,
		      const struct outside_record *r, uint64_t gap);

/* Register @reg of @t has been hit; @t has a row. */
void sampler_hit(struct sampler *s, struct task_thread *t, int reg,
		 const struct outside_record *r);

#endif
