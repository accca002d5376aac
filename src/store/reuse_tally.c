/* SPDX-License-Identifier: MIT */
/*
 * reuse_tally - the uses that a thread decided, counted in the file
 *
 * A new record is filled in and then committed; later ones add to its words,
 * one at a time, so a reader sees sums that are at most one use apart.
 */
#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "src/engine/reuse_histogram.h"
#include "reuse_tally.h"
#include "src/base/signal_safe.h"

/* A record begins with the fields in which its uses agree. */
enum {
	KEY_WORDS = offsetof(struct cdp_reuse, weight) / sizeof(uint64_t),
	PHASES_BITS = 6, /* a phase is 1/128 to 1/64 of a long stream */
};
_Static_assert(offsetof(struct cdp_reuse, weight) ==
		       6 * sizeof(uint8_t) + sizeof(uint16_t) +
			       2 * sizeof(uint32_t) + 2 * sizeof(uint64_t),
	       "the key has no padding");

static void add(double *sum, double x)
{
	uint64_t word;

	x += *sum;
	memcpy(&word, &x, sizeof(word));
	store_set((uint64_t *)(void *)sum, word);
}

static bool is_full(const struct reuse_tally *t, uint8_t kind)
{
	return (kind == CDP_REUSE_PAIR && t->pairs >= REUSE_TALLY_PAIRS_MAX) ||
	       (kind == CDP_REUSE_PATHS && t->paths >= REUSE_TALLY_PATHS_MAX);
}

int reuse_tally_put(struct store *s, struct reuse_tally *t,
		    const struct cdp_reuse *r)
{
	struct cdp_reuse *to;
	uint32_t hash;

	to = store_index_find(s, &t->index, r, KEY_WORDS, &hash);
	if (to) {
		add(&to->weight, r->weight);
		add(&to->squares, r->squares);
		add(&to->offset, r->offset);
		add(&to->offset_squares, r->offset_squares);
		store_add(&to->count, r->count);
		return 0;
	}
	if (!store_index_room(&t->index) ||
	    (r->use_ip && is_full(t, r->kind)) ||
	    store_index_add(s, &t->index, &t->writer, r, hash))
		return -ENOSPC;
	t->pairs += r->kind == CDP_REUSE_PAIR;
	t->paths += r->kind == CDP_REUSE_PATHS;
	return 0;
}

/* Set the masses of one use whose time is @x above the low end of its bin. */
static void weigh(struct cdp_reuse *r, double w, double x)
{
	r->weight = w;
	r->squares = w * w;
	r->offset = w * x;
	r->offset_squares = w * x * x;
}

static uint32_t log2_of(uint64_t x)
{
	return x ? 63 - __builtin_clzll(x) : 0;
}

static uint64_t phase_of(struct reuse_tally *t, uint64_t at)
{
	uint32_t bits = log2_of(t->period * REUSE_TALLY_PHASE_USES - 1) + 1;

	if (bits + PHASES_BITS < log2_of(at))
		bits = log2_of(at) - PHASES_BITS;
	if (bits < t->bits)
		bits = t->bits;
	if (t->bins >= REUSE_TALLY_PHASE_RECORDS) {
		t->bins = 0;
		t->bits = ++bits;
	}
	return reuse_phase(bits, at);
}

/* Count in the pair's own record, or in the one with 0 for both ends. */
static int put_pair(struct store *s, struct reuse_tally *t, struct cdp_reuse *r)
{
	if (!reuse_tally_put(s, t, r))
		return 0;
	r->use_ip = r->end_ip = 0;
	return reuse_tally_put(s, t, r);
}

int reuse_tally_add(struct store *s, struct reuse_tally *t,
		    enum reuse_scope scope, enum reuse_granularity granularity,
		    const struct reuse_event *v, uint64_t map_generation)
{
	uint64_t time = v->time == REUSE_TIME_UNKNOWN ? 0 : v->time;
	double w = (double)v->weight;
	struct cdp_reuse r = {
		.kind = CDP_REUSE_BIN,
		.scope = scope,
		.granularity = granularity,
		.outcome = v->outcome,
		.pairing = v->pairing,
		.spatial = !v->temporal,
		.domain = v->use_place.domain,
		.thread = v->use_place.thread,
		.bin = reuse_bin_of(v->time),
		.count = 1,
		.map_generation = map_generation,
	};
	uint32_t before = t->index.used;
	int err;

	if (t->period && granularity == REUSE_LINE && scope != REUSE_SHARED)
		r.use_ip = phase_of(t, v->at);
	weigh(&r, w, time ? (double)(time - reuse_bin_low(r.bin)) : 0);
	err = reuse_tally_put(s, t, &r);
	t->bins += t->index.used - before;
	r.kind = CDP_REUSE_PAIR;
	r.bin = time ? 63 - __builtin_clzll(time) : 0;
	r.use_ip = v->use.ip;
	r.end_ip = v->end.ip;
	weigh(&r, w, (double)time);
	if (put_pair(s, t, &r))
		err = -ENOSPC;
	if (!v->use_path || !v->end_path)
		return err;
	r.kind = CDP_REUSE_PATHS;
	r.bin = 0;
	r.use_ip = v->use_path;
	r.end_ip = v->end_path;
	r.map_generation = 0;
	return put_pair(s, t, &r) ? -ENOSPC : err;
}

void reuse_tally_release(struct reuse_tally *t)
{
	store_index_release(&t->index);
	t->pairs = 0;
}
