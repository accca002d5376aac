/* SPDX-License-Identifier: MIT */
/*
 * predict - how long a program takes on a machine, from its profile
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREDICT_H
#define COMDET_ANALYSIS_PREDICT_PREDICT_H

#include "workload.h"
#include "analysis/model/cpi_stack.h"

/* What stands for the program. */
enum predict_model {
	PREDICT_RPPM, /* all threads, which wait for each other */
	PREDICT_MAIN, /* the first thread alone */
	PREDICT_CRIT, /* the slowest thread, which waits for nobody */
	PREDICT_MODELS
};
extern const char *const predict_model_names[PREDICT_MODELS];

struct leaders;
struct known;
struct replay_plan;

struct predict_options {
	enum predict_model model;
	/*
	 * Threads come to events in RPPM's literal order, the one that is least
	 * far first, instead of in the order of the events' times.
	 */
	bool literal_order;
	bool times_only; /* no bottlegraph */
	/* Corrections of equation 1 that are left out (equation.h). */
	unsigned int without;
	/* Only these micro-traces are timed; NULL: all. Not of equations. */
	const struct leaders *leaders;
	/* With leaders: what other predictions by them have found, or NULL. */
	struct known *known;
	/* Of the profile, if many predictions use it, or NULL. */
	const struct replay_plan *plan;
};

struct predicted_thread {
	uint32_t id;
	uint64_t instructions;
	double start;  /* cycles, when it was created */
	double cycles; /* from then to its end */
	double idle;   /* of these: it waits for other threads or for a core */
	double *end;   /* by window: cycles up to its end, without waits */
	double *lines; /* by window: transfers of memory up to its end */
	size_t windows;
	double variance; /* of cycles, by the choice of the micro-traces */
	double stack[CPI_COMPONENTS]; /* cycles; they add up */
	/*
	 * Its box in the bottlegraph: the cycles in which it runs, each divided
	 * by the number of threads that run, and their sum without that.
	 */
	double height, runs;
};

struct predicted {
	enum predict_model model; /* whose time the next two lines are */
	double cycles, ns;        /* until the last thread has ended */
	double low, high;         /* 95 % limits of ns, by the choice alone */
	struct predicted_thread *thread; /* in the order of the profile */
	size_t threads;
	bool quick; /* the profile is */
};

/*
 * Predict @w on @m. Returns 0, or -EINVAL with one line for the user in
 * @error.
 */
int predict(struct predicted *p, const struct workload *w,
	    const struct machine *m, const struct predict_options *options,
	    char error[WORKLOAD_ERROR_BYTES]);
void predicted_release(struct predicted *p);

#endif
