/* SPDX-License-Identifier: MIT */
/*
 * sampled_memory - how far back sampled uses were reused, for a profile
 *
 * Accesses of a thread are in groups: an octave of reuse times, and first uses.
 * Each access of a micro-trace stands for a share of those of its window; a
 * factor for each group makes the sum over the windows what the samples say.
 * Both are done for the thread's own reuse times and depths, and for those
 * among all threads.
 *
 * Whether another thread stores between two uses of a line depends on the order
 * of the threads: in a recording it is that of the emulator or of this machine.
 * So each window keeps its accesses that come after another thread's store, by
 * the profile, in which each instruction takes the same time. They have no
 * reuse time and no depth of their own.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sampled_memory.h"
#include "sampled_strata.h"
#include "analysis/base/util.h"

enum {
	DATA_KINDS = 2, /* WINDOW_LOADS and WINDOW_STORES */
};
/* More accesses than these times those of the profile are another program's. */
#define ACCESSES_LEAST 0.5
#define ACCESSES_MOST  4

/* What the windows have not taken yet, of a kind. */
struct rest {
	double bin[SAMPLED_SCOPES][WORKLOAD_REUSES];
	double depth[DEPTH_SIZES][DEPTH_WAYS + 1];
	double shared[SHARED_SIZES][DEPTH_WAYS + 1];
};

/* The micro-traces that stand for a window: its own, or those before it. */
struct part {
	size_t first, n;
	double accesses[SAMPLED_SCOPES][DATA_KINDS]; /* they have */
};

struct rows {
	const struct workload_thread *t;
	struct sampled_stratum scope[SAMPLED_SCOPES];
	double accesses[SAMPLED_SCOPES]; /* that have a reuse time */
	double sampled;                  /* all, in the recording */
	struct part part;
	struct rest rest[DATA_KINDS];
};

/* How many accesses one of a micro-trace stands for. */
struct weights {
	double in[SAMPLED_SCOPES][DATA_KINDS];
};

static uint32_t bin_in(const struct micro_access *a, enum sampled_scope scope)
{
	return scope == SAMPLED_OWN ? a->reuse : a->global;
}

static bool has_time(const struct micro_access *a, enum sampled_scope scope)
{
	return bin_in(a, scope) != WORKLOAD_INVALID;
}

/* The accesses of the window that have a reuse time. */
static double accesses_of(const struct window *w, int kind,
			  enum sampled_scope scope)
{
	double n = 0;

	for (int i = 0; i <= DEPTH_WAYS; i++)
		n += w->depth[kind][0][i];
	if (scope == SAMPLED_OWN)
		n = fmax(n - w->reuse[kind][WORKLOAD_INVALID], 0);
	return n;
}

typedef void on_access(struct rows *r, const struct micro_access *a,
		       enum sampled_scope scope, int kind, double weight);

static void each_scope(struct rows *r, const struct micro_access *a, int kind,
		       const struct weights *weight, on_access *on)
{
	for (int s = 0; s < SAMPLED_SCOPES; s++)
		if (has_time(a, (enum sampled_scope)s))
			on(r, a, (enum sampled_scope)s, kind,
			   weight->in[s][kind]);
}

static void each_access(struct rows *r, const struct weights *weight,
			on_access *on)
{
	const struct workload_thread *t = r->t;
	const struct part *p = &r->part;

	for (size_t m = p->first; m < p->first + p->n; m++)
		for (uint32_t i = 0; i < t->micro[m].uops; i++) {
			const struct micro_uop *u =
				&t->uop[t->micro[m].first + i];
			int kind = u->flags & UOP_IS_STORE ? WINDOW_STORES
							   : WINDOW_LOADS;

			if (u->access)
				each_scope(r, &t->access[u->access - 1], kind,
					   weight, on);
		}
}

static void count(struct rows *r, const struct micro_access *a,
		  enum sampled_scope scope, int kind, double weight)
{
	r->part.accesses[scope][kind]++;
}

/* Those of window @i, behind those of the window before it. */
static void next_part(struct rows *r, size_t i)
{
	static const struct weights none;
	size_t first = r->part.first + r->part.n, n = 0;

	while (first + n < r->t->micros && r->t->micro[first + n].window == i)
		n++;
	if (!n)
		return;
	r->part = (struct part){ .first = first, .n = n };
	each_access(r, &none, count);
}

static struct weights weigh(const struct part *p, const struct window *w)
{
	struct weights weight = { 0 };

	for (int s = 0; s < SAMPLED_SCOPES; s++)
		for (int k = 0; k < DATA_KINDS; k++)
			if (p->accesses[s][k] > 0)
				weight.in[s][k] =
					accesses_of(w, k,
						    (enum sampled_scope)s) /
					p->accesses[s][k];
	return weight;
}

