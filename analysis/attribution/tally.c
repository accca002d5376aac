/* SPDX-License-Identifier: MIT */
/*
 * tally - detections summed by thread pair, line, site and object
 *
 * Each sum is made by sorting references and walking over runs of equal ones.
 */
#include <stdlib.h>
#include <string.h>

#include "tally.h"
#include "analysis/base/util.h"

static void add(uint64_t *sum, uint64_t n)
{
	*sum = sat_add(*sum, n);
}

static void add_judged(struct judged *sum, const struct judged *j)
{
	add(&sum->all, j->all);
	add(&sum->avoidable, j->avoidable);
}

static struct judged judged_of(const struct pair_row *p)
{
	return (struct judged){ .all = p->judged, .avoidable = p->avoidable };
}

static int compare_cells(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	return x->a != y->a ? order_u64(x->a, y->a) : order_u64(x->b, y->b);
}

static void add_cell(void *to, const void *from)
{
	struct cell *x = to;
	const struct cell *y = from;

	for (int k = 0; k < SHARING_KINDS; k++)
		add(&x->kind[k], y->kind[k]);
	add(&x->a_to_b, y->a_to_b);
	add(&x->b_to_a, y->b_to_a);
	add(&x->traps, y->traps);
	add_judged(&x->judged, &y->judged);
}

static size_t merge_cells(struct cell *cell, size_t n)
{
	return unite(cell, n, sizeof(*cell), compare_cells, add_cell);
}

static struct cell directed_cell(uint32_t from, uint32_t to, uint64_t n)
{
	struct cell c = { .a = from, .b = to, .a_to_b = n };

	if (from > to)
		c = (struct cell){ .a = to, .b = from, .b_to_a = n };
	return c;
}

static void sum_cells(struct tally *t, const uint32_t *pairs, size_t n)
{
	t->cell = xcalloc(n, sizeof(*t->cell));
	for (size_t i = 0; i < n; i++) {
		const struct pair_row *p = &t->profile->pair[pairs[i]];
		struct cell c =
			directed_cell(p->publisher, p->detector, p->count);

		c.kind[p->sharing] = p->count;
		c.judged = judged_of(p);
		if (p->by == DETECTED_BY_TRAP)
			c.traps = p->count;
		t->cell[t->cells++] = c;
	}
	t->cells = merge_cells(t->cell, t->cells);
}

static void sum_cores(struct tally *t)
{
	t->core = xcalloc(t->profile->cores, sizeof(*t->core));
	for (size_t i = 0; i < t->profile->cores; i++) {
		const struct core_row *r = &t->profile->core[i];
		uint64_t n = tally_total(r->count);
		struct cell c = directed_cell(r->publisher, r->detector, n);

		if (!n)
			continue;
		memcpy(c.kind, r->count, sizeof(c.kind));
		c.traps = r->traps;
		t->core[t->cores++] = c;
	}
	t->cores = merge_cells(t->core, t->cores);
}

static void sum_totals(struct tally *t, const uint32_t *pairs, size_t n)
{
	t->thread_detections =
		xcalloc(t->profile->threads, sizeof(*t->thread_detections));
	for (size_t i = 0; i < n; i++) {
		const struct pair_row *p = &t->profile->pair[pairs[i]];
		struct judged judged = judged_of(p);

		add(&t->kind[p->sharing], p->count);
		add(&t->by[p->by], p->count);
		add_judged(&t->judged, &judged);
		t->periods += (double)p->periods_q8 / 256;
		if (!p->line)
			add(&t->unplaced[p->sharing], p->count);
		add(&t->thread_detections[p->publisher], p->count);
		if (p->detector != p->publisher)
			add(&t->thread_detections[p->detector], p->count);
	}
}

