/* SPDX-License-Identifier: MIT */
/*
 * predicted_loops - loops that are predicted and simulated
 */
#ifndef TESTS_ANALYSIS_PREDICT_PREDICTED_LOOPS_H
#define TESTS_ANALYSIS_PREDICT_PREDICTED_LOOPS_H

#include <math.h>

#include "analysis/model/simulate.h"
#include "analysis/predict/equation.h"
#include "analysis/predict/predict.h"
#include "tests/fake/fake_trace.h"
#include "tests/run_suite.h"
#include "tests/sandbox.h"

enum {
	ROUNDS = 40000,
	LINE = 64,
	CODE = 0x401000,
	DATA = 0x10000000,
	L1_LINES = 512,
};

#define EQUATION_NEAR 0.06

static char error[MACHINE_ERROR_BYTES], path[128];
static struct machine machine;
static struct fake_trace fake;
static bool by_equation;

static inline void end(void)
{
	sandbox_teardown();
	fake_trace_release(&fake);
}

static inline void begin(void)
{
	sandbox_setup();
	by_equation = true;
	fake_trace_init(&fake);
	ck_assert_msg(!machine_read(&machine, "golden-c3", error), "%s", error);
	snprintf(path, sizeof(path), "%s/a.trace", sandbox);
}

static inline void set(const char *change)
{
	ck_assert_msg(!machine_set(&machine, change, error), "%s", error);
	ck_assert_msg(!machine_check(&machine, error), "%s", error);
}

/* A loop of one instruction, several times, and the address of its access. */
struct loop {
	const char *code;
	size_t bytes;
	int times;
	uint64_t (*address)(int i);
	bool store;
};

static inline void make(const struct loop *l, int thread)
{
	if (!fake.blocks) {
		fake_trace_block(&fake, CODE);
		for (int i = 0; i < l->times; i++)
			fake_trace_insn(&fake, l->code, l->bytes);
	}
	for (int i = 0; i < ROUNDS; i++) {
		fake_trace_run(&fake, thread, 0);
		for (int k = 0; l->address && k < l->times; k++)
			fake_trace_access(&fake, thread, (uint32_t)k, l->store,
					  l->address(i * l->times + k));
	}
}

/* Equation 1 with its corrections says nearly the same as the timing. */
static inline void check_equation(const struct workload *w, double cycles)
{
	const struct predict_options how = { .without = EQUATION_TIMED };
	struct predicted p;

	ck_assert_msg(!predict(&p, w, &machine, &how, error), "%s", error);
	ck_assert_msg(fabs(p.cycles / cycles - 1) < EQUATION_NEAR,
		      "%.0f cycles by the equation, not %.0f", p.cycles,
		      cycles);
	predicted_release(&p);
}

/* Predict what @fake has; compare with the simulator. */
static inline double cycles_of(double near)
{
	const struct predict_options how = { 0 };
	struct simulated truth;
	struct workload w;
	struct predicted p;
	struct trace t;
	double cycles;

	fake_trace_write(&fake, path);
	ck_assert_msg(!trace_open(&t, path, error), "%s", error);
	ck_assert_msg(!simulate(&truth, &t, &machine, error), "%s", error);
	ck_assert_msg(!workload_collect(&w, &t, 0, error), "%s", error);
	ck_assert_msg(!predict(&p, &w, &machine, &how, error), "%s", error);
	for (size_t i = 0; i < p.threads; i++) {
		double sum = 0;

		for (int k = 0; k < CPI_COMPONENTS; k++) {
			ck_assert(p.thread[i].stack[k] >= 0);
			sum += p.thread[i].stack[k];
		}
		ck_assert_double_eq_tol(sum, p.thread[i].cycles, 0.01);
	}
	cycles = p.cycles;
	if (by_equation)
		check_equation(&w, cycles);
	ck_assert(p.low <= p.ns && p.ns <= p.high);
	ck_assert_msg(fabs(cycles / (double)truth.cycles - 1) < near,
		      "%.0f cycles, simulated %.0f", cycles,
		      (double)truth.cycles);
	predicted_release(&p);
	workload_release(&w);
	simulated_release(&truth);
	trace_close(&t);
	return cycles;
}

static inline void takes(const struct loop *l, double cycles_a_time,
			 double near)
{
	double took;

	make(l, 0);
	took = cycles_of(near) / ROUNDS / l->times;
	ck_assert_msg(fabs(took / cycles_a_time - 1) < near,
		      "%.4f cycles each, not %.4f", took, cycles_a_time);
}

#endif
