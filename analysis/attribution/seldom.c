/* SPDX-License-Identifier: MIT */
/*
 * seldom - lines that threads share too seldom for samples to meet
 *
 * The sightings are sorted by line, and each run of one line is summed by
 * thread. Rows are numbers of threads, so a table by row finds the thread.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "seldom.h"
#include "analysis/base/util.h"

enum {
	MEETING_Q8 = 256, /* of periods_q8 */
};

static int compare_places(uint32_t process, uint64_t line, uint32_t process2,
			  uint64_t line2)
{
	return process != process2 ? order_u64(process, process2)
				   : order_u64(line, line2);
}

static int compare_sightings(const void *a, const void *b)
{
	const struct pair_row *x = *(const struct pair_row *const *)a;
	const struct pair_row *y = *(const struct pair_row *const *)b;

	return compare_places(x->process, x->line, y->process, y->line);
}

static int compare_detected(const void *a, const void *b)
{
	const struct line_tally *x = *(const struct line_tally *const *)a;
	const struct line_tally *y = *(const struct line_tally *const *)b;

	return compare_places(x->process, x->line, y->process, y->line);
}

static int compare_lines(const void *a, const void *b)
{
	const struct seldom_line *x = a, *y = b;

	if (x->meetings != y->meetings)
		return order_u64(y->meetings, x->meetings);
	return compare_places(x->process, x->line, y->process, y->line);
}

/* The lines that have detections, by process and line. */
static const struct line_tally **detected_lines(const struct tally *t)
{
	const struct line_tally **all = xcalloc(t->lines + 1, sizeof(*all));

	for (size_t i = 0; i < t->lines; i++)
		all[i] = &t->line[i];
	qsort(all, t->lines, sizeof(*all), compare_detected);
	return all;
}

static bool is_detected(const struct line_tally *const *all, size_t n,
			const struct pair_row *p)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int order = compare_places(all[mid]->process, all[mid]->line,
					   p->process, p->line);

		if (!order)
			return true;
		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return false;
}

/* The entry of row @row in the line that is last in @s. */
static struct seldom_thread *thread_of(struct seldom *s, size_t *room,
				       size_t *at, const struct profile *p,
				       uint32_t row)
{
	struct seldom_line *l = &s->line[s->lines - 1];
	const struct thread_row *r = &p->thread[row];

	if (at[row] < l->first || at[row] >= s->threads ||
	    s->thread[at[row]].thread != row) {
		s->thread =
			grow(s->thread, s->threads, room, sizeof(*s->thread));
		at[row] = s->threads;
		s->thread[s->threads++] = (struct seldom_thread){
			.thread = row,
			.looks = r->looks,
			.first = UINT64_MAX,
			.merged = r->count > 1,
			.accesses = r->looks ? (double)r->look_accesses /
						       (double)r->looks
					     : 0,
		};
		l->threads++;
	}
	return &s->thread[at[row]];
}

static void add_sighting(struct seldom *s, size_t *room, size_t *at,
			 const struct profile *p, const struct pair_row *c)
{
	uint64_t meetings = c->periods_q8 / MEETING_Q8;
	struct seldom_line *l = &s->line[s->lines - 1];
	struct seldom_thread *t = thread_of(s, room, at, p, c->detector);

	l->meetings = sat_add(l->meetings, meetings);
	l->kind[c->sharing] = sat_add(l->kind[c->sharing], meetings);
	t->flags |= c->detector_flags;
	t->sighted = sat_add(t->sighted, c->count);
	if (t->looks < t->sighted)
		t->looks = t->sighted;
	if (c->first_look < t->first)
		t->first = c->first_look;
	if (!t->most || c->count > t->meets) {
		t->most = c;
		t->meets = c->count;
	}
	t = thread_of(s, room, at, p, c->publisher);
	t->flags |= c->publisher_flags;
	if (meetings && (!t->store || meetings > t->stored)) {
		t->store = c;
		t->stored = meetings;
	}
}

static bool takes_part(const struct seldom *s, int64_t thread)
{
	const struct seldom_line *l = &s->line[s->lines - 1];

	for (size_t i = l->first; i < s->threads; i++)
		if (s->thread[i].thread == thread)
			return true;
	return thread < 0;
}

/* Sum the run of @n sightings of one line. */
static void add_line(struct seldom *s, size_t *rooms, size_t *at,
		     const struct tally *t, const struct pair_row *const *c,
		     size_t n, struct symbols *symbols, int64_t thread)
{
	const struct profile *p = t->profile;
	const struct process *process = &p->process[c[0]->process];
	struct seldom_line *l;

	s->line = grow(s->line, s->lines, &rooms[0], sizeof(*s->line));
	l = &s->line[s->lines++];
	*l = (struct seldom_line){ .process = c[0]->process,
				   .line = c[0]->line,
				   .first = s->threads };
	for (size_t i = 0; i < n; i++)
		add_sighting(s, &rooms[1], at, p, c[i]);
	if (!l->meetings || !takes_part(s, thread)) {
		s->threads = l->first;
		s->lines--;
		return;
	}
	symbols_object(symbols, process, c[0]->detector_addr,
		       c[0]->line_generation, &l->object);
}

void seldom_init(struct seldom *s, const struct tally *t,
		 struct symbols *symbols, int64_t thread)
{
	const struct profile *p = t->profile;
	const struct line_tally **detected = detected_lines(t);
	const struct pair_row **c = xcalloc(p->sightings + 1, sizeof(*c));
	size_t *at = xcalloc(p->threads + 1, sizeof(*at));
	size_t rooms[2] = { 0, 0 };

	memset(s, 0, sizeof(*s));
	for (size_t i = 0; i < p->sightings; i++)
		c[i] = &p->sighting[i];
	qsort(c, p->sightings, sizeof(*c), compare_sightings);
	for (size_t i = 0, n; i < p->sightings; i += n) {
		for (n = 1; i + n < p->sightings &&
			    !compare_sightings(&c[i], &c[i + n]);
		     n++)
			;
		if (c[i]->line && !is_detected(detected, t->lines, c[i]))
			add_line(s, rooms, at, t, &c[i], n, symbols, thread);
	}
	if (s->lines)
		qsort(s->line, s->lines, sizeof(*s->line), compare_lines);
	free(at);
	free(c);
	free(detected);
}

void seldom_release(struct seldom *s)
{
	free(s->line);
	free(s->thread);
}

double seldom_share(const struct seldom_thread *t, struct interval *v)
{
	double looks = (double)t->looks, sighted = (double)t->sighted;

	if (t->sighted && !t->merged) {
		looks -= t->first < t->looks ? (double)t->first : looks;
		sighted = sighted - 1 < looks ? sighted - 1 : looks;
	}
	*v = (struct interval){ 0, 1 };
	if (looks < 1 || t->accesses < 1)
		return NAN;
	*v = interval_share(sighted, looks);
	v->low /= t->accesses;
	v->high /= t->accesses;
	return sighted / looks / t->accesses;
}
