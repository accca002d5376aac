/* SPDX-License-Identifier: MIT */
/*
 * predict - how long a program takes on a machine, from its profile
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "equation.h"
#include "known.h"
#include "predict.h"
#include "predict_bus.h"
#include "predict_replay.h"
#include "analysis/base/util.h"

#define NORMAL_95 1.96
/* Threads that together need less of the bus do not meet there. */
#define BUS_SHARE 0.05

enum {
	ROUNDS = 3
};

const char *const predict_model_names[PREDICT_MODELS] = {
	[PREDICT_RPPM] = "rppm",
	[PREDICT_MAIN] = "main",
	[PREDICT_CRIT] = "crit",
};

/* A thread on its core. */
struct runner {
	const struct machine *machine;
	const struct workload_thread *thread;
	size_t number; /* of the thread */
	struct timing_core core;
	struct levels levels;
	struct timing *timing; /* NULL: the leaders were timed, or none is */
	struct equation *equation;
	unsigned int steps; /* of the equation */
	double replaced;    /* lines that memory delivered so far */
	double others;      /* transfers of other threads in a cycle */
	size_t micro;       /* the next micro-trace */
	size_t first;       /* of the latest window that has some */
	struct timed timed; /* of that window */
	/* By group of windows, or NULL: what their leaders did. */
	const struct timed *led;
	const uint32_t *group;
	const struct known_misses *misses; /* by window; NULL: not known */
};

static double uops_of(const struct window *w)
{
	double n = 0;

	for (int i = 0; i < UOP_CLASSES; i++)
		n += w->uops[i];
	return n;
}

/* How many lines are written back for each that memory delivers. */
static double written(const struct runner *r)
{
	double lines = (double)(r->machine->llc.size >> MACHINE_LINE_SHIFT);

	if (r->replaced < lines || !r->thread->lines)
		return 0;
	return (double)r->thread->stored_lines / (double)r->thread->lines;
}

/*
 * The factor for what @timed events took, where there were @exact ones among
 * @share times as many micro-operations; few of them say little.
 */
static double correction(double exact, double timed, double share)
{
	return (exact / share + 1) / (timed + 1);
}

/* The factors of the levels, of whose misses @timed were timed. */
static void level_factors(const struct known_misses *n, const double *timed,
			  double share, double factor[CPI_COMPONENTS])
{
	factor[CPI_L2] =
		correction(n->data.l1 - n->data.l2, timed[LEVEL_L2], share);
	factor[CPI_LLC] = correction(n->data.l2 - n->data.llc - n->data.core,
				     timed[LEVEL_LLC], share);
	factor[CPI_COHERENCE] =
		correction(n->data.core, timed[LEVEL_CORE], share);
	factor[CPI_DRAM] = factor[CPI_BUS] =
		correction(n->data.llc, timed[LEVEL_MEMORY], share);
}

/* The cycles of the window number @i, by component. */
static void window_stack(const struct runner *r, size_t i,
			 const struct timed *t, const struct known_misses *n,
			 double stack[CPI_COMPONENTS])
{
	const struct window *w = &r->thread->window[i];
	double share = uops_of(w) / t->uops;
	double factor[CPI_COMPONENTS], whole[CPI_COMPONENTS];

	for (int k = 0; k < CPI_COMPONENTS; k++)
		factor[k] = 1;
	factor[CPI_BRANCH] =
		correction(w->wrong[r->machine->predictor], t->wrong, share);
	factor[CPI_ICACHE] =
		correction(n->code.l1,
			   t->code[LEVEL_L2] + t->code[LEVEL_LLC] +
				   t->code[LEVEL_CORE] + t->code[LEVEL_MEMORY],
			   share);
	level_factors(n, t->data, share, factor);
	for (int k = 0; k < CPI_COMPONENTS; k++)
		stack[k] = t->stack.cycles[k] * share * factor[k];
	level_factors(n, t->whole, uops_of(w) / t->whole_uops, whole);
	stack[CPI_DEPENDENCE] += timed_queued(t, whole) * share;
}

