/* SPDX-License-Identifier: MIT */
/*
 * sighted - lines that were seen to go from thread to thread, and no sample met
 */
#include <stdlib.h>
#include <string.h>

#include "sighted.h"
#include "analysis/base/util.h"

static int compare_places(const struct pair_row *x, const struct pair_row *y)
{
	return x->process != y->process ? order_u64(x->process, y->process)
					: order_u64(x->line, y->line);
}

static int compare_detected(const void *a, const void *b)
{
	return compare_places(*(const struct pair_row *const *)a,
			      *(const struct pair_row *const *)b);
}

/* By line; the pairs of a line by meetings. */
static int compare_sightings(const void *a, const void *b)
{
	const struct pair_row *x = *(const struct pair_row *const *)a;
	const struct pair_row *y = *(const struct pair_row *const *)b;
	const uint64_t key[][2] = {
		{ y->count, x->count },
		{ x->detector_addr, y->detector_addr },
		{ x->detector_ip, y->detector_ip },
		{ x->publisher_ip, y->publisher_ip },
	};
	int order = compare_places(x, y);

	for (size_t i = 0; !order && i < sizeof(key) / sizeof(*key); i++)
		order = order_u64(key[i][0], key[i][1]);
	return order;
}

static int compare_lines(const void *a, const void *b)
{
	const struct sighted_line *x = a, *y = b;

	if (x->meetings != y->meetings)
		return order_u64(y->meetings, x->meetings);
	return x->process != y->process ? order_u64(x->process, y->process)
					: order_u64(x->line, y->line);
}

static const struct pair_row **sorted(const struct pair_row *pair, size_t n,
				      int (*compare)(const void *,
						     const void *))
{
	const struct pair_row **all = xcalloc(n + 1, sizeof(*all));

	for (size_t i = 0; i < n; i++)
		all[i] = &pair[i];
	qsort(all, n, sizeof(*all), compare);
	return all;
}

/* Sum the run of @n pairs of one line, from @first on. */
static struct sighted_line sum_line(const struct sighted *s, size_t first,
				    size_t n)
{
	struct sighted_line l = { .process = s->pair[first]->process,
				  .line = s->pair[first]->line,
				  .first = first,
				  .pairs = n };

	for (size_t i = first; i < first + n; i++) {
		const struct pair_row *p = s->pair[i];

		l.meetings = sat_add(l.meetings, p->count);
		l.kind[p->sharing] = sat_add(l.kind[p->sharing], p->count);
	}
	return l;
}

static bool takes_part(const struct sighted *s, const struct sighted_line *l,
		       int64_t thread)
{
	for (size_t i = l->first; i < l->first + l->pairs; i++)
		if (s->pair[i]->publisher == thread ||
		    s->pair[i]->detector == thread)
			return true;
	return thread < 0;
}

void sighted_init(struct sighted *s, const struct profile *p,
		  struct symbols *symbols, int64_t thread)
{
	const struct pair_row **detected =
		sorted(p->pair, p->pairs, compare_detected);
	size_t room = 0;

	memset(s, 0, sizeof(*s));
	s->pair = sorted(p->sighting, p->sightings, compare_sightings);
	for (size_t i = 0, n; i < p->sightings; i += n) {
		const struct pair_row *const *first = &s->pair[i];
		struct sighted_line l;

		for (n = 1;
		     i + n < p->sightings && !compare_places(*first, first[n]);
		     n++)
			;
		l = sum_line(s, i, n);
		if (!l.line || !takes_part(s, &l, thread) ||
		    bsearch(first, detected, p->pairs, sizeof(*detected),
			    compare_detected))
			continue;
		symbols_object(symbols, &p->process[l.process],
			       (*first)->detector_addr,
			       (*first)->line_generation, &l.object);
		s->line = grow(s->line, s->lines, &room, sizeof(*s->line));
		s->line[s->lines++] = l;
	}
	if (s->lines)
		qsort(s->line, s->lines, sizeof(*s->line), compare_lines);
	for (size_t i = 0; i < p->threads; i++) {
		s->looks = sat_add(s->looks, p->thread[i].looks);
		s->accesses = sat_add(s->accesses, p->thread[i].look_accesses);
	}
	free(detected);
}

void sighted_release(struct sighted *s)
{
	free(s->line);
	free(s->pair);
}
