/* SPDX-License-Identifier: MIT */
/*
 * sweep - predict a program on many machines
 */
#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "known.h"
#include "replay_plan.h"
#include "sweep.h"
#include "analysis/base/util.h"
#include "analysis/base/workers.h"
#include "src/base/rng.h"

/* What the workers share. */
struct work {
	const struct workload *workload;
	const struct designs *space;
	const struct sweep_options *options;
	struct predict_options how;
	struct sweep_row *row; /* those with ns < 0 are not possible */
	size_t rows;
	atomic_size_t next, done;
	atomic_bool failed;
	char error[MACHINE_ERROR_BYTES]; /* of the first that failed */
};

static void fail(struct work *w, const char *error)
{
	if (!atomic_exchange(&w->failed, true))
		snprintf(w->error, sizeof(w->error), "%s", error);
}

static void predict_row(struct work *w, struct sweep_row *r)
{
	char error[MACHINE_ERROR_BYTES];
	struct predicted p;
	struct machine m;

	if (designs_machine(w->space, r->design, &m, error)) {
		r->ns = -1;
		return;
	}
	if (w->options->cost &&
	    designs_cost(w->options->cost, &m, &r->cost, error)) {
		fail(w, error);
		return;
	}
	if (predict(&p, w->workload, &m, &w->how, error)) {
		fail(w, error);
		return;
	}
	r->ns = p.ns;
	predicted_release(&p);
}

static void *work_on(void *data)
{
	struct work *w = data;
	size_t i;

	while (!atomic_load(&w->failed) &&
	       (i = atomic_fetch_add(&w->next, 1)) < w->rows) {
		size_t done;

		predict_row(w, &w->row[i]);
		done = atomic_fetch_add(&w->done, 1) + 1;
		if (w->options->progress)
			fprintf(stderr, "\r%zu of %zu designs ", done, w->rows);
	}
	return NULL;
}

/* The values of a design, or the names of the axes. */
static char *axes_text(const struct designs *s, const uint64_t *design)
{
	char *text = xstrdup("");

	for (size_t x = 0; x < s->axes; x++) {
		const struct designs_axis *a = &s->axis[x];
		size_t v = design ? designs_value(s, *design, x) : 0;

		for (size_t k = 0; k < a->keys; k++) {
			const char *part = design ? a->value[v][k] : a->key[k];
			char *longer = xasprintf("%s%s%s", text,
						 *text ? "," : "", part);

			free(text);
			text = longer;
		}
	}
	return text;
}

/* Which designs: all, or random ones; of these, those of the shard. */
static void choose(struct work *w)
{
	const struct sweep_options *o = w->options;
	uint64_t all = w->space->count, n = o->samples ? o->samples : all;
	size_t room = 0;
	struct rng rng;

	rng_seed(&rng, o->seed, 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t design = o->samples ? rng_below(&rng, all) : i;

		if (i % o->shards != o->shard)
			continue;
		w->row = grow(w->row, w->rows, &room, sizeof(*w->row));
		w->row[w->rows++] =
			(struct sweep_row){ .design = design, .cost = NAN };
	}
}

static void run_workers(struct work *w)
{
	workers_run(work_on, w, w->options->jobs);
	if (w->options->progress)
		fputc('\n', stderr);
}

int sweep_run(struct sweep *to, const struct workload *w,
	      const struct designs *s, const struct sweep_options *options,
	      char error[MACHINE_ERROR_BYTES])
{
	struct work work = { .workload = w,
			     .space = s,
			     .options = options,
			     .how = options->how };
	struct leaders leaders = { 0 };
	struct replay_plan plan;

	*to = (struct sweep){ .quick = w->quick };
	work.how.times_only = true;
	machine_check(&s->base, error); /* before threads use its tables */
	choose(&work);
	if (options->leaders) {
		leaders_choose(&leaders, w, options->leaders);
		work.how.leaders = &leaders;
		work.how.known = known_new(w, &leaders);
	}
	replay_plan_init(&plan, w);
	work.how.plan = &plan;
	run_workers(&work);
	replay_plan_release(&plan);
	if (options->leaders)
		known_free(work.how.known);
	leaders_release(&leaders);
	if (work.failed) {
		snprintf(error, MACHINE_ERROR_BYTES, "%s", work.error);
		free(work.row);
		return -EINVAL;
	}
	to->names = axes_text(s, NULL);
	to->row = work.row;
	for (size_t i = 0; i < work.rows; i++) {
		struct sweep_row *r = &work.row[i];

		if (r->ns < 0) {
			to->impossible++;
			continue;
		}
		r->values = axes_text(s, &r->design);
		to->row[to->rows++] = *r;
	}
	to->room = work.rows;
	sweep_sort(to);
	return 0;
}