/* Pairs of one detector at one place of a line are next to each other. */
static int compare_visits(const void *a, const void *b, void *pairs)
{
	const struct pair_row *pair = pairs;
	const struct pair_row *x = &pair[*(const uint32_t *)a];
	const struct pair_row *y = &pair[*(const uint32_t *)b];

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->detector_addr != y->detector_addr)
		return order_u64(x->detector_addr, y->detector_addr);
	return order_u64(x->detector, y->detector);
}

/* Count the threads at each place that had an avoidable detection there. */
static void sum_guessed(struct tally *t, const uint32_t *pairs, size_t n)
{
	uint32_t *of = xcalloc(n + 1, sizeof(*of));
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (t->profile->pair[pairs[i]].avoidable)
			of[k++] = pairs[i];
	if (k)
		qsort_r(of, k, sizeof(*of), compare_visits, t->profile->pair);
	for (size_t i = 0; i < k; i++)
		t->judged.guessed += !i || compare_visits(&of[i - 1], &of[i],
							  t->profile->pair);
	free(of);
}

/* One of the two instructions of a pair. */
struct site_ref {
	uint64_t ip, generation;
	uint32_t process, pair, site;
	bool detector;
};

static int compare_addresses(const void *a, const void *b)
{
	const struct site_ref *x = a, *y = b;

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->ip != y->ip)
		return order_u64(x->ip, y->ip);
	return order_u64(x->generation, y->generation);
}

/* Both functions compare indices of @sites. */
static int compare_places(const void *a, const void *b, void *sites)
{
	const struct site_tally *site = sites;

	return place_compare(&site[*(const uint32_t *)a].place,
			     &site[*(const uint32_t *)b].place);
}

static int compare_weights(const void *a, const void *b, void *sites)
{
	const struct site_tally *site = sites;
	const struct site_tally *x = &site[*(const uint32_t *)a];
	const struct site_tally *y = &site[*(const uint32_t *)b];
	int order = order_u64(tally_total(y->kind), tally_total(x->kind));

	return order ? order : compare_places(a, b, sites);
}

static uint32_t *identity(size_t n)
{
	uint32_t *index = xcalloc(n, sizeof(*index));

	for (size_t i = 0; i < n; i++)
		index[i] = i;
	return index;
}

/*
 * Merge the sites at one place of a module: two processes of a program have one
 * each.
 */
static void unite_sites(struct tally *t, struct site_ref *ref, size_t refs)
{
	uint32_t *index = identity(t->sites);
	uint32_t *place = xcalloc(t->sites, sizeof(*place));
	size_t kept = 0;

	qsort_r(index, t->sites, sizeof(*index), compare_places, t->site);
	for (size_t i = 0; i < t->sites; i++) {
		if (!i || compare_places(&index[i - 1], &index[i], t->site))
			kept++;
		place[index[i]] = kept - 1;
	}
	struct site_tally *united = xcalloc(kept, sizeof(*united));

	for (size_t i = 0; i < t->sites; i++)
		united[place[i]] = t->site[i];
	for (size_t i = 0; i < refs; i++)
		ref[i].site = place[ref[i].site];
	free(t->site);
	free(index);
	free(place);
	t->site = united;
	t->sites = kept;
}

static void count_sites(struct tally *t, const uint32_t *pairs, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct pair_row *p = &t->profile->pair[pairs[i]];
		uint32_t from = t->publisher_site[pairs[i]];
		uint32_t to = t->detector_site[pairs[i]];

		if (from != NO_SITE) {
			add(&t->site[from].kind[p->sharing], p->count);
			t->site[from].flags |= p->publisher_flags;
		}
		if (to != NO_SITE) {
			if (to != from)
				add(&t->site[to].kind[p->sharing], p->count);
			t->site[to].flags |= p->detector_flags;
		}
	}
}

