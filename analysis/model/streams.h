/* SPDX-License-Identifier: MIT */
/*
 * streams - instructions whose misses come at a constant distance
 *
 * An instruction that misses the lines x, x + s, x + 2s ... runs along a
 * stream. Once the distance s has come twice the prefetcher runs ahead of it,
 * by one line more with each miss, up to core.prefetch_ahead lines: a short run
 * leaves few lines behind that nobody uses. A use of a line that the prefetcher
 * has brought counts as a miss here, so a stream goes on when it helps.
 *
 * The place of a line is its number in its run: 1 for the one that confirmed
 * the distance. At place r the prefetcher has asked for all lines up to place
 * r + min(r, ahead). So the line of place p was asked for min(p / 2, ahead)
 * lines before it was used.
 */
#ifndef COMDET_ANALYSIS_MODEL_STREAMS_H
#define COMDET_ANALYSIS_MODEL_STREAMS_H

#include "machine.h"

enum {
	STREAMS = 64,
	STREAM_STRIDE_MAX = 32, /* lines: 2 KiB */
	STREAM_PLACE_MAX = 2 * MACHINE_AHEAD_MAX + 1,
	/*
	 * Lines that L1D is ahead: as many as hide an L2 of 32 cycles from
	 * loads that wait for each other, 4 cycles each.
	 */
	STREAM_AHEAD_L1 = 8,
};

struct stream {
	uint64_t ip; /* 0: none */
	uint64_t line;
	int64_t stride;
	uint32_t place; /* of @line; 0: the distance is not confirmed */
	uint32_t uop;   /* for the user */
};

struct streams {
	struct stream stream[STREAMS];
};

static inline struct stream *streams_of(struct streams *s, uint64_t ip)
{
	return &s->stream[(ip ^ ip >> 6 ^ ip >> 12) % STREAMS];
}

/* The instruction at @ip, not 0, misses @line; returns its stream. */
static inline struct stream *streams_add(struct streams *s, uint64_t ip,
					 uint64_t line)
{
	struct stream *x = streams_of(s, ip);
	int64_t stride = (int64_t)(line - x->line);

	if (x->ip != ip) {
		*x = (struct stream){ .ip = ip, .line = line };
		return x;
	}
	if (!stride)
		return x;
	if (stride == x->stride && stride <= STREAM_STRIDE_MAX &&
	    stride >= -STREAM_STRIDE_MAX)
		x->place += x->place < STREAM_PLACE_MAX;
	else
		x->place = 0;
	x->stride = stride;
	x->line = line;
	return x;
}

/* How many lines before its use the line of @place was asked for; 0: never. */
static inline uint32_t stream_back(uint32_t place, uint32_t ahead)
{
	return place / 2 < ahead ? place / 2 : ahead;
}

/*
 * At @place the prefetcher asks for the lines that are @first to the result
 * lines ahead; for none if the result is less than @first.
 */
static inline uint32_t stream_asks(uint32_t place, uint32_t ahead,
				   uint32_t *first)
{
	uint32_t last = place < ahead ? place : ahead;

	*first = place > ahead || !place ? last : place - 1;
	if (!*first)
		*first = 1;
	return last;
}

#endif
