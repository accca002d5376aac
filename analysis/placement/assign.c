/* SPDX-License-Identifier: MIT */
/*
 * assign - put threads that share lines on places that are near
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "assign.h"
#include "analysis/base/util.h"
#include "src/base/rng.h"

enum {
	STARTS = 12,
	STARTS_FEW = 100, /* threads: each start takes a millisecond */
	FEW = 24,
	PASSES = 50,
	MANY = 256 /* threads: a few starts take a second */
};

/*
 * A seat is a place for one thread. Seats are as many as threads or more, so
 * an exchange of seats, one perhaps empty, is the only step.
 */
struct seating {
	const struct assignment *a;
	size_t seats;
	uint32_t *at;    /* seat of each thread; those behind are nobody */
	uint32_t *place; /* of each seat */
};

static double shared(const struct assignment *a, size_t x, size_t y)
{
	return x < a->threads && y < a->threads ? a->shared[x * a->threads + y]
						: 0;
}

static uint32_t distance(const struct seating *s, uint32_t x, uint32_t y)
{
	return s->a->distance[s->place[x] * s->a->places + s->place[y]];
}

/* By how much the cost grows if @x and @y exchange their seats. */
static double change(const struct seating *s, size_t x, size_t y)
{
	double sum = 0;

	for (size_t k = 0; k < s->a->threads; k++) {
		double more = shared(s->a, x, k) - shared(s->a, y, k);

		if (k == x || k == y || more == 0)
			continue;
		sum += more * ((double)distance(s, s->at[y], s->at[k]) -
			       (double)distance(s, s->at[x], s->at[k]));
	}
	return sum;
}

static void exchange(struct seating *s, size_t x, size_t y)
{
	uint32_t seat = s->at[x];

	s->at[x] = s->at[y];
	s->at[y] = seat;
}

static void improve(struct seating *s)
{
	bool better = true;

	for (int pass = 0; better && pass < PASSES; pass++) {
		better = false;
		for (size_t x = 0; x < s->a->threads; x++)
			for (size_t y = x + 1; y < s->seats; y++)
				if (change(s, x, y) < -1e-9) {
					exchange(s, x, y);
					better = true;
				}
	}
}

/* What thread @x shares with those below @placed, at the distance of @seat. */
static double cost_at(const struct seating *s, const size_t *order,
		      size_t placed, size_t x, uint32_t seat)
{
	double sum = 0;

	for (size_t i = 0; i < placed; i++)
		sum += shared(s->a, x, order[i]) *
		       distance(s, seat, s->at[order[i]]);
	return sum;
}

/* The thread among order[@placed...] that shares most with those before. */
static size_t next_thread(const struct assignment *a, const size_t *order,
			  size_t placed)
{
	size_t best = placed;
	double most = -1;

	for (size_t i = placed; i < a->threads; i++) {
		double sum = 0;

		for (size_t k = 0; k < (placed ? placed : a->threads); k++)
			sum += shared(a, order[i], order[k]);
		if (sum > most) {
			most = sum;
			best = i;
		}
	}
	return best;
}

/* Each thread to the seat where it costs least beside those placed. */
static void greedy(struct seating *s)
{
	size_t *order = xcalloc(s->a->threads + 1, sizeof(*order));
	bool *taken = xcalloc(s->seats, sizeof(*taken));
	uint32_t empty = 0;

	for (size_t i = 0; i < s->a->threads; i++)
		order[i] = i;
	for (size_t i = 0; i < s->a->threads; i++) {
		size_t k = next_thread(s->a, order, i), x = order[k];
		double least = -1;

		order[k] = order[i];
		order[i] = x;
		for (uint32_t seat = 0; seat < s->seats; seat++) {
			double cost;

			if (taken[seat])
				continue;
			cost = cost_at(s, order, i, x, seat);
			if (least < 0 || cost < least) {
				least = cost;
				s->at[x] = seat;
			}
		}
		taken[s->at[x]] = true;
	}
	for (size_t x = s->a->threads; x < s->seats; x++) {
		while (taken[empty])
			empty++;
		s->at[x] = empty++;
	}
	free(order);
	free(taken);
}

static void shuffle(struct seating *s, struct rng *rng)
{
	for (size_t i = 0; i < s->seats; i++)
		s->at[i] = (uint32_t)i;
	for (size_t i = s->seats; i > 1; i--)
		exchange(s, i - 1, rng_below(rng, i));
}

static void places_of(const struct seating *s, uint32_t *place)
{
	for (size_t i = 0; i < s->a->threads; i++)
		place[i] = s->place[s->at[i]];
}

double assign_cost(const struct assignment *a, const uint32_t *place)
{
	double sum = 0;

	for (size_t x = 0; x < a->threads; x++)
		for (size_t y = 0; y < x; y++)
			sum += a->shared[x * a->threads + y] *
			       a->distance[place[x] * a->places + place[y]];
	return sum;
}

void assign_places(const struct assignment *a, uint32_t *place)
{
	size_t rounds =
		a->threads ? (a->threads + a->places - 1) / a->places : 1;
	struct seating s = { .a = a, .seats = rounds * a->places };
	uint32_t *found = xcalloc(a->threads + 1, sizeof(*found));
	int starts = a->threads > MANY  ? 1
		     : a->threads > FEW ? STARTS
					: STARTS_FEW;
	double least = -1, cost;
	struct rng rng;

	/* Full rounds first, so that no place has two more than another. */
	if (rounds > 1)
		s.seats = a->threads;
	s.at = xcalloc(s.seats, sizeof(*s.at));
	s.place = xcalloc(s.seats, sizeof(*s.place));
	for (size_t i = 0; i < s.seats; i++)
		s.place[i] = (uint32_t)(i % a->places);
	rng_seed(&rng, 1, 1);
	for (int i = 0; i < starts; i++) {
		if (i)
			shuffle(&s, &rng);
		else
			greedy(&s);
		improve(&s);
		places_of(&s, found);
		cost = assign_cost(a, found);
		if (least < 0 || cost < least - 1e-9) {
			least = cost;
			memcpy(place, found, a->threads * sizeof(*place));
		}
	}
	free(found);
	free(s.at);
	free(s.place);
}
