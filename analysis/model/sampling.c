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
	free(s->cycles);
	s->cycles = NULL;
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
		break;
	default:
		s->cycles =
			grow(s->cycles, s->units, &s->room, sizeof(*s->cycles));
		s->cycles[s->units++] = (time - s->begun) / (double)s->unit;
		next_stratum(s);
	}
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

struct sampling_estimate sampling_time(const struct sampling *s, uint64_t from,
				       uint64_t to)
{
	struct sampling_estimate e = { .error = INFINITY };
	double squares = 0, weights = 0, variance, t;
	const double *before = NULL;

	for (size_t i = 0; i < s->units; i++) {
		double part = part_of(s, i, from, to);

		if (part <= 0)
			continue;
		e.cycles += part * s->cycles[i];
		weights += part * part;
		if (before)
			squares += pow(s->cycles[i] - *before, 2);
		before = &s->cycles[i];
		e.units++;
	}
	if (e.units < SAMPLING_FEW)
		return e;
	variance = weights * squares / 2 / (double)(e.units - 1) *
		   (1 - (double)s->unit / (double)s->distance);
	t = student_quantile(0.025, (unsigned int)(2 * e.units / 3));
	e.error = t * sqrt(variance) + s->doubt * e.cycles;
	return e;
}
