/* SPDX-License-Identifier: MIT */
/*
 * rppm_study - predictions from profiles against a reference simulator
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rppm_study.h"
#include "judge.h"
#include "kernels.h"
#include "run.h"
#include "analysis/base/temporary.h"
#include "analysis/base/util.h"
#include "analysis/model/simulate.h"
#include "analysis/predict/equation.h"
#include "analysis/predict/predict.h"

#define SUITE "rppm"
/* What was asked for before anything was built. */
#define MEDIAN     0.10
#define NEAR       0.30
#define NEAR_SHARE 0.9

enum {
	CONFIGS = 5,
	COMPARED = 2,
	POINTS_MAX = KERNELS_MAX * CONFIGS,
};

static const char *const predictors[COMPARED] = { "pentium_m", "one_bit" };

/* How far a component is off, in shares of the cycles of its point. */
struct component {
	double sum, worst;
	char *where; /* the worst */
};

struct study {
	struct accuracy *all;
	struct kernels kernels;
	/* By the number of threads: one, or more; and by model. */
	double error[2][PREDICT_MODELS][POINTS_MAX];
	size_t errors[2];
	/* One thread, by equation 1 with so many of its corrections. */
	double equation[EQUATION_STEPS][POINTS_MAX];
	struct component component[CPI_COMPONENTS];
	size_t points; /* whose components were compared */
};

/* A program on a machine. */
struct point {
	const char *kernel, *config, *predictor;
	const struct trace *trace;
	const struct workload *workload;
	struct machine machine;
	double truth; /* cycles */
	bool judged;
};

static struct accuracy_row *add_row(struct study *s, const char *name,
				    const char *metric)
{
	struct accuracy_row *r = accuracy_row(s->all, SUITE, name, metric);

	r->source = "predict";
	return r;
}

static double predict_cycles(const struct point *p,
			     const struct predict_options *how,
			     struct predicted *result)
{
	char error[WORKLOAD_ERROR_BYTES];

	if (predict(result, p->workload, &p->machine, how, error))
		die("accuracy: %s on %s: %s", p->kernel, p->config, error);
	return result->cycles;
}

/* The point by equation 1, with none of its corrections, one, two, ... */
static void compare_equations(struct study *s, const struct point *p)
{
	for (int i = 0; i < EQUATION_STEPS; i++) {
		const struct predict_options how = {
			.without = EQUATION_ALL & ~((1u << i) - 1)
		};
		struct predicted result;
		double cycles = predict_cycles(p, &how, &result);

		s->equation[i][s->errors[0]] = fabs(cycles / p->truth - 1);
		predicted_release(&result);
	}
}

static double sum_of(const struct predicted *p, int component)
{
	double sum = 0;

	for (size_t i = 0; i < p->threads; i++)
		sum += p->thread[i].stack[component];
	return sum;
}

static void compare_components(struct study *s, const struct point *p,
			       const struct predicted *result)
{
	char error[TRACE_ERROR_BYTES];
	struct simulated truth;
	double cycles = 0;

	if (simulate(&truth, p->trace, &p->machine, error))
		die("accuracy: %s on %s: %s", p->kernel, p->config, error);
	for (size_t i = 0; i < truth.threads; i++)
		cycles += (double)truth.thread[i].cycles;
	for (int k = 0; k < CPI_COMPONENTS; k++) {
		struct component *c = &s->component[k];
		double off = sum_of(result, k);

		for (size_t i = 0; i < truth.threads; i++)
			off -= truth.thread[i].stack.cycles[k];
		off /= cycles;
		c->sum += fabs(off);
		if (fabs(off) > fabs(c->worst)) {
			free(c->where);
			c->where = xasprintf("%s %s", p->kernel, p->config);
			c->worst = off;
		}
	}
	s->points++;
	simulated_release(&truth);
}

/* The instructions were counted by the reference too, but for a few. */
static bool same_program(const struct point *p, double instructions)
{
	double own = 0;

	for (size_t i = 0; i < p->workload->threads; i++)
		own += (double)p->workload->thread[i].instructions;
	return fabs(own - instructions) <=
	       KERNELS_CUT_OFF * (double)p->workload->threads;
}

/* What the reference says of all cores; false if it lacks the point. */
static bool find_truth(const struct study *s, struct point *p)
{
	const struct reference_row *row;
	double instructions = 0;
	uint32_t threads = (uint32_t)p->workload->threads;

	p->truth = 0;
	for (uint32_t core = 0;
	     (row = reference_find(&s->kernels.reference, p->kernel, p->config,
				   p->predictor, threads, core));
	     core++) {
		p->truth = fmax(p->truth, row->cycles);
		instructions += row->instructions;
	}
	p->judged = same_program(p, instructions);
	return p->truth > 0;
}