static void order_sites(struct tally *t, const uint32_t *pairs, size_t n)
{
	uint32_t *index = identity(t->sites);
	uint32_t *place = xcalloc(t->sites, sizeof(*place));
	struct site_tally *ordered = xcalloc(t->sites, sizeof(*ordered));

	qsort_r(index, t->sites, sizeof(*index), compare_weights, t->site);
	for (size_t i = 0; i < t->sites; i++) {
		ordered[i] = t->site[index[i]];
		place[index[i]] = i;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t *from = &t->publisher_site[pairs[i]];
		uint32_t *to = &t->detector_site[pairs[i]];

		if (*from != NO_SITE)
			*from = place[*from];
		if (*to != NO_SITE)
			*to = place[*to];
	}
	free(t->site);
	free(index);
	free(place);
	t->site = ordered;
}

static struct site_ref *site_refs(struct tally *t, const uint32_t *pairs,
				  size_t n, size_t *refs)
{
	struct site_ref *ref = xcalloc(2 * n, sizeof(*ref));

	*refs = 0;
	for (size_t i = 0; i < n; i++) {
		const struct pair_row *p = &t->profile->pair[pairs[i]];
		struct site_ref r = { .generation = p->foreign
							    ? UINT64_MAX
							    : p->map_generation,
				      .process = p->publisher_process,
				      .pair = pairs[i] };

		t->publisher_site[pairs[i]] = NO_SITE;
		t->detector_site[pairs[i]] = NO_SITE;
		r.ip = p->publisher_ip;
		if (r.ip)
			ref[(*refs)++] = r;
		r.ip = p->detector_ip;
		r.generation = p->map_generation;
		r.process = p->detector_process;
		r.detector = true;
		if (r.ip)
			ref[(*refs)++] = r;
	}
	return ref;
}

static void sum_sites(struct tally *t, struct symbols *s, const uint32_t *pairs,
		      size_t n)
{
	const struct profile *p = t->profile;
	struct site_ref *ref;
	size_t refs, room = 0;

	t->publisher_site = xcalloc(p->pairs, sizeof(uint32_t));
	t->detector_site = xcalloc(p->pairs, sizeof(uint32_t));
	ref = site_refs(t, pairs, n, &refs);
	if (refs) {
		qsort(ref, refs, sizeof(*ref), compare_addresses);
		for (size_t i = 0; i < refs; i++) {
			if (!i || compare_addresses(&ref[i - 1], &ref[i])) {
				t->site = grow(t->site, t->sites, &room,
					       sizeof(*t->site));
				memset(&t->site[t->sites], 0, sizeof(*t->site));
				symbols_site(s, &p->process[ref[i].process],
					     ref[i].ip, ref[i].generation,
					     &t->site[t->sites++].place);
			}
			ref[i].site = t->sites - 1;
		}
		unite_sites(t, ref, refs);
	}
	for (size_t i = 0; i < refs; i++)
		(ref[i].detector ? t->detector_site
				 : t->publisher_site)[ref[i].pair] =
			ref[i].site;
	free(ref);
	if (!t->sites)
		return;
	count_sites(t, pairs, n);
	order_sites(t, pairs, n);
}

/* Compares indices of @pairs. */
static int compare_by_line(const void *a, const void *b, void *pairs)
{
	const struct pair_row *pair = pairs;
	const struct pair_row *x = &pair[*(const uint32_t *)a];
	const struct pair_row *y = &pair[*(const uint32_t *)b];

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->line != y->line)
		return order_u64(x->line, y->line);
	return order_u64(y->count, x->count); /* most first */
}

static int compare_lines(const void *a, const void *b)
{
	const struct line_tally *x = a, *y = b;
	int order = order_u64(tally_total(y->kind), tally_total(x->kind));

	if (order)
		return order;
	if (x->process != y->process)
		return order_u64(x->process, y->process);
	return order_u64(x->line, y->line);
}