/* The lines that memory delivers, and those that nobody uses. */
static double lines_of(const struct runner *r, const struct known_misses *n)
{
	return n->lines + n->data.llc * timed_vain(&r->timed);
}

/* The cycles that a line of @level holds an MSHR, on average. */
static double hold(const struct runner *r, enum caches_level level)
{
	/* Transfers from other cores were never in this bound in full. */
	const uint64_t *all = r->core.latency;
	uint64_t cycles = level == LEVEL_CORE ? all[LEVEL_LLC] : all[level];

	return fmax((double)cycles - timed_saved(&r->timed, level), 0);
}

/*
 * No window ends before memory has transferred its lines, nor before the
 * entries for misses have held each until it was complete.
 */
static void bound(const struct runner *r, const struct known_misses *n,
		  double stack[CPI_COMPONENTS])
{
	const struct machine *m = r->machine;
	double left = 1 - r->others * r->core.slot; /* of the bus */
	double bus = lines_of(r, n) * (1 + written(r)) * r->core.slot / left;
	double held = 0, sum = 0;
	double misses[LEVELS] = {
		[LEVEL_L2] = n->data.l1 - n->data.l2,
		[LEVEL_LLC] = n->data.l2 - n->data.llc - n->data.core,
		[LEVEL_CORE] = n->data.core,
		[LEVEL_MEMORY] = n->data.llc,
	};

	for (int i = LEVEL_L2; i < LEVELS; i++)
		held += misses[i] * hold(r, (enum caches_level)i) / m->mshrs;
	for (int k = 0; k < CPI_COMPONENTS; k++)
		sum += stack[k];
	if (held > fmax(sum, bus))
		stack[CPI_DRAM] += held - sum;
	else if (bus > sum)
		stack[CPI_BUS] += bus - sum;
}

/* Time the micro-traces of window @i; returns how many there are. */
static size_t time_window(struct runner *r, size_t i, struct timed *to)
{
	const struct workload_thread *t = r->thread;
	uint8_t level[MICRO_UOPS];
	size_t n = 0;

	while (r->micro + n < t->micros && t->micro[r->micro + n].window == i) {
		const struct micro_trace *m = &t->micro[r->micro + n++];

		levels_of_micro(&r->levels, t, m, level);
		timing_run(r->timing, t, m, level, written(r), to);
	}
	r->micro += n;
	return n;
}

/*
 * The variance of the time of a window with @uops micro-operations, which is
 * its share of what was timed: that of a ratio of sums (Cochran, Sampling
 * Techniques, 6.4).
 */
static double variance(const struct timed *t, double uops)
{
	double ratio = t->cycles / t->uops, n = t->micros, rest;

	if (t->micros < 2)
		return 0;
	rest = t->squares[0] - 2 * ratio * t->squares[1] +
	       ratio * ratio * t->squares[2];
	return fmax(rest, 0) * n / (n - 1) * (uops / t->uops) *
	       fmax(uops / t->uops - 1, 0);
}

/* The cycles of window @i, from its micro-traces or those before it. */
static void time_stack(struct runner *r, size_t i, const struct known_misses *n,
		       double stack[CPI_COMPONENTS],
		       struct predicted_thread *to)
{
	struct timed latest = { 0 };

	if (r->led) {
		r->timed = r->led[r->group[i]];
	} else {
		timing_others(r->timing, r->others);
		if (time_window(r, i, &latest))
			r->timed = latest;
	}
	if (!(r->timed.uops > 0))
		return;
	window_stack(r, i, &r->timed, n, stack);
	bound(r, n, stack);
	to->variance += variance(&r->timed, uops_of(&r->thread->window[i]));
}

/* The same by the equation. */
static void equation_stack(struct runner *r, size_t i,
			   double stack[CPI_COMPONENTS])
{
	const struct workload_thread *t = r->thread;
	size_t n = 0;

	while (r->micro + n < t->micros && t->micro[r->micro + n].window == i)
		n++;
	if (n)
		r->first = r->micro;
	r->micro += n;
	equation_windows(r->equation, &r->levels, t, i, i + 1, r->first,
			 r->micro - r->first, written(r), stack);
}

