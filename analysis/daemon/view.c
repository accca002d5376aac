/* SPDX-License-Identifier: MIT */
/*
 * view - one screen: processes by their detections a second
 */
#include <stdlib.h>
#include <string.h>

#include "view.h"
#include "analysis/base/util.h"

static uint64_t total(const struct view_row *r)
{
	return tally_total(r->detections);
}

static double rate(const struct view_row *r)
{
	return r->watched_ns ? (double)total(r) / (double)r->watched_ns * 1e9
			     : 0;
}

/* The row of process @s; it may have one file for each slice. */
static struct view_row *row_of(struct view *v, const struct process *s,
			       size_t *room)
{
	const struct cdp_header *h = &s->header;
	struct view_row *r;

	for (size_t i = 0; i < v->rows; i++)
		if (v->row[i].pid == h->pid &&
		    v->row[i].start == h->process_start)
			return &v->row[i];
	v->row = grow(v->row, v->rows, room, sizeof(*v->row));
	r = &v->row[v->rows++];
	*r = (struct view_row){ .pid = h->pid, .start = h->process_start };
	return r;
}

/* By process of the profile: its row. */
static size_t *make_rows(struct view *v)
{
	size_t *index = xcalloc(v->profile.processes + 1, sizeof(*index));
	size_t room = 0;

	for (size_t i = 0; i < v->profile.processes; i++) {
		const struct process *s = &v->profile.process[i];
		struct view_row *r = row_of(v, s, &room);

		index[i] = (size_t)(r - v->row);
		r->name = base_name(s->header.exe);
		if (s->header.last_mono > s->header.start_mono)
			r->watched_ns = sat_add(r->watched_ns,
						s->header.last_mono -
							s->header.start_mono);
	}
	return index;
}

static void count(struct view *v, const size_t *index)
{
	const struct profile *p = &v->profile;

	for (size_t i = 0; i < p->threads; i++) {
		struct view_row *r = &v->row[index[p->thread[i].process]];

		for (int k = 0; k < SAMPLE_KINDS; k++)
			r->samples =
				sat_add(r->samples, p->thread[i].samples[k]);
	}
	for (size_t i = 0; i < p->pairs; i++) {
		const struct pair_row *q = &p->pair[i];
		struct view_row *a = &v->row[index[q->detector_process]];
		struct view_row *b = &v->row[index[q->publisher_process]];

		a->detections[q->sharing] =
			sat_add(a->detections[q->sharing], q->count);
		/* Both take part in sharing between processes. */
		if (a != b)
			b->detections[q->sharing] =
				sat_add(b->detections[q->sharing], q->count);
	}
}

/* Where most accesses to @line came from. */
static const struct place *place_of(const struct view *v,
				    const struct line_tally *line)
{
	const struct tally *t = &v->tally;
	uint64_t most = 0;
	uint32_t site = NO_SITE;

	for (size_t i = line->first; i < line->first + line->pairs; i++) {
		const struct pair_row *q = &v->profile.pair[t->by_line[i]];

		if (q->count > most &&
		    t->detector_site[t->by_line[i]] != NO_SITE) {
			most = q->count;
			site = t->detector_site[t->by_line[i]];
		}
	}
	return site == NO_SITE ? NULL : &t->site[site].place;
}

/* Lines are in order of their detections; a line may be shared. */
static void find_worst(struct view *v, const size_t *index)
{
	for (size_t i = 0; i < v->tally.lines; i++) {
		const struct line_tally *line = &v->tally.line[i];

		for (size_t k = line->first; k < line->first + line->pairs;
		     k++) {
			const struct pair_row *q =
				&v->profile.pair[v->tally.by_line[k]];
			struct view_row *r[] = {
				&v->row[index[q->detector_process]],
				&v->row[index[q->publisher_process]]
			};

			for (int j = 0; j < 2; j++) {
				if (r[j]->worst)
					continue;
				r[j]->worst = line;
				r[j]->where = place_of(v, line);
			}
		}
	}
}

static int compare_rows(const void *a, const void *b)
{
	const struct view_row *x = a, *y = b;
	double p = rate(x), q = rate(y);

	if (p != q)
		return p < q ? 1 : -1;
	if (x->samples != y->samples)
		return x->samples < y->samples ? 1 : -1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int view_load(struct view *v, const char *path, uint64_t real_ms)
{
	size_t *index;
	int err;

	memset(v, 0, sizeof(*v));
	err = profile_load_made(&v->profile, path, real_ms, UINT64_MAX);
	v->symbols = symbols_new(true, path);
	tally_init(&v->tally, &v->profile, v->symbols, -1);
	index = make_rows(v);
	count(v, index);
	find_worst(v, index);
	free(index);
	if (v->rows)
		qsort(v->row, v->rows, sizeof(*v->row), compare_rows);
	return err;
}

void view_release(struct view *v)
{
	tally_release(&v->tally);
	symbols_free(v->symbols);
	profile_release(&v->profile);
	free(v->row);
	memset(v, 0, sizeof(*v));
}

static char *line_of(const struct view_row *r)
{
	uint64_t all = total(r);
	char *line, *worst = NULL;

	if (r->worst)
		worst = xasprintf("%s%s%s", object_text(&r->worst->object),
				  r->where ? " at " : "",
				  r->where ? place_text(r->where) : "");
	line = xasprintf(
		"%8u %-15.15s %7s %8s %8.1f %6s %6s  %s", r->pid,
		safe_text(r->name), duration_text(r->watched_ns),
		count_text(r->samples), rate(r),
		all ? percent_text((double)r->detections[SHARING_FALSE],
				   (double)all)
		    : "",
		all ? percent_text((double)r->detections[SHARING_TRUE],
				   (double)all)
		    : "",
		worst ? worst : "");
	free(worst);
	for (size_t n = strlen(line); n && line[n - 1] == ' '; n--)
		line[n - 1] = 0;
	return line;
}

void view_print(const struct view *v, FILE *f, size_t rows, size_t columns)
{
	static const char head[] = "     pid name            watched  samples  "
				   "  det/s  false   true "
				   " worst line";

	if (!v->rows) {
		fputs("no process was watched\n", f);
		return;
	}
	fprintf(f, "%s\n", columns ? cut_text(head, columns) : head);
	for (size_t i = 0; i < v->rows && i < rows; i++) {
		char *line = line_of(&v->row[i]);

		fprintf(f, "%s\n", columns ? cut_text(line, columns) : line);
		free(line);
	}
	if (v->rows > rows)
		fprintf(f, "and %zu more\n", v->rows - rows);
}
