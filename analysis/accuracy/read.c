/* SPDX-License-Identifier: MIT */
/*
 * read - take estimates and exact counts from one recording
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "read.h"
#include "analysis/base/util.h"
#include "analysis/profile/estimate.h"
#include "analysis/profile/profile.h"
#include "src/exact/directory.h"

#define Z_95 1.959963984540054 /* normal quantile of 0.975 */

enum {
	MISS_BITS = 3, /* the low bits of cdp_transfer.b are the distance */
};

static void read_threads(struct accuracy_outcome *o, const struct profile *p)
{
	for (size_t i = 0; i < p->threads; i++) {
		const struct thread_row *t = &p->thread[i];

		o->accesses = sat_add(o->accesses, t->counted_loads);
		o->accesses = sat_add(o->accesses, t->counted_stores);
		o->traps = sat_add(o->traps, t->traps);
		for (int k = 0; k < SAMPLE_KINDS; k++)
			o->samples = sat_add(o->samples, t->samples[k]);
	}
}

/* Each detection stands for a number of sampling periods. */
static void read_volume(struct accuracy_outcome *o, const struct profile *p)
{
	double period = 0;

	for (size_t i = 0; i < p->processes; i++)
		if (p->process[i].header.period)
			period = (double)p->process[i].header.period;
	for (size_t i = 0; i < p->pairs; i++)
		o->volume += (double)p->pair[i].periods_q8 / 256 * period;
}

/*
 * Of the detections between cores, the share between sockets; of the misses
 * that another core's cache served, the same.
 */
static void read_apart(struct accuracy_outcome *o, const struct profile *p)
{
	double near = 0, far = 0;

	for (size_t i = 0; i < p->cores; i++) {
		const struct core_row *c = &p->core[i];
		double n = (double)(c->count[SHARING_TRUE] +
				    c->count[SHARING_FALSE]);

		if (c->publisher / ACCURACY_SOCKET_CORES ==
		    c->detector / ACCURACY_SOCKET_CORES)
			near += n;
		else
			far += n;
	}
	o->apart = far / (near + far);
	near = far = 0;
	for (size_t i = 0; i < p->processes; i++)
		for (size_t k = 0; k < p->process[i].transfers; k++) {
			const struct cdp_transfer *t =
				&p->process[i].transfer[k];
			uint32_t distance = t->b & ((1 << MISS_BITS) - 1);

			if (t->kind != CDP_EXACT_MISS ||
			    t->b >> MISS_BITS == EXACT_UPGRADE)
				continue;
			if (distance >= ACCURACY_SOCKET_DISTANCE)
				far += (double)t->value[0];
			else
				near += (double)t->value[0];
		}
	o->exact_apart = far / (near + far);
}

static struct accuracy_cell *cell_of(struct accuracy_outcome *o, uint32_t a,
				     uint32_t b, size_t *room)
{
	struct accuracy_cell *c;
	uint32_t low = a < b ? a : b, high = a < b ? b : a;

	for (size_t i = 0; i < o->cells; i++)
		if (o->cell[i].a == low && o->cell[i].b == high)
			return &o->cell[i];
	o->cell = grow(o->cell, o->cells, room, sizeof(*o->cell));
	c = &o->cell[o->cells++];
	memset(c, 0, sizeof(*c));
	c->a = low;
	c->b = high;
	return c;
}

static void read_exact(struct accuracy_outcome *o, const struct process *s,
		       size_t *room)
{
	for (size_t i = 0; i < s->transfers; i++) {
		const struct cdp_transfer *t = &s->transfer[i];

		if (t->kind != CDP_EXACT_CELL ||
		    t != estimate_record(s, t->kind, t->a, t->b))
			continue;
		o->exact = sat_add(o->exact, t->value[0]);
		o->exact_false = sat_add(o->exact_false, t->value[1]);
		cell_of(o, t->a, t->b, room)->exact += t->value[0];
	}
}

/*
 * The share of false transfers and its interval. With z the transfers and f the
 * false transfers of a sample, the variance of sum f / sum z is about sum (f -
 * share z)^2 / (sum z)^2.
 */
static void read_false(struct accuracy_outcome *o,
		       const struct transfer_cell *total)
{
	const struct transfer_moment *m = total->share;
	double all = m[TRANSFER_ALL].sum, share, both, v, half;

	o->false_share = o->false_low = o->false_high = NAN;
	if (!(all > 0))
		return;
	share = m[TRANSFER_FALSE].sum / all;
	both = m[TRANSFER_ALL].square - m[TRANSFER_TRUE].square -
	       m[TRANSFER_FALSE].square; /* 2 sum of (true x false) */
	v = (1 - share) * (1 - share) * m[TRANSFER_FALSE].square +
	    share * share * m[TRANSFER_TRUE].square -
	    share * (1 - share) * both;
	half = Z_95 * sqrt(v > 0 ? v : 0) / all;
	o->false_share = share;
	o->false_low = fmax(share - half, 0);
	o->false_high = fmin(share + half, 1);
}

static void read_estimate(struct accuracy_outcome *o, const struct estimate *e,
			  size_t *room)
{
	struct transfer_sampling alone = e->sampling;
	const struct transfer_moment *all = &e->total.share[TRANSFER_ALL];
	struct interval v = estimate_interval(e, all);

	alone.systematic = 0;
	o->estimate = all->sum;
	o->low = v.low;
	o->high = v.high;
	v = transfer_interval(all, &alone);
	o->low_sampling = v.low;
	o->high_sampling = v.high;
	o->seen = e->total.seen;
	read_false(o, &e->total);
	for (size_t i = 0; i < e->cells; i++) {
		const struct estimate_cell *from = &e->cell[i];
		struct accuracy_cell *c = cell_of(o, from->a, from->b, room);

		all = &from->cell.share[TRANSFER_ALL];
		v = estimate_interval(e, all);
		c->seen = from->cell.seen;
		c->estimate = all->sum;
		c->low = v.low;
		c->high = v.high;
		v = transfer_interval(all, &alone);
		c->low_sampling = v.low;
		c->high_sampling = v.high;
	}
}

void accuracy_read(struct accuracy_trial *t, const char *dir)
{
	struct accuracy_outcome *o = &t->outcome;
	struct estimate e;
	struct profile p;
	size_t room = 0;
	int err = profile_load(&p, dir);

	memset(o, 0, sizeof(*o));
	if (err || p.bad_files || p.processes != 1) {
		t->failed = xasprintf("cannot read the recording: %s",
				      err           ? strerror(-err)
				      : p.bad_files ? p.bad[0].why
						    : "not of one process");
	} else if (!profile_complete(&p)) {
		t->failed = xstrdup("the recording is not complete");
	} else {
		read_threads(o, &p);
		read_volume(o, &p);
		read_apart(o, &p);
		read_exact(o, &p.process[0], &room);
		if (estimate_load(&e, &p))
			read_estimate(o, &e, &room);
		estimate_release(&e);
	}
	profile_release(&p);
}

void accuracy_outcome_release(struct accuracy_outcome *o)
{
	free(o->cell);
	o->cell = NULL;
	o->cells = 0;
}