static void predict_thread(struct runner *r, struct predicted_thread *to,
			   const struct predicted *before)
{
	double lines = 0;

	for (size_t i = 0; i < r->thread->windows; i++) {
		double stack[CPI_COMPONENTS] = { 0 };
		struct known_misses n =
			r->misses ? r->misses[i]
				  : known_misses_of(&r->levels,
						    &r->thread->window[i]);

		r->others = before ? predict_others(before, r->number, i,
						    r->core.slot)
				   : 0;
		if (r->steps & EQUATION_TIMED)
			time_stack(r, i, &n, stack, to);
		else
			equation_stack(r, i, stack);
		lines += lines_of(r, &n) * (1 + written(r));
		r->replaced += lines_of(r, &n);
		for (int k = 0; k < CPI_COMPONENTS; k++) {
			to->stack[k] += stack[k];
			to->cycles += stack[k];
		}
		to->end[i] = to->cycles;
		to->lines[i] = lines;
	}
}

/* The equation of the whole thread: all windows are alike. */
static void predict_at_once(struct runner *r, struct predicted_thread *to)
{
	const struct workload_thread *t = r->thread;
	double instructions = 0;

	equation_windows(r->equation, &r->levels, t, 0, t->windows, 0,
			 t->micros, 0, to->stack);
	for (int k = 0; k < CPI_COMPONENTS; k++)
		to->cycles += to->stack[k];
	for (size_t i = 0; i < t->windows; i++) {
		instructions += (double)t->window[i].instructions;
		to->end[i] =
			to->cycles * instructions / (double)t->instructions;
	}
}

static struct predicted blank(const struct workload *w)
{
	struct predicted p = { .threads = w->threads, .quick = w->quick };

	p.thread = xcalloc(p.threads, sizeof(*p.thread));
	for (size_t i = 0; i < p.threads; i++) {
		const struct workload_thread *from = &w->thread[i];
		struct predicted_thread *to = &p.thread[i];

		to->id = from->id;
		to->instructions = from->instructions;
		to->windows = from->windows;
		to->end = xcalloc(to->windows + 1, sizeof(*to->end));
		to->lines = xcalloc(to->windows + 1, sizeof(*to->lines));
	}
	return p;
}

/* What all rounds have in common. */
struct parts {
	const struct known_caches *caches; /* NULL: of all micro-traces */
	struct timed *led;                 /* by group; of these alone */
	struct timing *timing;             /* NULL: not needed */
	struct replayed replayed;
};

static void predict_one(struct predicted *p, const struct predicted *before,
			const struct workload *w, size_t i,
			const struct machine *m,
			const struct predict_options *options,
			const struct parts *parts)
{
	struct runner r = {
		.machine = m,
		.thread = &w->thread[i],
		.number = i,
		.timing = parts->timing,
		.steps = EQUATION_ALL & ~options->without,
	};

	timing_core_of(&r.core, m, (1u << LEVELS) - 1);
	if (parts->caches) {
		r.misses = known_misses(parts->caches, i);
		r.led = parts->led;
		r.group = options->leaders->group[i];
	} else {
		levels_init(&r.levels, w, i, m, !(r.steps & EQUATION_DEPTHS));
	}
	if (!(r.steps & EQUATION_TIMED))
		r.equation = equation_new(m, r.steps);
	if (r.steps & (EQUATION_TIMED | EQUATION_WINDOWS))
		predict_thread(&r, &p->thread[i], before);
	else
		predict_at_once(&r, &p->thread[i]);
	if (r.equation)
		equation_free(r.equation);
}

/* Predict once; @before says which transfers the threads meet, or is NULL. */
static int predict_round(struct predicted *p, const struct predicted *before,
			 const struct workload *w, const struct machine *m,
			 const struct predict_options *options,
			 const struct parts *parts, char *error)
{
	int err;

	*p = blank(w);
	for (size_t i = 0; i < w->threads; i++)
		predict_one(p, before, w, i, m, options, parts);
	err = predict_replay(p, &parts->replayed, error);
	if (err)
		predicted_release(p);
	return err;
}