static void sum_lines(struct tally *t, struct symbols *s, size_t n)
{
	const struct profile *p = t->profile;
	struct line_tally *l = NULL;
	size_t room = 0;

	if (n)
		qsort_r(t->by_line, n, sizeof(*t->by_line), compare_by_line,
			p->pair);
	for (size_t i = 0; i < n; i++) {
		const struct pair_row *r = &p->pair[t->by_line[i]];
		struct judged judged;

		if (!r->line)
			continue;
		if (!l || l->process != r->process || l->line != r->line) {
			t->line = grow(t->line, t->lines, &room,
				       sizeof(*t->line));
			l = &t->line[t->lines++];
			*l = (struct line_tally){ .process = r->process,
						  .line = r->line,
						  .first = i };
			/* The first pair of a line has most detections. */
			symbols_object(s, &p->process[r->process],
				       r->publisher_addr, r->line_generation,
				       &l->object);
		}
		judged = judged_of(r);
		add(&l->kind[r->sharing], r->count);
		add_judged(&l->judged, &judged);
		l->pairs++;
	}
	if (t->lines)
		qsort(t->line, t->lines, sizeof(*t->line), compare_lines);
}

static int compare_objects(const void *a, const void *b)
{
	const struct object_tally *x = a, *y = b;

	if (x->process != y->process)
		return order_u64(x->process, y->process);
	if (x->object.kind != y->object.kind)
		return order_u64(x->object.kind, y->object.kind);
	/*
	 * Memory without a name is one object: nothing tells its parts apart.
	 */
	if (x->object.kind == OBJECT_UNNAMED)
		return 0;
	/* Blocks that one call allocated are one object. */
	if (x->object.block || y->object.block)
		return object_compare_blocks(&x->object, &y->object);
	return order_u64(x->object.start, y->object.start);
}

static int compare_object_weights(const void *a, const void *b)
{
	const struct object_tally *x = a, *y = b;
	int order = order_u64(tally_total(y->kind), tally_total(x->kind));

	return order ? order : compare_objects(a, b);
}

static void add_object(void *to, const void *from)
{
	struct object_tally *x = to;
	const struct object_tally *y = from;

	x->lines += y->lines;
	for (int k = 0; k < SHARING_KINDS; k++)
		add(&x->kind[k], y->kind[k]);
}

static void sum_objects(struct tally *t)
{
	t->object = xcalloc(t->lines, sizeof(*t->object));
	for (size_t i = 0; i < t->lines; i++) {
		struct object_tally *o = &t->object[i];

		o->object = t->line[i].object;
		o->process = t->line[i].process;
		o->lines = 1;
		memcpy(o->kind, t->line[i].kind, sizeof(o->kind));
	}
	t->objects = unite(t->object, t->lines, sizeof(*t->object),
			   compare_objects, add_object);
	if (t->objects)
		qsort(t->object, t->objects, sizeof(*t->object),
		      compare_object_weights);
}

void tally_init(struct tally *t, const struct profile *p, struct symbols *s,
		int64_t thread)
{
	size_t n = 0;

	memset(t, 0, sizeof(*t));
	t->profile = p;
	t->by_line = xcalloc(p->pairs, sizeof(*t->by_line));
	for (size_t i = 0; i < p->pairs; i++)
		if (thread < 0 || p->pair[i].publisher == thread ||
		    p->pair[i].detector == thread)
			t->by_line[n++] = i;
	t->taken = n;
	t->design = tally_design(p);
	t->heaviest = tally_heaviest(p);
	sum_totals(t, t->by_line, n);
	sum_guessed(t, t->by_line, n);
	sum_cells(t, t->by_line, n);
	if (thread < 0)
		sum_cores(t);
	sum_sites(t, s, t->by_line, n);
	sum_lines(t, s, n);
	sum_objects(t);
	tally_callers(t, s);
}

void tally_release(struct tally *t)
{
	free(t->cell);
	free(t->core);
	free(t->line);
	free(t->site);
	free(t->object);
	free(t->by_line);
	free(t->publisher_site);
	free(t->detector_site);
	free(t->thread_detections);
	memset(t, 0, sizeof(*t));
}
