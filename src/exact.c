/* SPDX-License-Identifier: MIT */
/*
 * exact - every transfer of cache lines in a stream of accesses
 *
 * The directory is a hash table of regions of 64 lines. A region's records
 * are at the place that its key has in the table, so there is nothing to
 * allocate: memory becomes resident where it is touched.
 *
 * A record is changed under its lock. Its sets of threads and of caches are
 * atomics, because a load that changes nothing is recognised without the lock:
 *
 *   load that finds itself known        store by another thread, locked
 *     pending, acquire       (B)          touched, relaxed
 *     holders, acquire       (B)          pending, holders, release  (A)
 *     touched, relaxed
 *
 * The bits of a thread in touched and pending are set by that thread alone and
 * cleared by others' stores. If it finds itself in touched, no other thread
 * has stored since its last access: had one, and were its release (A) what
 * the acquire (B) read, touched would be read as cleared. So pending and
 * holders, read earlier, are as its last access left them, and the load took
 * place at its reading of touched. (B) pairs with (A).
 */
#include <stdbool.h>

#include "exact_parts.h"
#include "rawcall.h"

enum {
	PROBES_MAX = 1024,
	SPINS_BEFORE_YIELD = 100
};

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

static void set(_Atomic uint64_t *word, uint64_t value)
{
	atomic_store_explicit(word, value, memory_order_relaxed);
}

/* Of a counter that nobody else writes now. */
static void add(_Atomic uint64_t *word, uint64_t n)
{
	set(word, get(word) + n);
}

static bool has(const _Atomic uint64_t *bits, uint32_t i)
{
	return get(&bits[i / 64]) >> i % 64 & 1;
}

static void insert(_Atomic uint64_t *bits, uint32_t i)
{
	set(&bits[i / 64], get(&bits[i / 64]) | 1ull << i % 64);
}

static void erase(_Atomic uint64_t *bits, uint32_t i)
{
	set(&bits[i / 64], get(&bits[i / 64]) & ~(1ull << i % 64));
}

/* Make @bits the set of @i alone, or empty if @i is beyond it. */
static void assign(_Atomic uint64_t *bits, uint32_t n, uint32_t i,
		   memory_order order)
{
	for (uint32_t w = 0; w < n; w++)
		atomic_store_explicit(&bits[w],
				      w == i / 64 ? 1ull << i % 64 : 0, order);
}

static _Atomic uint64_t *touched(const struct exact *x, struct exact_record *r)
{
	return r->bits;
}

/* Threads whose last transfer has been false so far. */
static _Atomic uint64_t *pending(const struct exact *x, struct exact_record *r)
{
	return r->bits + x->thread_words;
}

/* Caches of level 0 that have the line. */
static _Atomic uint64_t *holders(const struct exact *x, struct exact_record *r)
{
	return r->bits + 2 * x->thread_words;
}

/* The records of a region, NULL if the table is full. */
static unsigned char *look_up(struct exact *x, uint64_t region)
{
	uint32_t mask = x->regions - 1;
	uint32_t i = (region * 0x9E3779B97F4A7C15ull >> 32) & mask;

	for (uint32_t n = 0; n < PROBES_MAX && n <= mask; n++) {
		uint64_t key = get(&x->key[i]);

		/* The records are zero since before there were threads. */
		if (key == 0 &&
		    atomic_compare_exchange_strong_explicit(
			    &x->key[i], &key, region + 1, memory_order_relaxed,
			    memory_order_relaxed))
			key = region + 1;
		if (key == region + 1)
			return x->records +
			       (size_t)i * EXACT_REGION_LINES * x->record_bytes;
		i = (i + 1) & mask;
	}
	return NULL;
}

static struct exact_record *find(struct exact *x, struct exact_thread *t,
				 uint64_t addr)
{
	uint64_t region = addr >> x->region_shift;
	uint32_t i = region % EXACT_SEEN;

	if (t->seen[i].region != region + 1) {
		unsigned char *records = look_up(x, region);

		if (!records)
			return NULL;
		t->seen[i].region = region + 1;
		t->seen[i].records = records;
	}
	return (void *)(t->seen[i].records + (addr >> x->line_shift) %
						     EXACT_REGION_LINES *
						     (size_t)x->record_bytes);
}

