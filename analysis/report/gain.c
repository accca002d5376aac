/* SPDX-License-Identifier: MIT */
/*
 * gain - how much less time the program takes if threads no longer share a line
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "gain.h"
#include "analysis/attribution/line_time.h"
#include "analysis/base/json_build.h"
#include "analysis/base/util.h"
#include "src/base/access.h"

enum {
	USERS_MAX = 64
};

/*
 * The interval is this factor to either side. It is never narrower, because
 * loops differ from those of the probe; an error beyond ERROR_MAX does not fit.
 */
#define WIDTH     M_SQRT2
#define ERROR_MAX 0.27

struct user {
	uint32_t thread;
	uint32_t flags; /* ACCESS_* */
};

struct users {
	struct user user[USERS_MAX];
	size_t n;
	double by_board;
};

static void add_user(struct users *u, uint32_t thread, uint32_t flags)
{
	for (size_t i = 0; i < u->n; i++)
		if (u->user[i].thread == thread) {
			u->user[i].flags |= flags;
			return;
		}
	if (u->n < USERS_MAX)
		u->user[u->n++] = (struct user){ thread, flags };
}

static void find_users(struct users *u, const struct report *r,
		       const struct line_tally *l)
{
	const struct tally *t = &r->tally;

	u->n = 0;
	u->by_board = 0;
	for (size_t i = 0; i < l->pairs; i++) {
		const struct pair_row *p =
			&r->profile->pair[t->by_line[l->first + i]];

		add_user(u, p->publisher, p->publisher_flags);
		add_user(u, p->detector, p->detector_flags);
		if (p->by == DETECTED_BY_BOARD)
			u->by_board += (double)p->count;
	}
}

static double samples_of(const struct report *r, uint32_t thread)
{
	const struct thread_row *row = &r->profile->thread[thread];
	double n = (double)row->samples_skipped;

	for (int k = 0; k < SAMPLE_KINDS; k++)
		n += (double)row->samples[k];
	return n;
}

/* Nobody detects the longest thread while it runs alone. */
static double side_by_side(const struct users *u, const struct report *r)
{
	double sum = 0, most = 0;

	for (size_t i = 0; i < u->n; i++) {
		double n = samples_of(r, u->user[i].thread);

		sum += n;
		most = fmax(most, n);
	}
	return (sum - most) / ((double)u->n - 1);
}

static enum cost_kind kind_of(uint32_t flags)
{
	if (flags & ACCESS_LOCKED)
		return COST_LOCKED;
	if (!(flags & ACCESS_STORE))
		return COST_LOAD;
	return flags & ACCESS_LOAD ? COST_UPDATE : COST_STORE;
}

/* The share of its time at the line that the slowest thread saves. */
static double saved_share(const struct users *u, const struct sharing_cost *c,
			  double *error)
{
	double best = 0;

	*error = INFINITY;
	for (size_t i = 0; i < u->n; i++) {
		const struct cost_ratio *a =
			&c->alone[kind_of(u->user[i].flags)];
		double saved = 1 - a->middle;

		if (saved <= best)
			continue;
		best = saved;
		*error = a->high < 1 ? log((1 - a->low) / (1 - a->high)) / 2
				     : INFINITY;
	}
	return best;
}

struct gain gain_of_line(const struct report *r, const struct line_tally *l)
{
	const struct cdp_header *h = &r->profile->process[l->process].header;
	struct line_users line = { 0 };
	double share, cost_error, periods, design = r->tally.design;
	struct line_time time;
	struct gain g = { 0 };
	struct users u;

	if (!r->cost || strcmp(h->source, "clock") != 0)
		return g;
	find_users(&u, r, l);
	for (size_t i = 0; i < u.n; i++)
		line.writers += (u.user[i].flags & ACCESS_STORE) != 0;
	g.known = GAIN_TOO_FEW;
	g.error = INFINITY;
	if (u.n < 2 || !line.writers)
		return g;
	line.threads = u.n;
	periods = side_by_side(&u, r);
	/* As certain as so many detections of equal weight. */
	line.periods = periods / design;
	time = line_time(&line, u.by_board / design);
	share = saved_share(&u, r->cost, &cost_error);
	if (l->judged.all)
		share *= (double)l->judged.avoidable / (double)l->judged.all;
	g.seconds = time.share * share * periods * (double)h->period / 1e9;
	g.error = hypot(time.error, cost_error);
	return g;
}

void gain_add(struct gain *g, const struct gain *more)
{
	double sum = g->seconds + more->seconds;

	if (more->known == GAIN_NOT_SOUGHT || sum <= 0)
		return;
	/* Errors of the cost are common, so errors do not average out. */
	g->error = (g->seconds > 0 ? g->error * g->seconds / sum : 0) +
		   (more->seconds > 0 ? more->error * more->seconds / sum : 0);
	g->seconds = sum;
}

void gain_finish(struct gain *g, double run_seconds)
{
	if (g->known == GAIN_NOT_SOUGHT || !(g->error <= ERROR_MAX))
		return;
	g->known = GAIN_KNOWN;
	g->low = fmin(g->seconds / WIDTH, run_seconds);
	g->high = fmin(g->seconds * WIDTH, run_seconds);
	g->seconds = fmin(g->seconds, run_seconds);
}

void gain_print(const struct report *r, const struct gain *g)
{
	double run = (double)profile_wall_ns(r->profile) / 1e9;
	char *text;

	if (g->known == GAIN_NOT_SOUGHT)
		return;
	if (g->known == GAIN_TOO_FEW)
		text = xasprintf("How much time that saves cannot be told to a "
				 "factor of two: too few detections, or too "
				 "little is saved.");
	else
		text = xasprintf(
			"Predicted: the run takes %s less of %s, which is %.0f "
			"%% (%.0f to %.0f %%), if it waits for these threads.",
			duration_text((uint64_t)(g->seconds * 1e9)),
			duration_text(profile_wall_ns(r->profile)),
			100 * g->seconds / run, 100 * g->low / run,
			100 * g->high / run);
	fputs("     ", r->out);
	print_wrapped(r->out, text, 5, 5);
	free(text);
}

void put_gain(json_t *o, const struct report *r, const struct gain *g)
{
	json_t *gain;

	if (g->known != GAIN_KNOWN)
		return;
	gain = json_object();
	put(gain, "seconds", json_real(g->seconds));
	put(gain, "low", json_real(g->low));
	put(gain, "high", json_real(g->high));
	put(gain, "round_trip_ns", json_real(r->cost->round_trip_ns));
	put(o, "gain", gain);
}
