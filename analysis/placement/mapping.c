/* SPDX-License-Identifier: MIT */
/*
 * mapping - propose a core for each thread, from the matrix
 */
#include <stdlib.h>

#include "assign.h"
#include "mapping.h"
#include "places.h"
#include "analysis/base/util.h"

enum {
	NAME_COLUMNS = 16,
	THREADS_MAX = 1024,
	IDLE_SHARE = 20 /* with less than this part of the busiest */
};

struct mapping {
	struct places places;
	struct assignment a;
	double *shared, all;
	uint32_t *place;  /* of each thread that is placed */
	uint32_t *thread; /* its row */
	uint32_t *number; /* of each row, among those placed, or NOBODY */
};

#define NOBODY UINT32_MAX

/*
 * Threads that are nearly idle may run anywhere; if they had a core, threads
 * that are busy would go without.
 */
static void choose_threads(struct mapping *m, const struct profile *p)
{
	uint64_t most = 0;

	m->thread = xcalloc(p->threads, sizeof(*m->thread));
	m->number = xcalloc(p->threads, sizeof(*m->number));
	for (size_t i = 0; i < p->threads; i++)
		if (p->thread[i].cpu_ns > most)
			most = p->thread[i].cpu_ns;
	for (size_t i = 0; i < p->threads; i++) {
		m->number[i] = NOBODY;
		if (p->thread[i].cpu_ns < most / IDLE_SHARE)
			continue;
		m->number[i] = (uint32_t)m->a.threads;
		m->thread[m->a.threads++] = (uint32_t)i;
	}
}

static void take_cells(struct mapping *m, const struct tally *t)
{
	size_t n = m->a.threads;

	m->shared = xcalloc(n * n, sizeof(*m->shared));
	for (size_t i = 0; i < t->cells; i++) {
		const struct cell *c = &t->cell[i];
		double count = (double)tally_total(c->kind);
		uint32_t a = m->number[c->a], b = m->number[c->b];

		if (a == b || a == NOBODY || b == NOBODY)
			continue;
		m->shared[a * n + b] += count;
		m->shared[b * n + a] += count;
		m->all += count;
	}
}

/* The mean distance of the two threads of a detection. */
static double mean_distance(const struct mapping *m, const uint32_t *place)
{
	return m->all > 0 ? assign_cost(&m->a, place) / m->all : 0;
}

/* The first thread on the first core, and so on. */
static double distance_in_order(const struct mapping *m)
{
	uint32_t *place = xcalloc(m->a.threads, sizeof(*place));
	double mean;

	for (size_t i = 0; i < m->a.threads; i++)
		place[i] = (uint32_t)(i % m->a.places);
	mean = mean_distance(m, place);
	free(place);
	return mean;
}

static const struct core_place *place_of(const struct mapping *m, size_t thread)
{
	return &m->places.place[m->place[thread]];
}

static const struct thread_row *row_of(const struct mapping *m,
				       const struct profile *p, size_t i)
{
	return &p->thread[m->thread[i]];
}

static void print_rows(FILE *f, const struct mapping *m,
		       const struct profile *p)
{
	fprintf(f, "%10s %8s  %-*s %6s %6s\n", "thread", "tid", NAME_COLUMNS,
		"name", "core", "cpu");
	for (size_t i = 0; i < m->a.threads; i++)
		fprintf(f, "%10u %8u  %-*s %6u %6u\n", m->thread[i],
			row_of(m, p, i)->tid, NAME_COLUMNS,
			cut_text(safe_text(row_of(m, p, i)->name),
				 NAME_COLUMNS),
			place_of(m, i)->core, place_of(m, i)->cpu);
}

static void print_openmp(FILE *f, const struct mapping *m)
{
	fputs("\nFor an OpenMP program that starts the same threads:\n"
	      "  OMP_PROC_BIND=true OMP_PLACES='",
	      f);
	for (size_t i = 0; i < m->a.threads; i++)
		fprintf(f, "%s{%u}", i ? "," : "", place_of(m, i)->cpu);
	fputs("'\n", f);
}

static void print_commands(FILE *f, const struct mapping *m,
			   const struct profile *p)
{
	if (m->a.threads < p->threads)
		fprintf(f,
			"\nOther threads, %s in number, had less than a "
			"twentieth of the CPU "
			"time "
			"of the busiest; they may run\nanywhere.\n",
			count_text(p->threads - m->a.threads));
	fputs("\nFor threads while they run, by their tids; one of the two:\n",
	      f);
	for (size_t i = 0; i < m->a.threads; i++)
		fprintf(f, "  taskset -cp %u %u\n", place_of(m, i)->cpu,
			row_of(m, p, i)->tid);
	for (size_t i = 0; i < m->a.threads; i++)
		fprintf(f, "  hwloc-bind --tid %u core:%u\n",
			row_of(m, p, i)->tid, place_of(m, i)->core);
}

static void print_mapping(FILE *f, const struct mapping *m,
			  const struct profile *p)
{
	double here = mean_distance(m, m->place);
	double in_order = distance_in_order(m);

	fprintf(f,
		"%s thread%s on %s core%s, so that threads which share lines "
		"are near\n\n",
		count_text(m->a.threads), m->a.threads == 1 ? "" : "s",
		count_text(m->a.places), m->a.places == 1 ? "" : "s");
	print_rows(f, m, p);
	fprintf(f,
		"\nMean distance of two threads that share: %.2f; in the order "
		"of the table on\ncores 0, 1, ... it is %.2f. Cores that share "
		"a cache or a part of the machine have\ndistance 1, those "
		"farthest apart %u.\n",
		here, in_order, m->places.farthest);
	if (m->places.farthest < 2)
		fputs("All cores of this machine are equally far apart, so "
		      "the placement does not matter.\n",
		      f);
	else if (here >= in_order)
		fputs("No placement is nearer than that order.\n", f);
	if (p->processes == 1)
		print_openmp(f, m);
	print_commands(f, m, p);
}

void mapping_print(FILE *f, const struct tally *t, const char *topology)
{
	struct mapping m = { 0 };

	choose_threads(&m, t->profile);
	if (m.a.threads > THREADS_MAX)
		die("report: --mapping places %d threads at most, not %zu",
		    THREADS_MAX, m.a.threads);
	places_find(&m.places, topology);
	take_cells(&m, t);
	if (m.all <= 0)
		die("report: --mapping: no two busy threads shared lines, so "
		    "they "
		    "may run anywhere");
	m.a.places = m.places.n;
	m.a.shared = m.shared;
	m.a.distance = m.places.distance;
	m.place = xcalloc(m.a.threads, sizeof(*m.place));
	assign_places(&m.a, m.place);
	print_mapping(f, &m, t->profile);
	free(m.place);
	free(m.shared);
	free(m.thread);
	free(m.number);
	places_release(&m.places);
}