void sweep_release(struct sweep *s)
{
	while (s->rows)
		free(s->row[--s->rows].values);
	free(s->row);
	free(s->names);
	memset(s, 0, sizeof(*s));
}

static int by_time(const void *x, const void *y)
{
	const struct sweep_row *a = x, *b = y;

	if (a->ns < b->ns || a->ns > b->ns)
		return a->ns < b->ns ? -1 : 1;
	if (a->cost < b->cost || a->cost > b->cost)
		return a->cost < b->cost ? -1 : 1;
	return order_u64(a->design, b->design);
}

void sweep_sort(struct sweep *s)
{
	size_t n = 0;

	if (s->rows)
		qsort(s->row, s->rows, sizeof(*s->row), by_time);
	for (size_t i = 0; i < s->rows; i++)
		if (n && s->row[n - 1].design == s->row[i].design)
			free(s->row[i].values);
		else
			s->row[n++] = s->row[i];
	s->rows = n;
}

bool sweep_is_front(const struct sweep *s, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (s->row[k].cost <= s->row[i].cost)
			return false;
	return true;
}

void sweep_write(const struct sweep *s, FILE *f)
{
	fprintf(f, "design,time_ns,cost,%s\n", s->names);
	for (size_t i = 0; i < s->rows; i++) {
		const struct sweep_row *r = &s->row[i];

		fprintf(f, "%llu,%.10g,", (unsigned long long)r->design, r->ns);
		if (!isnan(r->cost))
			fprintf(f, "%.10g", r->cost);
		fprintf(f, ",%s\n", r->values);
	}
}

/* A line of sweep_write; false if it is none. */
static bool take_row(struct sweep *s, const char *line)
{
	struct sweep_row r = { .cost = NAN };
	char *end;

	errno = 0;
	r.design = strtoull(line, &end, 10);
	if (end == line || *end != ',')
		return false;
	r.ns = strtod(end + 1, &end);
	if (!(r.ns >= 0) || *end != ',')
		return false;
	if (end[1] != ',')
		r.cost = strtod(end + 1, &end);
	else
		end++;
	if (*end != ',' || errno)
		return false;
	r.values = xstrdup(end + 1);
	s->row = grow(s->row, s->rows, &s->room, sizeof(*s->row));
	s->row[s->rows++] = r;
	return true;
}

int sweep_read(struct sweep *s, const char *path,
	       char error[MACHINE_ERROR_BYTES])
{
	static const char head[] = "design,time_ns,cost,";
	FILE *f = fopen(path, "r");
	const char *wrong = f ? NULL : strerror(errno);
	char *line = NULL;
	size_t room = 0;
	int n = 0;

	while (!wrong && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = 0;
		if (n++) {
			wrong = take_row(s, line) ? NULL : "not a row";
		} else if (strncmp(line, head, strlen(head))) {
			wrong = "not a table that sweep --csv wrote";
		} else if (!s->names) {
			s->names = xstrdup(line + strlen(head));
		} else if (strcmp(s->names, line + strlen(head))) {
			wrong = "a table of another design space";
		}
	}
	if (!wrong && !n)
		wrong = "an empty file";
	if (wrong)
		snprintf(error, MACHINE_ERROR_BYTES, "%s, line %d: %s",
			 safe_text(path), n, wrong);
	free(line);
	if (f)
		fclose(f);
	return wrong ? -EINVAL : 0;
}
