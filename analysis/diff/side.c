/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "side.h"
#include "analysis/attribution/tally.h"
#include "analysis/base/util.h"
#include "analysis/profile/estimate.h"
#include "analysis/profile/profile.h"

static double accesses_of(const struct profile *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->threads; i++)
		sum += (double)p->thread[i].counted_loads +
		       (double)p->thread[i].counted_stores;
	return sum;
}

static double samples_of(const struct profile *p)
{
	double sum = 0;

	for (size_t i = 0; i < p->threads; i++) {
		sum += (double)p->thread[i].samples_skipped;
		for (int k = 0; k < SAMPLE_KINDS; k++)
			sum += (double)p->thread[i].samples[k];
	}
	return sum;
}

/*
 * The Poisson count with the relative error of @m, and the exposure that gives
 * it the rate m->sum / @accesses. Nothing seen: no event in as many times the
 * weight of one transfer that was seen.
 */
static struct run_count of_moment(const struct transfer_moment *m,
				  const struct transfer_sampling *s,
				  double accesses)
{
	double variance = transfer_variance(m, s);
	double weight = m->sum > 0 ? variance / m->sum : s->weight;

	if (!(accesses > 0 && weight > 0))
		return (struct run_count){ 0, 0 };
	return (struct run_count){ m->sum > 0 ? m->sum / weight : 0,
				   accesses / weight };
}

static bool count_transfers(struct run *r, const struct profile *p)
{
	static const enum transfer_share share[] = {
		[QUANTITY_ALL] = TRANSFER_ALL,
		[QUANTITY_FALSE] = TRANSFER_FALSE,
		[QUANTITY_TRUE] = TRANSFER_TRUE,
	};
	double accesses = accesses_of(p);
	struct estimate e;
	bool known = estimate_load(&e, p) && accesses > 0;

	for (int q = QUANTITY_ALL; known && q <= QUANTITY_TRUE; q++)
		r->count[q] = of_moment(&e.total.share[share[q]], &e.sampling,
					accesses);
	if (known && e.avoidable >= 0) {
		struct run_count all = r->count[QUANTITY_ALL];

		r->count[QUANTITY_AVOIDABLE] =
			(struct run_count){ all.events * e.avoidable,
					    all.exposure };
	}
	estimate_release(&e);
	return known;
}

/*
 * Weights count as the number of detections of equal weight that is as certain,
 * and samples as if they had found these, so rates are what they were.
 */
static void count_detections(struct run *r, const struct tally *t)
{
	double all = (double)tally_total(t->kind);
	double judged = (double)t->judged.all;
	double exposure = r->samples / t->design;
	const double events[] = {
		[QUANTITY_ALL] = all,
		[QUANTITY_FALSE] = (double)t->kind[SHARING_FALSE],
		[QUANTITY_TRUE] = (double)t->kind[SHARING_TRUE],
	};

	for (int q = QUANTITY_ALL; q <= QUANTITY_TRUE; q++)
		r->detected[q] =
			(struct run_count){ events[q] / t->design, exposure };
	/* Without a detection there was none that padding avoids. */
	r->detected[QUANTITY_AVOIDABLE] =
		(struct run_count){ (double)t->judged.avoidable / t->design,
				    all > 0 ? exposure * judged / all
					    : exposure };
}

/*
 * "queue in libfoo.so", "heap block of make_pool": the function that
 * allocated it, since lines move when the source changes. Other memory without
 * a name goes by its kind.
 */
static char *variable_name(const struct object *o)
{
	struct object whole = *o;

	if (o->block)
		return xasprintf("heap block of %s",
				 o->allocated.function
					 ? o->allocated.function
					 : place_text(&o->allocated));
	if (o->kind == OBJECT_STATIC)
		whole.offset = 0;
	if (o->kind != OBJECT_STATIC && o->kind != OBJECT_MODULE)
		return xstrdup(object_kind_text(o->kind));
	return xasprintf("%s in %s", object_text(&whole),
			 o->module ? base_name(o->module) : "?");
}

