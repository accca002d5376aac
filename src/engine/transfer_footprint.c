/* SPDX-License-Identifier: MIT */
/*
 * transfer_footprint - which chunks of a line are in use, and which to watch
 *
 * Four registers of 8 bytes cover half of a line. They first cover the bytes of
 * the sampled store, then chunks that samples of this line touched. Until there
 * are enough of these, samples of the 16 lines around stand in, because
 * neighbouring lines are often used alike.
 *
 * The table has words of two kinds, told apart by their keys:
 *
 *   chunks in use   tag, 48 bits | samples, 8 bits | a bit for each chunk
 *   stores          tag, 16 bits | stores to each chunk, 8 times 6 bits
 */
#include "transfer_internal.h"
#include "src/base/signal_safe.h"

enum {
	NEIGHBOURS_SHIFT = 4,
	SAMPLES_ENOUGH = 16,
	STORES_ENOUGH = 8,
	USE_BITS = 16, /* below the tag */
	SAMPLES_SHIFT = 8,
	SAMPLES_MAX = 255,
	STORES_BITS = 48, /* below the tag */
	COUNT_BITS = 6,
	COUNT_MAX = 63
};

enum key_kind {
	KEY_LINE,
	KEY_AROUND, /* the neighbourhood */
	KEY_LINE_STORES,
	KEY_AROUND_STORES
};

/* Mask to halve all counts of six bits at once. */
#define COUNT_HALVES 0x7DF7DF7DF7DFull

static uint64_t make_key(enum key_kind kind, uint64_t number, uint32_t thread)
{
	uint64_t x = number * 4 + kind, y = rng_splitmix(&x) ^ thread;

	return rng_splitmix(&y);
}

static _Atomic uint64_t *place(const struct footprints *f, uint64_t key)
{
	return &f->word[key & f->mask];
}

/* The value stored for @key, without the tag; 0 if there is none. */
static uint64_t known(const struct footprints *f, uint64_t key,
		      uint32_t tag_shift)
{
	uint64_t word =
		atomic_load_explicit(place(f, key), memory_order_relaxed);

	return (word ^ key) >> tag_shift ? 0 : word & ((1ull << tag_shift) - 1);
}

static void replace(const struct footprints *f, uint64_t key,
		    uint32_t tag_shift, uint64_t value)
{
	uint64_t old =
		atomic_load_explicit(place(f, key), memory_order_relaxed);
	uint64_t new = key >> tag_shift << tag_shift | value;

	if (new != old)
		atomic_compare_exchange_strong_explicit(
			place(f, key), &old, new, memory_order_relaxed,
			memory_order_relaxed);
}

static void learn_use(const struct footprints *f, uint64_t key, uint32_t chunks)
{
	uint64_t old = known(f, key, USE_BITS);
	uint64_t samples = old >> SAMPLES_SHIFT;

	if (samples < SAMPLES_MAX)
		samples++;
	replace(f, key, USE_BITS,
		samples << SAMPLES_SHIFT | (old & 0xFF) | chunks);
}

static uint32_t stores_to(uint64_t counts, uint32_t chunk)
{
	return counts >> chunk * COUNT_BITS & COUNT_MAX;
}

static void learn_stores(const struct footprints *f, uint64_t key,
			 uint32_t chunks)
{
	uint64_t counts = known(f, key, STORES_BITS);

	for (; chunks; chunks &= chunks - 1) {
		uint32_t chunk = __builtin_ctz(chunks);

		if (stores_to(counts, chunk) == COUNT_MAX)
			counts = counts >> 1 & COUNT_HALVES;
		counts += 1ull << chunk * COUNT_BITS;
	}
	replace(f, key, STORES_BITS, counts);
}

void footprints_learn(const struct footprints *f, uint64_t line,
		      uint32_t thread, uint32_t chunks, bool is_store)
{
	uint64_t around = line >> NEIGHBOURS_SHIFT;

	learn_use(f, make_key(KEY_LINE, line, 0), chunks);
	learn_use(f, make_key(KEY_AROUND, around, 0), chunks);
	if (!is_store)
		return;
	learn_stores(f, make_key(KEY_LINE_STORES, line, thread), chunks);
	learn_stores(f, make_key(KEY_AROUND_STORES, around, thread), chunks);
}

/* A random bit of @set, which is not empty. */
static uint32_t draw(struct rng *rng, uint32_t set)
{
	for (uint32_t n = rng_below(rng, __builtin_popcount(set)); n; n--)
		set &= set - 1;
	return set & -set;
}