/* Until they are divided, the factors are what the micro-traces stand for. */
static void sum_groups(struct rows *r, const struct micro_access *a,
		       enum sampled_scope scope, int kind, double weight)
{
	r->scope[scope].factor[sampled_group_of(bin_in(a, scope))] += weight;
}

static void add_depths(double (*to)[DEPTH_WAYS + 1], const uint8_t *depth,
		       int n, double weight)
{
	for (int i = 0; i < n; i++)
		to[i][depth[i]] += weight;
}

static void add_access(struct rows *r, const struct micro_access *a,
		       enum sampled_scope scope, int kind, double weight)
{
	struct rest *to = &r->rest[kind];
	uint32_t bin = bin_in(a, scope);
	double by = weight * r->scope[scope].factor[sampled_group_of(bin)];

	to->bin[scope][bin] += by;
	if (scope == SAMPLED_OWN)
		add_depths(to->depth, a->depth, DEPTH_SIZES, by);
	else
		add_depths(to->shared, a->shared, SHARED_SIZES, by);
}

/* How deep @lines other lines put a line in its set, on average. */
static uint8_t depth_at(double lines, int size)
{
	return (uint8_t)fmin(lines / (1 << (DEPTH_SETS_MIN + size)),
			     DEPTH_WAYS);
}

/* Of groups that no micro-trace has. */
static void add_even(struct rows *r, const struct window *w, int kind,
		     enum sampled_scope scope)
{
	const struct sampled_stratum *s = &r->scope[scope];
	double accesses = accesses_of(w, kind, scope);
	struct rest *to = &r->rest[kind];
	bool own = scope == SAMPLED_OWN;

	for (int g = 0; g < SAMPLED_GROUPS; g++) {
		double n = accesses * s->even[g];

		to->bin[scope][sampled_bin_of(g)] += n;
		for (int i = 0; i < DEPTH_SIZES && own && n > 0; i++)
			to->depth[i][depth_at(s->distance[g], i)] += n;
		for (int i = 0; i < SHARED_SIZES && !own && n > 0; i++)
			to->shared[i][depth_at(s->distance[g],
					       SHARED_FIRST + i)] += n;
	}
}

/* Whole accesses; what is left over goes to a later window. */
static void take_whole(uint32_t *to, double *from, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double whole = floor(fmin(from[i], UINT32_MAX));

		to[i] = (uint32_t)whole;
		from[i] -= whole;
	}
}

static void fill_own(struct window *w, int kind, struct rest *from)
{
	uint32_t invalid = w->reuse[kind][WORKLOAD_INVALID];

	take_whole(w->reuse[kind], from->bin[SAMPLED_OWN], WORKLOAD_REUSES);
	w->reuse[kind][WORKLOAD_INVALID] = invalid;
	for (int i = 0; i < DEPTH_SIZES; i++) {
		take_whole(w->depth[kind][i], from->depth[i], DEPTH_WAYS + 1);
		w->depth[kind][i][DEPTH_WAYS] += invalid;
	}
}

static void fill_global(struct window *w, int kind, struct rest *from)
{
	take_whole(w->global[kind], from->bin[SAMPLED_GLOBAL], WORKLOAD_REUSES);
	for (int i = 0; i < SHARED_SIZES; i++)
		take_whole(w->shared[kind][i], from->shared[i], DEPTH_WAYS + 1);
}

/* What the micro-traces stand for, and what the profile has. */
static void sum_thread(struct rows *r)
{
	const struct workload_thread *t = r->t;

	for (size_t i = 0; i < t->windows; i++) {
		struct weights weight;

		next_part(r, i);
		weight = weigh(&r->part, &t->window[i]);
		each_access(r, &weight, sum_groups);
		for (int s = 0; s < SAMPLED_SCOPES; s++)
			for (int k = 0; k < DATA_KINDS; k++)
				r->accesses[s] +=
					accesses_of(&t->window[i], k,
						    (enum sampled_scope)s);
	}
}

/* Where no micro-trace stands for a window, what it has stays. */
static void replace(struct rows *r, struct workload_thread *t)
{
	r->part = (struct part){ 0 };
	for (size_t i = 0; i < t->windows; i++) {
		struct window *w = &t->window[i];
		struct weights weight;

		next_part(r, i);
		weight = weigh(&r->part, w);
		each_access(r, &weight, add_access);
		for (int k = 0; k < DATA_KINDS; k++) {
			bool own = weight.in[SAMPLED_OWN][k] > 0;
			bool global = weight.in[SAMPLED_GLOBAL][k] > 0;

			if (own)
				add_even(r, w, k, SAMPLED_OWN);
			if (global)
				add_even(r, w, k, SAMPLED_GLOBAL);
			if (own)
				fill_own(w, k, &r->rest[k]);
			if (global)
				fill_global(w, k, &r->rest[k]);
		}
	}
}

static int complain(char *error, const char *what)
{
	snprintf(error, WORKLOAD_ERROR_BYTES, "%s", what);
	return -EINVAL;
}