static void choose_time(struct predicted *p, enum predict_model model)
{
	const struct predicted_thread *t = &p->thread[0];
	double error = t->variance;

	for (size_t i = 1; i < p->threads && model != PREDICT_MAIN; i++) {
		const struct predicted_thread *x = &p->thread[i];

		error = fmax(error, x->variance);
		if (x->cycles - x->stack[CPI_SYNC] >
		    t->cycles - t->stack[CPI_SYNC])
			t = x;
	}
	p->model = model;
	if (model != PREDICT_RPPM)
		p->cycles = t->cycles - t->stack[CPI_SYNC];
	p->low = fmax(p->cycles - NORMAL_95 * sqrt(error), 0);
	p->high = p->cycles + NORMAL_95 * sqrt(error);
}

static int predict_rounds(struct predicted *p, const struct workload *w,
			  const struct machine *m,
			  const struct predict_options *options,
			  const struct parts *parts, char *error)
{
	int err = predict_round(p, NULL, w, m, options, parts, error);
	struct predicted before;

	for (int i = 1; !err && i < ROUNDS && w->threads > 1 &&
			options->model == PREDICT_RPPM &&
			predict_bus_share(p, m) > BUS_SHARE;
	     i++) {
		before = *p;
		err = predict_round(p, &before, w, m, options, parts, error);
		predicted_release(&before);
	}
	if (err || options->model != PREDICT_RPPM || options->literal_order ||
	    !parts->replayed.plan->contended)
		return err;
	err = predict_replay_noisy(p, &parts->replayed, error);
	if (err)
		predicted_release(p);
	return err;
}

/* The same by the leaders. */
static int predict_led(struct predicted *p, const struct workload *w,
		       const struct machine *m,
		       const struct predict_options *options,
		       const struct replay_plan *plan, struct known *k,
		       char *error)
{
	struct parts parts = {
		.caches = known_caches(k, m),
		.led = xcalloc(options->leaders->groups + 1,
			       sizeof(*parts.led)),
		.replayed = { w, plan, m, options },
	};
	int err;

	known_led(k, parts.caches, m, parts.led);
	err = predict_rounds(p, w, m, options, &parts, error);
	known_give_back(parts.caches);
	free(parts.led);
	return err;
}

/* Predict by the leaders, by all micro-traces, or by the equation. */
static int predict_by(struct predicted *p, const struct workload *w,
		      const struct machine *m,
		      const struct predict_options *options,
		      const struct replay_plan *plan, char *error)
{
	bool timed = !(options->without & EQUATION_TIMED);
	struct parts parts = { .replayed = { w, plan, m, options } };
	struct known *own = NULL;
	int err;

	if (timed && options->leaders) {
		if (!options->known)
			own = known_new(w, options->leaders);
		err = predict_led(p, w, m, options, plan,
				  own ? own : options->known, error);
		if (own)
			known_free(own);
		return err;
	}
	parts.timing = timed ? timing_new(m) : NULL;
	err = predict_rounds(p, w, m, options, &parts, error);
	if (timed)
		timing_free(parts.timing);
	return err;
}

int predict(struct predicted *p, const struct workload *w,
	    const struct machine *m, const struct predict_options *options,
	    char error[WORKLOAD_ERROR_BYTES])
{
	struct replay_plan own = { 0 };
	int err;

	if (!options->plan)
		replay_plan_init(&own, w);
	err = predict_by(p, w, m, options, options->plan ? options->plan : &own,
			 error);
	replay_plan_release(&own);
	if (err)
		return err;
	choose_time(p, options->model);
	p->ns = p->cycles / m->ghz;
	p->low /= m->ghz;
	p->high /= m->ghz;
	return 0;
}

void predicted_release(struct predicted *p)
{
	for (size_t i = 0; i < p->threads; i++) {
		free(p->thread[i].end);
		free(p->thread[i].lines);
	}
	free(p->thread);
	memset(p, 0, sizeof(*p));
}
