/* SPDX-License-Identifier: MIT */
/*
 * simulate_study - the simulator against a reference simulator
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulate_study.h"
#include "judge.h"
#include "kernels.h"
#include "run.h"
#include "analysis/base/temporary.h"
#include "analysis/base/util.h"
#include "analysis/model/simulate.h"

#define SUITE "simulate"
/* What the reference and this project agreed on before anything was built. */
#define MEDIAN       0.02
#define NEAR         0.05
#define NEAR_SHARE   (109.0 / 115)
#define WORST        0.15
#define FOUR_THREADS 0.02
#define CONTENDED    0.30
#define MISSES       0.01
#define MISSES_LINES 5

enum {
	CONFIGS = 5,
	PREDICTORS_COMPARED = 2,
};

static const char *const levels[REFERENCE_MISSES] = { "L1D", "L2", "LLC" };
static const char *const compared[PREDICTORS_COMPARED] = { "pentium_m",
							   "one_bit" };

struct study {
	struct accuracy *all;
	struct kernels kernels;
	double error[KERNELS_MAX * CONFIGS];
	size_t errors;
	size_t misses, misses_off;
};

static struct accuracy_row *add_row(struct study *s, const char *name,
				    const char *metric, double measured,
				    double truth)
{
	struct accuracy_row *r = accuracy_row(s->all, SUITE, name, metric);

	r->source = "simulate";
	r->measured = measured;
	r->truth = truth;
	r->error = truth > 0 ? measured / truth - 1 : NAN;
	return r;
}

static void simulate_on(struct simulated *result, const struct trace *t,
			const char *config, const char *predictor)
{
	char *name = xasprintf("golden-%s", config);
	char *change = xasprintf("core.predictor=%s", predictor);
	char error[MACHINE_ERROR_BYTES];
	struct machine m;

	if (machine_read(&m, name, error) || machine_set(&m, change, error) ||
	    simulate(result, t, &m, error))
		die("accuracy: %s", error);
	free(change);
	free(name);
}

static void compare_misses(struct study *s, const struct simulated *result,
			   const struct reference_row *truth, const char *name)
{
	const struct caches_counts *c = &result->thread[0].caches;
	const uint64_t own[] = { c->l1d_misses, c->l2_misses, c->llc_misses };

	for (int i = 0; i < REFERENCE_MISSES; i++) {
		double off = fabs((double)own[i] - truth->miss[i]);
		struct accuracy_row *r;

		s->misses++;
		if (off <= MISSES_LINES || off <= MISSES * truth->miss[i])
			continue;
		s->misses_off++;
		r = add_row(s, name, levels[i], (double)own[i], truth->miss[i]);
		accuracy_bound(r, MISSES);
	}
}

/* One thread on one machine with one predictor. */
static void compare_one(struct study *s, const struct trace *t,
			const char *kernel, const char *config,
			const char *predictor)
{
	const struct reference_row *truth = reference_find(
		&s->kernels.reference, kernel, config, predictor, 1, 0);
	char *name = xasprintf("%s %s %s", kernel, config, predictor);
	struct simulated result;
	struct accuracy_row *r;

	if (truth) {
		simulate_on(&result, t, config, predictor);
		r = add_row(s, name, "cycles", (double)result.cycles,
			    truth->cycles);
		r->threads = 1;
		if (fabs((double)result.instructions - truth->instructions) >
		    KERNELS_CUT_OFF) {
			warn("%s: another compiler made other code of it; it "
			     "is not judged",
			     kernel);
		} else {
			accuracy_bound(r, WORST);
			compare_misses(s, &result, truth, name);
			if (predictor == compared[0])
				s->error[s->errors++] = fabs(r->error);
		}
		simulated_release(&result);
	}
	free(name);
}

static bool is_contended(const char *kernel)
{
	return !strcmp(kernel, "mt_atomic") ||
	       !strcmp(kernel, "mt_falseshare") ||
	       !strcmp(kernel, "mt_writer_readers");
}

/* Four threads: until the last one has ended. */
static void compare_four(struct study *s, const struct trace *t,
			 const char *kernel, const char *config)
{
	char *name = xasprintf("%s %s", kernel, config);
	const struct reference_row *row;
	struct simulated result;
	struct accuracy_row *r;
	uint32_t threads = (uint32_t)trace_working(t);
	double truth = 0;

	for (uint32_t core = 0;
	     (row = reference_find(&s->kernels.reference, kernel, config,
				   compared[0], threads, core));
	     core++)
		truth = fmax(truth, row->cycles);
	if (truth > 0) {
		simulate_on(&result, t, config, compared[0]);
		r = add_row(s, name, "cycles", (double)result.cycles, truth);
		r->threads = threads;
		accuracy_bound(r,
			       is_contended(kernel) ? CONTENDED : FOUR_THREADS);
		simulated_release(&result);
	}
	free(name);
}

static void compare_kernel(struct study *s, const char *kernel)
{
	char *dir = kernels_trace(&s->kernels, kernel);
	char error[TRACE_ERROR_BYTES];
	struct trace t;
	size_t threads;

	if (trace_open(&t, dir, error))
		die("accuracy: %s: %s", safe_text(dir), error);
	threads = trace_working(&t);
	for (int i = 1; i <= CONFIGS; i++) {
		char *config = xasprintf("c%d", i);

		if (s->all->short_form && i != 3) {
			free(config);
			continue;
		}
		if (threads > 1)
			compare_four(s, &t, kernel, config);
		for (int k = 0; threads == 1 && k < PREDICTORS_COMPARED; k++)
			compare_one(s, &t, kernel, config, compared[k]);
		free(config);
	}
	trace_close(&t);
	temporary_remove(dir);
	free(dir);
}

static void sum_up(struct study *s)
{
	struct accuracy_row *r;
	size_t near = 0;
	double worst = 0;

	if (!s->errors)
		return;
	for (size_t i = 0; i < s->errors; i++) {
		near += s->error[i] <= NEAR;
		worst = fmax(worst, s->error[i]);
	}
	r = add_row(s, "all, one thread", "median error",
		    accuracy_median(s->error, s->errors), NAN);
	r->error = r->measured;
	accuracy_bound(r, MEDIAN);
	r = add_row(s, "all, one thread", "largest error", worst, NAN);
	r->error = worst;
	accuracy_bound(r, WORST);
	r = add_row(s, "points within 5 %", "points", (double)near,
		    (double)s->errors);
	accuracy_verdict(r,
			 (double)near >= NEAR_SHARE * (double)s->errors - 1e-9);
	r = add_row(s, "misses within 1 % or 5 lines", "points",
		    (double)(s->misses - s->misses_off), (double)s->misses);
	accuracy_verdict(r, !s->misses_off);
}

void simulate_study_run(struct accuracy *all, const char *folder)
{
	static struct study s;

	s.all = all;
	kernels_open(&s.kernels, SUITE, folder, all->keep);
	for (size_t i = 0; i < s.kernels.n; i++)
		compare_kernel(&s, s.kernels.name[i]);
	sum_up(&s);
	kernels_close(&s.kernels);
}