/*
 * The samples of the thread @r->t, the row @row of the recording; *@found: it
 * has some.
 */
static int take_thread(struct rows *r, const struct reuse_cells *cells,
		       int64_t row, bool alone, bool *found, char *error)
{
	*found |= sampled_take(&r->scope[SAMPLED_OWN], cells, row, SAMPLED_OWN);
	for (int g = 0; g < SAMPLED_GROUPS; g++)
		r->sampled += r->scope[SAMPLED_OWN].sampled[g];
	if (alone) {
		sampled_take(&r->scope[SAMPLED_GLOBAL], cells, row,
			     SAMPLED_OWN);
	} else if (r->sampled > 0 &&
		   !sampled_take(&r->scope[SAMPLED_GLOBAL], cells, row,
				 SAMPLED_GLOBAL)) {
		return complain(error, "has no reuse times among all threads; "
				       "record it with -m reuse,global");
	}
	return 0;
}

/*
 * Who meets a line next is sampled, not who met it before. So times among all
 * threads are of all threads together.
 */
static void pool(struct rows *r, size_t n)
{
	struct sampled_stratum all = { 0 };
	double accesses = 0;

	for (size_t i = 0; i < n; i++) {
		const struct sampled_stratum *s = &r[i].scope[SAMPLED_GLOBAL];

		accesses += r[i].accesses[SAMPLED_GLOBAL];
		for (int g = 0; g < SAMPLED_GROUPS; g++) {
			all.sampled[g] += s->sampled[g];
			all.factor[g] += s->factor[g];
			all.distance[g] = fmax(all.distance[g], s->distance[g]);
		}
	}
	sampled_find_factors(&all, accesses);
	for (size_t i = 0; i < n; i++)
		r[i].scope[SAMPLED_GLOBAL] = all;
}

/*
 * Which thread does how much of the work may differ between two runs. So each
 * thread's samples stand for as many accesses as the profile has of it, @times
 * over. One that was too short for samples stays as it is.
 */
static void scale(struct rows *r, double times)
{
	struct sampled_stratum *s = &r->scope[SAMPLED_OWN];
	double accesses = r->accesses[SAMPLED_GLOBAL];

	for (int g = 0; g < SAMPLED_GROUPS; g++)
		s->sampled[g] = r->sampled > 0 ? s->sampled[g] * times *
							 accesses / r->sampled
					       : s->factor[g];
}

static int take_all(struct rows *r, struct workload *w,
		    const struct reuse_cells *cells, char *error)
{
	double sampled = 0, accesses = 0;
	bool found = false;

	for (size_t i = 0; i < w->threads; i++) {
		r[i].t = &w->thread[i];
		sum_thread(&r[i]);
		if (take_thread(&r[i], cells, (int64_t)i, w->threads == 1,
				&found, error))
			return -EINVAL;
		sampled += r[i].sampled;
		accesses += r[i].accesses[SAMPLED_GLOBAL];
	}
	if (!found)
		return complain(error, "has no reuse times in accesses; record "
				       "it with -m reuse,global and a source "
				       "that counts accesses");
	if (sampled < ACCESSES_LEAST * accesses ||
	    sampled > ACCESSES_MOST * accesses) {
		snprintf(
			error, WORKLOAD_ERROR_BYTES,
			"it has %.0f accesses, and the profile %.0f; is it the "
			"same program and region?",
			sampled, accesses);
		return -EINVAL;
	}
	for (size_t i = 0; i < w->threads; i++) {
		scale(&r[i], sampled / accesses);
		sampled_find_factors(&r[i].scope[SAMPLED_OWN],
				     r[i].accesses[SAMPLED_OWN]);
	}
	pool(r, w->threads);
	for (size_t i = 0; i < w->threads; i++)
		replace(&r[i], &w->thread[i]);
	return 0;
}

int sampled_memory_take(struct workload *w, const struct profile *p,
			char error[WORKLOAD_ERROR_BYTES])
{
	struct reuse_cells cells;
	struct rows *r;
	int err;

	if (p->processes != 1 || p->threads != w->threads) {
		snprintf(error, WORKLOAD_ERROR_BYTES,
			 "%zu process%s with %zu threads; the profile has one "
			 "with %zu",
			 p->processes, p->processes == 1 ? "" : "es",
			 p->threads, w->threads);
		return -EINVAL;
	}
	reuse_cells_init(&cells, p);
	r = xcalloc(w->threads + 1, sizeof(*r));
	err = take_all(r, w, &cells, error);
	free(r);
	reuse_cells_release(&cells);
	return err;
}

void sampled_memory_open(struct workload *w, const char *path, const char *verb)
{
	char error[WORKLOAD_ERROR_BYTES];
	struct profile p;

	profile_open(&p, path);
	if (sampled_memory_take(w, &p, error))
		die("%s: --memory %s: %s", verb, safe_text(path), error);
	profile_release(&p);
}