static char *function_name(const struct place *p)
{
	if (!p->function)
		return xstrdup(place_text(p));
	return xasprintf("%s in %s", p->function, base_name(p->module));
}

static int compare_places(const void *a, const void *b)
{
	const struct place_count *x = a, *y = b;

	return x->kind != y->kind ? (x->kind < y->kind ? -1 : 1)
				  : strcmp(x->name, y->name);
}

static void add_places(void *to, const void *from)
{
	struct place_count *x = to;
	const struct place_count *y = from;

	x->detections += y->detections;
	free(y->name);
}

static void count_places(struct run *r, const struct tally *t)
{
	struct place_count *place =
		xcalloc(t->objects + t->sites + 1, sizeof(*place));
	size_t n = 0;

	for (size_t i = 0; i < t->objects; i++)
		place[n++] = (struct place_count){
			variable_name(&t->object[i].object), PLACE_VARIABLE,
			(double)tally_total(t->object[i].kind)
		};
	for (size_t i = 0; i < t->sites; i++)
		place[n++] = (struct place_count){
			function_name(&t->site[i].place), PLACE_FUNCTION,
			(double)tally_total(t->site[i].kind)
		};
	r->places = unite(place, n, sizeof(*place), compare_places, add_places);
	r->place = place;
}

static void copy_text(char *to, size_t size, const char *from)
{
	snprintf(to, size, "%s", from);
}

void side_add(struct side *s, const char *dir, bool symbols)
{
	const struct cdp_header *h;
	struct symbols *names;
	struct profile p;
	struct tally t;
	struct run *r;

	profile_open(&p, dir);
	s->run = grow(s->run, s->runs, &s->room, sizeof(*s->run));
	r = &s->run[s->runs++];
	*r = (struct run){ .dir = xstrdup(dir) };
	h = &profile_main_process(&p)->header;
	copy_text(r->source, sizeof(r->source), h->source);
	copy_text(r->algorithm, sizeof(r->algorithm), h->algorithm);
	copy_text(r->unit, sizeof(r->unit), h->period_unit);
	r->period = h->period;
	r->registers = h->registers;
	r->samples = samples_of(&p);
	r->wall_s = (double)profile_wall_ns(&p) / 1e9;
	if (strcmp(h->source, "import") != 0)
		r->cpu_s = (double)profile_cpu_ns(&p) / 1e9;
	names = symbols_new(symbols, dir);
	tally_init(&t, &p, names, -1);
	if (!(r->samples > 0))
		die("diff: %s has no samples to compare", safe_text(dir));
	r->design = t.design;
	count_detections(r, &t);
	r->transfers = count_transfers(r, &p);
	if (!r->transfers)
		memcpy(r->count, r->detected, sizeof(r->count));
	count_places(r, &t);
	tally_release(&t);
	symbols_free(names);
	profile_release(&p);
}

void side_use_detections(struct side *s)
{
	for (size_t i = 0; i < s->runs; i++)
		memcpy(s->run[i].count, s->run[i].detected,
		       sizeof(s->run[i].count));
}

void side_release(struct side *s)
{
	for (size_t i = 0; i < s->runs; i++) {
		for (size_t k = 0; k < s->run[i].places; k++)
			free(s->run[i].place[k].name);
		free(s->run[i].place);
		free(s->run[i].dir);
	}
	free(s->run);
	*s = (struct side){ 0 };
}

struct run_count run_place(const struct run *r, enum place_kind kind,
			   const char *name)
{
	struct place_count key = { (char *)(uintptr_t)name, kind, 0 };
	const struct place_count *found =
		r->places ? bsearch(&key, r->place, r->places, sizeof(key),
				    compare_places)
			  : NULL;

	return (struct run_count){ found ? found->detections / r->design : 0,
				   r->samples / r->design };
}