/* Draw @n chunks, all of an earlier set before any of a later one. */
static uint32_t choose(struct rng *rng, const uint32_t sets[], uint32_t n)
{
	uint32_t chosen = 0;

	for (const uint32_t *set = sets; *set; set++)
		for (; n && *set & ~chosen; n--)
			chosen |= draw(rng, *set & ~chosen);
	return chosen;
}

static uint32_t sum_of(uint64_t counts, uint32_t chunks)
{
	uint32_t sum = 0;

	for (; chunks; chunks &= chunks - 1)
		sum += stores_to(counts, __builtin_ctz(chunks));
	return sum;
}

/* How often @thread stores to each of the @used chunks of the line. */
static uint64_t stores_of(const struct footprints *f, uint64_t line,
			  uint32_t thread, uint32_t used)
{
	uint64_t counts =
		known(f, make_key(KEY_LINE_STORES, line, thread), STORES_BITS);

	if (sum_of(counts, used) < STORES_ENOUGH)
		counts = known(f,
			       make_key(KEY_AROUND_STORES,
					line >> NEIGHBOURS_SHIFT, thread),
			       STORES_BITS);
	return counts;
}

/* The share of @whole that is in @part; 1 if @whole is empty. */
static double share(uint32_t part, uint32_t whole)
{
	return whole ? (double)__builtin_popcount(part & whole) /
			       __builtin_popcount(whole)
		     : 1;
}

/* Chunks of @set that were stored to @times times or more. */
static uint32_t stored_to(uint64_t counts, uint32_t set, uint32_t times)
{
	uint32_t found = 0;

	for (; set; set &= set - 1)
		if (stores_to(counts, __builtin_ctz(set)) >= times)
			found |= set & -set;
	return found;
}

/*
 * The share of a thread's stores to @used that go to @watched; @counts has the
 * stores that were seen. Chunks are watched because stores to them were seen.
 * So if few stores were seen, watched chunks have too large a share of them.
 * Good and Turing estimate the share of stores that go to unseen chunks: the
 * number of chunks that were seen exactly once, divided by the stores seen. We
 * spread this share evenly over the unseen chunks. We divide by one store more:
 * otherwise, after a single store, the estimate would be that all others go
 * elsewhere.
 */
static double watched_share(uint64_t counts, uint32_t used, uint32_t watched)
{
	uint32_t seen = stored_to(counts, used, 1), unseen = used & ~seen;
	uint32_t once = seen & ~stored_to(counts, used, 2);
	double n = sum_of(counts, used), missed = 0;

	if (!seen)
		return share(watched, used);
	if (unseen)
		missed = __builtin_popcount(once) / (n + 1);
	return (1 - missed) * sum_of(counts, used & watched) / n +
	       missed * share(watched, unseen);
}

/*
 * The factor by which other threads' first touches were missed in chunks that
 * are not @watched, if each chunk is used either by the thread (@own) or by
 * others.
 */
static double missed_others(uint32_t own, uint32_t used, uint32_t watched)
{
	return (1 - share(own, used)) / (1 - share(own, used & watched));
}

struct selection footprints_select(const struct footprints *f, struct rng *rng,
				   uint64_t line, uint32_t thread,
				   uint32_t stored, uint32_t n, uint32_t ranges)
{
	uint64_t use = known(f, make_key(KEY_LINE, line, 0), USE_BITS);
	uint32_t here = use & 0xFF, used = here | stored, own;
	struct selection s = { 0, 1, 1, false };
	uint64_t counts;

	if (use >> SAMPLES_SHIFT < SAMPLES_ENOUGH) {
		use = known(f,
			    make_key(KEY_AROUND, line >> NEIGHBOURS_SHIFT, 0),
			    USE_BITS);
		used |= use & 0xFF;
	}
	s.chunks = choose(rng,
			  (uint32_t[]){ stored, here ? here : used, used,
					(1u << n) - 1, 0 },
			  ranges);
	/* Chunks without samples are taken for unused: this is a model too. */
	s.corrected = used & ~s.chunks || use >> SAMPLES_SHIFT < SAMPLES_ENOUGH;
	if (!(used & ~s.chunks))
		return s;
	counts = stores_of(f, line, thread, used);
	s.factor = watched_share(counts, used, s.chunks);
	/*
	 * A chunk with a single store is not yet known to be the thread's own.
	 */
	own = stored_to(counts, used, 1) | stored;
	if (stored_to(counts, used, 2) == own &&
	    (own & s.chunks) != (used & s.chunks))
		s.factor_false = missed_others(own, used, s.chunks);
	return s;
}