static void lock(struct exact_record *r)
{
	for (uint32_t n = 1;
	     atomic_exchange_explicit(&r->lock, 1, memory_order_acquire); n++) {
		if (n % SPINS_BEFORE_YIELD == 0)
			rawcall1(SYS_sched_yield, 0);
		else
			__builtin_ia32_pause();
	}
}

static void unlock(struct exact_record *r)
{
	atomic_store_explicit(&r->lock, 0, memory_order_release);
}

static uint32_t distance(const struct exact *x, uint32_t a, uint32_t b)
{
	uint32_t core_a = x->core_of[a], core_b = x->core_of[b], level;

	for (level = 0; level < x->levels; level++)
		if (x->domain[level][core_a] == x->domain[level][core_b])
			break;
	return level;
}

struct others {
	uint32_t n, nearest, farthest;
};

/* The caches but @cache that have the line. */
static struct others find_others(const struct exact *x, struct exact_record *r,
				 uint32_t cache)
{
	struct others o = { 0, EXACT_LEVELS_MAX, 0 };

	for (uint32_t w = 0; w < x->cache_words; w++) {
		uint64_t word = get(&holders(x, r)[w]);

		for (; word; word &= word - 1) {
			uint32_t other = w * 64 + __builtin_ctzll(word), d;

			if (other == cache)
				continue;
			d = distance(x, cache, other);
			o.n++;
			o.nearest = d < o.nearest ? d : o.nearest;
			o.farthest = d > o.farthest ? d : o.farthest;
		}
	}
	return o;
}

static void mesi_load(const struct exact *x, struct exact_thread *t,
		      struct exact_record *r, uint32_t cache)
{
	struct others o;

	if (has(holders(x, r), cache))
		return;
	o = find_others(x, r, cache);
	if (!o.n)
		t->counts.cold_loads++;
	else
		t->counts.miss[r->modified ? EXACT_LOAD_MODIFIED
					   : EXACT_LOAD_CLEAN][o.nearest]++;
	insert(holders(x, r), cache);
	r->modified = 0;
}

static void mesi_store(const struct exact *x, struct exact_thread *t,
		       struct exact_record *r, uint32_t cache)
{
	struct others o;

	if (r->modified == cache + 1)
		return;
	o = find_others(x, r, cache);
	if (has(holders(x, r), cache)) {
		if (o.n)
			t->counts.miss[EXACT_UPGRADE][o.farthest]++;
	} else if (o.n) {
		t->counts.miss[r->modified ? EXACT_OWN_MODIFIED
					   : EXACT_OWN_CLEAN][o.nearest]++;
	} else {
		t->counts.cold_stores++;
	}
	if (o.n) {
		t->counts.invalidated += o.n;
		add(&r->ownership, 1);
	}
	r->modified = cache + 1;
}

/* What the access is as a touch, before it is a store. */
static void touch(struct exact *x, struct exact_thread *t,
		  struct exact_record *r, uint64_t bytes)
{
	bool overlaps = r->stored & bytes;
	struct exact_tally *cell;

	if (!r->writer || r->writer == t->id + 1)
		return;
	cell = &x->cell[(size_t)t->id * x->threads + r->writer - 1];
	if (!has(touched(x, r), t->id)) {
		add(&cell->transfers, 1);
		add(&r->transfers, 1);
		if (!overlaps) {
			add(&cell->false_sharing, 1);
			add(&r->false_sharing, 1);
			insert(pending(x, r), t->id);
		}
	} else if (overlaps && has(pending(x, r), t->id)) {
		add(&cell->false_sharing, -1);
		add(&r->false_sharing, -1);
		erase(pending(x, r), t->id);
	}
}

/* (A) pairs with (B) in load_changes_nothing. */
static void begin_epoch(const struct exact *x, struct exact_thread *t,
			struct exact_record *r, uint64_t bytes, uint32_t cache)
{
	assign(touched(x, r), x->thread_words, t->id, memory_order_relaxed);
	assign(pending(x, r), x->thread_words, UINT32_MAX,
	       memory_order_release);
	assign(holders(x, r), x->cache_words, cache, memory_order_release);
	r->writer = t->id + 1;
	r->stored = bytes;
	add(&r->stores, 1);
}

static bool load_changes_nothing(const struct exact *x, struct exact_thread *t,
				 struct exact_record *r, uint32_t cache)
{
	/* (B) pairs with (A) in begin_epoch. */
	uint64_t p = atomic_load_explicit(&pending(x, r)[t->id / 64],
					  memory_order_acquire);
	uint64_t h = atomic_load_explicit(&holders(x, r)[cache / 64],
					  memory_order_acquire);

