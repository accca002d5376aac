/* SPDX-License-Identifier: MIT */
/*
 * sampling - which instructions of a trace are simulated in detail, and what
 * they say of all
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sampling.h"
#include "analysis/base/student.h"
#include "analysis/base/util.h"

enum {
	SHARE = 10, /* of the instructions, one in so many is in detail */
	HEAD = 50,  /* and so many at the beginning */
	CLOSE = 2,  /* if the user wants more units: so many */
};

/*
 * What the forecasts of strata and of their units differ by counts so much in
 * the slope as what units differ by. It matters only if a stratum has code that
 * is forecast to take far longer than any unit.
 */
#define GUESS 0.05

/* Choose the place of the unit in the next stratum. */
static void next_stratum(struct sampling *s)
{
	uint64_t now = s->turn;

	s->start = s->head + s->units * s->distance +
		   rng_below(&s->rng, s->distance - s->unit + 1);
	s->turn = s->start > now + s->warm ? s->start - s->warm : now;
	s->phase = SAMPLING_PASS;
}

static int too_few(uint64_t instructions, uint64_t units, uint64_t needed,
		   char error[SAMPLING_ERROR_BYTES])
{
	snprintf(error, SAMPLING_ERROR_BYTES,
		 "%" PRIu64 " instructions are too few for %" PRIu64
		 " units, which need %" PRIu64 "; simulate without --sampled",
		 instructions, units, needed);
	return -EINVAL;
}

int sampling_init(struct sampling *s, uint64_t instructions, uint32_t cores,
		  const struct sampling_wish *wish,
		  char error[SAMPLING_ERROR_BYTES])
{
	uint64_t units = wish->units, detail;

	memset(s, 0, sizeof(*s));
	s->doubt = cores > 1 ? SAMPLING_TOGETHER : SAMPLING_ALONE;
	s->unit = (uint64_t)SAMPLING_UNIT * cores;
	s->warm = (uint64_t)SAMPLING_WARM * cores;
	detail = s->unit + s->warm;
	if (!units)
		units = instructions / (detail * SHARE);
	if (!wish->units && units < SAMPLING_LEAST)
		return too_few(instructions, SAMPLING_LEAST,
			       SAMPLING_LEAST * detail * SHARE, error);
	if (!wish->units && units > SAMPLING_UNITS)
		units = SAMPLING_UNITS;
	s->head = instructions / HEAD;
	if (s->head > SAMPLING_HEAD_MAX)
		s->head = SAMPLING_HEAD_MAX;
	s->turn = s->head;
	s->distance = (instructions - s->head) / units;
	if (s->distance < detail * CLOSE)
		return too_few(instructions, units, units * detail * CLOSE,
			       error);
	rng_seed(&s->rng, wish->seed, 0);
	return 0;
}

void sampling_release(struct sampling *s)
{
	free(s->unit_of);
	free(s->all);
	s->unit_of = NULL;
	s->all = NULL;
}

void sampling_turn(struct sampling *s, double time)
{
	switch (s->phase) {
	case SAMPLING_HEAD:
		s->head_cycles = time;
		next_stratum(s);
		break;
	case SAMPLING_PASS:
		s->phase = SAMPLING_READY;
		s->turn = s->start;
		break;
	case SAMPLING_READY:
		s->phase = SAMPLING_MEASURE;
		s->turn = s->start + s->unit;
		s->begun = time;
		s->ahead = 0;
		break;
	default:
		s->unit_of = grow(s->unit_of, s->units, &s->room,
				  sizeof(*s->unit_of));
		s->unit_of[s->units++] = (struct sampling_unit){
			(time - s->begun) / (double)s->unit,
			s->ahead / (double)s->unit,
		};
		next_stratum(s);
	}
}

void sampling_foresee(struct sampling *s, uint64_t at, double cycles)
{
	if (at <= s->head)
		return;
	while (!s->strata || at > s->head + s->strata * s->distance) {
		s->all = grow(s->all, s->strata, &s->strata_room,
			      sizeof(*s->all));
		s->all[s->strata++] = 0;
	}
	s->all[s->strata - 1] += cycles;
	s->end = at;
	if (s->phase == SAMPLING_MEASURE)
		s->ahead += cycles;
}

/* The forecast of an instruction of stratum @i, in the mean. */
static double forecast_of(const struct sampling *s, size_t i)
{
	uint64_t first = s->head + i * s->distance;
	double cycles = 0;

	if (i + 1 < s->units && i < s->strata)
		return s->all[i] / (double)s->distance;
	for (; i < s->strata; i++)
		cycles += s->all[i];
	return s->end > first ? cycles / (double)(s->end - first) : 0;
}

/* How many of the instructions from @from to @to stratum @i stands for. */
static double part_of(const struct sampling *s, size_t i, uint64_t from,
		      uint64_t to)
{
	uint64_t first = s->head + i * s->distance, end = first + s->distance;

	if (i + 1 == s->units) /* and for what comes behind it */
		end = to;
	first = from > first ? from : first;
	end = to < end ? to : end;
	return end > first ? (double)(end - first) : 0;
}

/* The time against the forecast. */
struct slope {
	double is;
	double guessed; /* the part of it that the units do not tell */
};

static struct slope slope(const struct sampling *s)
{
	double squares = 0, products = 0, cycles = 0, forecast = 0, guess = 0;

	for (size_t i = 0; i < s->units; i++) {
		const struct sampling_unit *now = &s->unit_of[i];
		const struct sampling_unit *before = &s->unit_of[i ? i - 1 : 0];
		double more = now->forecast - before->forecast;

		guess += GUESS * pow(forecast_of(s, i) - now->forecast, 2);
		forecast += now->forecast;
		cycles += now->cycles;
		squares += more * more;
		products += more * (now->cycles - before->cycles);
	}
	if (squares + guess <= 0)
		return (struct slope){ 0 };
	if (forecast > 0)
		products += guess * cycles / forecast;
	return (struct slope){ products / (squares + guess),
			       guess / (squares + guess) };
}

struct sampling_estimate sampling_time(const struct sampling *s, uint64_t from,
				       uint64_t to)
{
	struct sampling_estimate e = { .error = INFINITY };
	double squares = 0, weights = 0, variance, t, before = 0, moved = 0;
	struct slope b = slope(s);

	for (size_t i = 0; i < s->units; i++) {
		double part = part_of(s, i, from, to), rest;

		if (part <= 0)
			continue;
		rest = s->unit_of[i].cycles - b.is * s->unit_of[i].forecast;
		e.cycles += part * (rest + b.is * forecast_of(s, i));
		moved += part * b.is *
			 (forecast_of(s, i) - s->unit_of[i].forecast);
		weights += part * part;
		if (e.units)
			squares += pow(rest - before, 2);
		before = rest;
		e.units++;
	}
	e.cycles = fmax(e.cycles, 0);
	if (e.units < SAMPLING_FEW)
		return e;
	variance = weights * squares / 2 / (double)(e.units - 1) *
		   (1 - (double)s->unit / (double)s->distance);
	t = student_quantile(0.025, (unsigned int)(2 * e.units / 3));
	e.error = t * sqrt(variance) + s->doubt * e.cycles +
		  b.guessed * fabs(moved);
	return e;
}