static void compare_models(struct study *s, const struct point *p, bool several,
			   const char *name)
{
	size_t n = s->errors[several];

	for (int model = PREDICT_RPPM; model < PREDICT_MODELS; model++) {
		const struct predict_options how = {
			.model = (enum predict_model)model
		};
		struct predicted result;
		struct accuracy_row *r;

		if (model != PREDICT_RPPM && !several)
			break;
		r = add_row(s, name,
			    model == PREDICT_RPPM ? "cycles"
						  : predict_model_names[model]);
		r->measured = predict_cycles(p, &how, &result);
		r->truth = p->truth;
		r->error = r->measured / r->truth - 1;
		r->threads = (uint32_t)p->workload->threads;
		s->error[several][model][n] = fabs(r->error);
		if (model == PREDICT_RPPM && p->predictor == predictors[0])
			compare_components(s, p, &result);
		predicted_release(&result);
	}
	if (p->predictor == predictors[0] && p->judged) {
		if (!several)
			compare_equations(s, p);
		s->errors[several]++;
	}
	if (!p->judged)
		warn("%s: another compiler made other code of it; it is not "
		     "judged",
		     p->kernel);
}

static void compare_point(struct study *s, struct point *p)
{
	char *machine = xasprintf("golden-%s", p->config);
	char *change = xasprintf("core.predictor=%s", p->predictor);
	char *name = xasprintf("%s %s %s", p->kernel, p->config, p->predictor);
	char error[MACHINE_ERROR_BYTES];

	if (find_truth(s, p)) {
		if (machine_read(&p->machine, machine, error) ||
		    machine_set(&p->machine, change, error))
			die("accuracy: %s", error);
		compare_models(s, p, p->workload->threads > 1, name);
	}
	free(machine);
	free(change);
	free(name);
}

static void compare_kernel(struct study *s, const char *kernel)
{
	char *dir = kernels_trace(&s->kernels, kernel);
	char error[TRACE_ERROR_BYTES], config[] = "c1";
	struct workload w;
	struct trace t;

	if (trace_open(&t, dir, error) || workload_collect(&w, &t, 0, error))
		die("accuracy: %s: %s", safe_text(dir), error);
	for (int i = 1; i <= CONFIGS; i++) {
		config[1] = (char)('0' + i);
		for (int k = 0; k < COMPARED; k++) {
			struct point p = { .kernel = kernel,
					   .config = config,
					   .predictor = predictors[k],
					   .trace = &t,
					   .workload = &w };

			if (!s->all->short_form || i == 3)
				compare_point(s, &p);
		}
	}
	workload_release(&w);
	trace_close(&t);
	temporary_remove(dir);
	free(dir);
}

static void sum_up_errors(struct study *s, bool several, int model)
{
	double *error = s->error[several][model], mean = 0, worst = 0, near = 0;
	char *name = xasprintf("%s, %s", several ? "threads" : "one thread",
			       predict_model_names[model]);
	size_t n = s->errors[several];
	struct accuracy_row *r;

	for (size_t i = 0; i < n; i++) {
		mean += error[i] / (double)n;
		worst = fmax(worst, error[i]);
		near += error[i] <= NEAR;
	}
	r = add_row(s, name, "mean error");
	r->measured = r->error = mean;
	r = add_row(s, name, "largest error");
	r->measured = r->error = worst;
	r = add_row(s, name, "median error");
	r->measured = r->error = accuracy_median(error, n);
	if (!several) {
		accuracy_bound(r, MEDIAN);
		r = add_row(s, name, "points within 30 %");
		r->measured = near;
		r->truth = (double)n;
		accuracy_verdict(r, near >= NEAR_SHARE * (double)n - 1e-9);
	}
	free(name);
}

/* What each correction of equation 1 brings. */
static void sum_up_equations(struct study *s)
{
	size_t n = s->errors[0];

	for (int i = 0; i < EQUATION_STEPS; i++) {
		char *name = i ? xasprintf("equation 1, and %s",
					   equation_names[i - 1])
			       : xstrdup("equation 1, as printed");
		struct accuracy_row *r = add_row(s, name, "mean error");
		double sum = 0;

		for (size_t k = 0; k < n; k++)
			sum += s->equation[i][k];
		r->measured = r->error = sum / (double)n;
		r = add_row(s, name, "median error");
		r->measured = r->error = accuracy_median(s->equation[i], n);
		free(name);
	}
}

static void sum_up_components(struct study *s)
{
	for (int k = 0; k < CPI_COMPONENTS; k++) {
		struct component *c = &s->component[k];
		struct accuracy_row *r;
		char *name;

		if (!c->where)
			continue;
		name = xasprintf("%s, against simulate", cpi_names[k]);
		r = add_row(s, name, "mean, of the cycles");
		r->measured = r->error = c->sum / (double)s->points;
		free(name);
		name = xasprintf("%s, %s", cpi_names[k], c->where);
		r = add_row(s, name, "largest, of the cycles");
		r->measured = r->error = c->worst;
		free(name);
		free(c->where);
	}
}

static void sum_up(struct study *s)
{
	if (s->errors[0]) {
		sum_up_equations(s);
		sum_up_errors(s, false, PREDICT_RPPM);
	}
	for (int m = 0; m < PREDICT_MODELS && s->errors[1]; m++)
		sum_up_errors(s, true, m);
	sum_up_components(s);
}

void rppm_study_run(struct accuracy *all, const char *folder)
{
	struct study *s = xcalloc(1, sizeof(*s));
	struct kernels *k = &s->kernels;

	s->all = all;
	kernels_open(k, SUITE, folder, all->keep);
	for (char **name = k->name; name < k->name + k->n; name++)
		compare_kernel(s, *name);
	sum_up(s);
	kernels_close(k);
	free(s);
}