	return !(p >> t->id % 64 & 1) && h >> cache % 64 & 1 &&
	       has(touched(x, r), t->id);
}

static void access_line(struct exact *x, struct exact_thread *t, uint64_t addr,
			uint32_t len, bool is_store, uint32_t cache)
{
	uint64_t bytes = (len == 64 ? ~0ull : (1ull << len) - 1)
			 << (addr & (x->line_bytes - 1));
	struct exact_record *r = find(x, t, addr);

	if (!r) {
		t->counts.full++;
		return;
	}
	if (is_store) {
		t->counts.stores++;
		lock(r);
		touch(x, t, r, bytes);
		mesi_store(x, t, r, cache);
		begin_epoch(x, t, r, bytes, cache);
		unlock(r);
		return;
	}
	t->counts.loads++;
	if (load_changes_nothing(x, t, r, cache))
		return;
	lock(r);
	touch(x, t, r, bytes);
	insert(touched(x, r), t->id);
	mesi_load(x, t, r, cache);
	unlock(r);
}

void exact_access(struct exact *x, struct exact_thread *t,
		  const struct access *a, uint32_t core)
{
	bool is_store = a->flags & (ACCESS_STORE | ACCESS_LOCKED);
	uint64_t addr = a->addr, left = a->len ? a->len : 1;
	uint32_t cache;

	if (t->inside) {
		t->counts.dropped++;
		return;
	}
	t->inside = 1;
	atomic_signal_fence(memory_order_seq_cst);
	cache = x->domain[0][core < x->cores ? core : core % x->cores];
	if (left > -addr && addr)
		left = -addr;
	while (left) {
		uint64_t room = x->line_bytes - (addr & (x->line_bytes - 1));
		uint64_t len = left < room ? left : room;

		access_line(x, t, addr, len, is_store, cache);
		addr += len;
		left -= len;
	}
	atomic_signal_fence(memory_order_seq_cst);
	t->inside = 0;
}

struct exact_cell exact_cell(const struct exact *x, uint32_t from, uint32_t to)
{
	struct exact_cell c = { 0, 0 };

	if (from < x->threads && to < x->threads) {
		const struct exact_tally *cell =
			&x->cell[(size_t)to * x->threads + from];

		c.transfers = get(&cell->transfers);
		c.false_sharing = get(&cell->false_sharing);
	}
	return c;
}

struct exact_cell exact_total(const struct exact *x)
{
	struct exact_cell total = { 0, 0 };

	for (uint32_t to = 0; to < x->threads; to++) {
		for (uint32_t from = 0; from < x->threads; from++) {
			struct exact_cell c = exact_cell(x, from, to);

			total.transfers += c.transfers;
			total.false_sharing += c.false_sharing;
		}
	}
	return total;
}

/* Any thread has touched it, or the last writer's mark is there. */
static bool was_touched(const struct exact *x, struct exact_record *r)
{
	for (uint32_t w = 0; w < x->thread_words; w++)
		if (get(&touched(x, r)[w]))
			return true;
	return false;
}

static int region_lines(const struct exact *x, uint32_t i, uint64_t region,
			int (*fn)(void *ctx, const struct exact_line *line),
			void *ctx)
{
	unsigned char *records =
		x->records + (size_t)i * EXACT_REGION_LINES * x->record_bytes;

	for (uint32_t n = 0; n < EXACT_REGION_LINES; n++) {
		struct exact_record *r =
			(void *)(records + (size_t)n * x->record_bytes);
		struct exact_line line = {
			.line = (region << x->region_shift) +
				(uint64_t)n * x->line_bytes,
			.transfers = get(&r->transfers),
			.false_sharing = get(&r->false_sharing),
			.stores = get(&r->stores),
			.ownership = get(&r->ownership),
		};
		int ret;

		if (!was_touched(x, r))
			continue;
		ret = fn(ctx, &line);
		if (ret)
			return ret;
	}
	return 0;
}

int exact_lines(const struct exact *x,
		int (*fn)(void *ctx, const struct exact_line *line), void *ctx)
{
	for (uint32_t i = 0; i < x->regions; i++) {
		uint64_t key = get(&x->key[i]);
		int ret;

		if (!key)
			continue;
		ret = region_lines(x, i, key - 1, fn, ctx);
		if (ret)
			return ret;
	}
	return 0;
}
