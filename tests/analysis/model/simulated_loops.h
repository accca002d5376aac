/* SPDX-License-Identifier: MIT */
/*
 * simulated_loops - loops whose time follows from the machine by arithmetic
 *
 * Each program is one instruction or a few, repeated. Its time must be within 1
 * % of the closed form. What the first rounds take until caches and queues are
 * as they stay is no part of it: the time is that of 2 N rounds less that of N.
 */
#ifndef TESTS_ANALYSIS_MODEL_SIMULATED_LOOPS_H
#define TESTS_ANALYSIS_MODEL_SIMULATED_LOOPS_H

#include <math.h>

#include "analysis/model/simulate.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/run_verb.h"

enum {
	N = 4000,
	LINE = 64,
	CODE = 0x401000,
	DATA = 0x10000000,
};

static struct fake_trace fake;
static struct machine machine;
static char error[MACHINE_ERROR_BYTES], path[128];

static inline void begin(void)
{
	sandbox_setup();
	snprintf(path, sizeof(path), "%s/x.trace", sandbox);
	ck_assert(!machine_read(&machine, "golden-c3", error));
	fake_trace_init(&fake);
}

static inline void end(void)
{
	fake_trace_release(&fake);
	sandbox_teardown();
}

static inline void set(const char *change)
{
	ck_assert_msg(!machine_set(&machine, change, error), "%s", error);
	ck_assert_msg(!machine_check(&machine, error), "%s", error);
}

/* Simulate what @fake has; check what holds of every simulation. */
static inline struct simulated run(void)
{
	struct simulated s;
	struct trace t;

	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!simulate(&s, &t, &machine, error), "%s", error);
	trace_close(&t);
	for (size_t i = 0; i < s.threads; i++) {
		double sum = 0;

		for (int k = 0; k < CPI_COMPONENTS; k++) {
			ck_assert(s.thread[i].stack.cycles[k] >= 0);
			sum += s.thread[i].stack.cycles[k];
		}
		ck_assert_double_eq_tol(sum, (double)s.thread[i].cycles, 0.01);
	}
	return s;
}

struct insn {
	const char *code;
	size_t bytes;
};
#define INSN(code)                                                             \
	{                                                                      \
		code, sizeof(code) - 1                                         \
	}

/* Instructions of a round, and the address of round @i's access. */
struct loop {
	struct insn insn[16];
	uint64_t (*address)(int i);
	bool store;
	int access; /* the instruction that makes it */
};

static inline void make_block(const struct loop *l)
{
	fake_trace_block(&fake, CODE);
	for (int i = 0; i < 16 && l->insn[i].bytes; i++)
		fake_trace_insn(&fake, l->insn[i].code, l->insn[i].bytes);
}

static inline uint64_t cycles_of(const struct loop *l, int rounds)
{
	struct simulated s;
	uint64_t cycles;

	fake_trace_release(&fake);
	fake_trace_init(&fake);
	make_block(l);
	for (int i = 0; i < rounds; i++) {
		fake_trace_run(&fake, 0, 0);
		if (l->address)
			fake_trace_access(&fake, 0, (uint32_t)l->access,
					  l->store, l->address(i));
	}
	s = run();
	cycles = s.cycles;
	simulated_release(&s);
	return cycles;
}

static inline void takes(const struct loop *l, double cycles_a_round)
{
	double took = (double)(cycles_of(l, 2 * N) - cycles_of(l, N)) / N;

	ck_assert_msg(fabs(took / cycles_a_round - 1) < 0.01,
		      "%.4f cycles a round, not %.4f", took, cycles_a_round);
}

#define ADD_1(r) INSN("\x48\x83" r "\x01") /* add $1,%r */
#define ADDSD(r) INSN("\xf2\x0f\x58" r)    /* addsd %xmm,%xmm */
#define DIV_RCX  INSN("\x48\xf7\xf1")

#endif
