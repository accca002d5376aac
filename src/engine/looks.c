/* SPDX-License-Identifier: MIT */
/*
 * looks - lines that threads share too seldom for samples to meet
 */
#include <string.h>

#include "looks.h"
#include "src/base/signal_safe.h"

/*
 * The word `line`: bit 0: the store has been met; bits [2:1]: meetings on the
 * line, MEETINGS_MAX and more alike; [22:3]: thread; [63:23]: number of the
 * line. The word `store`: [2:0]: binary logarithm of its length; [8:3]: its
 * offset in the line; [15:9]: a check that it belongs to the other word;
 * [63:16]: instruction.
 */
enum {
	MET = 1,
	MEETINGS_AT = 1,
	MEETINGS_MAX = 3,
	TOLD = 2, /* from this meeting on */
	THREAD_AT = 3,
	LINE_AT = 23,
	LINE_BITS = 64 - LINE_AT,
	OFFSET_AT = 3,
	CHECK_AT = 9,
	CHECK_MASK = 127,
	IP_AT = 16,
	SLOTS = 256,
	SEEN = 192, /* lines of a window; its others are left out */
};

_Static_assert(LOOKS_THREADS_MAX == 1 << (LINE_AT - THREAD_AT), "they fit");

/* A line of this window that was looked up: by a store, too? */
struct seen {
	uint64_t number;
	bool stored;
};

struct window {
	uint8_t slot[SLOTS]; /* by hash: 1 + index, 0: free */
	uint32_t lines;
	struct seen seen[SEEN];
};

static uint32_t thread_of(uint64_t word)
{
	return word >> THREAD_AT & (LOOKS_THREADS_MAX - 1);
}

static uint32_t meetings_of(uint64_t word)
{
	return word >> MEETINGS_AT & MEETINGS_MAX;
}

static uint64_t with_meetings(uint64_t word, uint32_t n)
{
	const uint64_t all = (uint64_t)MEETINGS_MAX << MEETINGS_AT;

	return (word & ~all) | (uint64_t)n << MEETINGS_AT;
}

static uint64_t mixed(uint64_t number)
{
	return number * 0x9E3779B97F4A7C15ull;
}

static struct looks_entry *entry_of(struct looks *l, uint64_t number)
{
	return &l->entry[(mixed(number) >> 40) % LOOKS_ENTRIES];
}

static uint64_t check_of(uint64_t number, uint32_t thread)
{
	return (mixed(number ^ (uint64_t)thread << 20) >> 50) & CHECK_MASK;
}

static uint64_t store_word(uint64_t number, uint32_t thread,
			   const struct access *a)
{
	uint64_t start = number * LOOKS_LINE_BYTES;
	uint64_t from = a->addr > start ? a->addr - start : 0;
	uint64_t end = access_last(a) - start + 1;
	uint32_t bytes =
		(end < LOOKS_LINE_BYTES ? end : LOOKS_LINE_BYTES) - from;

	return (a->ip << IP_AT) | check_of(number, thread) << CHECK_AT |
	       from << OFFSET_AT | (31 - __builtin_clz(bytes));
}

static bool store_of(uint64_t word, uint64_t number, uint32_t thread,
		     struct access *a)
{
	*a = (struct access){
		.addr = number * LOOKS_LINE_BYTES +
			(word >> OFFSET_AT & (LOOKS_LINE_BYTES - 1)),
		.ip = word >> IP_AT,
		.len = 1u << (word & 7),
		.flags = ACCESS_STORE,
	};
	return (word >> CHECK_AT & CHECK_MASK) == check_of(number, thread);
}

/* (A) The store word first: who finds the new line word finds it, too. */
static void put(struct looks_entry *e, uint64_t expected, uint64_t word,
		uint64_t store)
{
	if (store)
		atomic_store_explicit(&e->store, store, memory_order_relaxed);
	atomic_compare_exchange_strong_explicit(&e->line, &expected, word,
						memory_order_release,
						memory_order_relaxed);
}

/*
 * Thread @thread accesses the line that @e is about, @word of it. Returns its
 * word after the meeting, and true in @meets if there is one.
 */
static uint64_t meet(struct looks_entry *e, uint64_t word, uint32_t thread,
		     const struct looks_sink *sink, bool *meets)
{
	uint32_t n = meetings_of(word);
	uint64_t after =
		with_meetings(word | MET, n < MEETINGS_MAX ? n + 1 : n);
	uint64_t expected = word;

	*meets = thread_of(word) != thread && !(word & MET) &&
		 sink->lives(thread_of(word)) &&
		 atomic_compare_exchange_strong_explicit(
			 &e->line, &expected, after, memory_order_relaxed,
			 memory_order_relaxed);
	return *meets ? after : word;
}

/* The line of @number in @w; a new one has number 0. NULL: no room. */
static struct seen *seen_of(struct window *w, uint64_t number)
{
	uint32_t i = mixed(number) >> 56;

	for (; w->slot[i % SLOTS]; i++)
		if (w->seen[w->slot[i % SLOTS] - 1].number == number)
			return &w->seen[w->slot[i % SLOTS] - 1];
	if (w->lines == SEEN)
		return NULL;
	w->slot[i % SLOTS] = ++w->lines;
	w->seen[w->lines - 1].number = 0;
	return &w->seen[w->lines - 1];
}

static void look(struct looks *l, struct window *w, uint32_t thread,
		 uint64_t number, const struct access *a,
		 const struct looks_sink *sink, void *ctx)
{
	bool stores = access_stores(a), meets;
	struct seen *seen = seen_of(w, number);
	struct looks_entry *e = entry_of(l, number);
	struct sighting s = { .line = number * LOOKS_LINE_BYTES,
			      .detector = *a };
	uint64_t word, mine;

	if (!seen || (seen->number && (!stores || seen->stored)))
		return;
	*seen = (struct seen){ number, stores };
	word = atomic_load_explicit(&e->line, memory_order_acquire); /* (B) */
	mine = number << LINE_AT | (uint64_t)thread << THREAD_AT;
	if (word >> LINE_AT == number) {
		uint64_t store =
			atomic_load_explicit(&e->store, memory_order_relaxed);

		s.publisher_thread = thread_of(word);
		word = meet(e, word, thread, sink, &meets);
		if (meets && meetings_of(word) >= TOLD &&
		    store_of(store, number, s.publisher_thread, &s.publisher))
			sink->sighted(ctx, &s);
		mine = with_meetings(mine, meetings_of(word));
	}
	if (stores && word != mine)
		put(e, word, mine, store_word(number, thread, a));
}

void looks_through(struct looks *l, uint32_t thread, const struct access *a,
		   uint32_t n, const struct looks_sink *sink, void *ctx)
{
	struct window w;

	if (thread >= LOOKS_THREADS_MAX)
		return;
	for (uint32_t i = 0; i < n; i++)
		if (!(a[i].flags & ACCESS_IMPLICIT))
			__builtin_prefetch(
				entry_of(l, a[i].addr / LOOKS_LINE_BYTES));
	memset(w.slot, 0, sizeof(w.slot));
	w.lines = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t from = a[i].addr / LOOKS_LINE_BYTES;
		uint64_t to = access_last(&a[i]) / LOOKS_LINE_BYTES;

		if (a[i].flags & ACCESS_IMPLICIT || !from || to >> LINE_BITS)
			continue;
		look(l, &w, thread, from, &a[i], sink, ctx);
		if (to != from)
			look(l, &w, thread, to, &a[i], sink, ctx);
	}
}
