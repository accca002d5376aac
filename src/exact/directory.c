/* SPDX-License-Identifier: MIT */
/*
 * directory - every transfer of cache lines in a stream of accesses
 *
 * The directory is a hash table of regions of lines (region_table.h). A
 * region's states and records are in arrays, at the region's place in the
 * table, so nothing is allocated: memory becomes resident where it is touched.
 *
 * An access that directory_quick.h cannot handle takes the line's lock, which
 * is its state, and changes the record. First it writes into the record what
 * only the state said ("settle").
 *
 *   accesses of this file		accesses of directory_quick.h, settle
 *     state to LOCKED, acquire	(B)
 *     the record, relaxed
 *     new state, release	(A)	state, relaxed read-modify-write
 *
 * (B) pairs with (A), even if directory_quick.h has changed the state between
 * them: a read-modify-write continues a release sequence. The first access of
 * all to a line changes the state with release (A) too, so that a thread that
 * reads the owner's number also sees its home.
 */
#include <stdbool.h>

#include "directory_quick.h"
#include "src/base/bits.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

static uint64_t get(const _Atomic uint64_t *word)
{
	return atomic_load_explicit(word, memory_order_relaxed);
}

/* Add to a counter that no other thread writes now. */
static void add(_Atomic uint64_t *word, uint64_t n)
{
	atomic_store_explicit(word, get(word) + n, memory_order_relaxed);
}

/* Make @bits the set that holds only @i, or the empty set if @i is beyond it.
 */
static void assign(uint64_t *bits, uint32_t n, uint32_t i)
{
	for (uint32_t w = 0; w < n; w++)
		bits[w] = w == i / 64 ? 1ull << i % 64 : 0;
}

static uint64_t *touched(const struct exact *x, struct exact_record *r)
{
	return r->bits;
}

/* Threads whose last transfer has been false so far. */
static uint64_t *pending(const struct exact *x, struct exact_record *r)
{
	return r->bits + x->thread_words;
}

/* The fences let exact_quick in a handler see a complete entry, or none. */
static _Atomic uint64_t *find(struct exact *x, struct exact_thread *t,
			      uint64_t addr)
{
	uint64_t region = addr >> x->region_shift;
	uint32_t i = exact_seen(region);

	if (t->seen[i].region != region) {
		uint32_t place = region_table_find(&x->table, region);

		if (place == REGION_TABLE_FULL)
			return NULL;
		t->seen[i].region = UINT64_MAX;
		atomic_signal_fence(memory_order_seq_cst);
		t->seen[i].state =
			x->state + (size_t)place * EXACT_REGION_LINES;
		atomic_signal_fence(memory_order_seq_cst);
		t->seen[i].region = region;
	}
	return t->seen[i].state + (addr >> x->line_shift) % EXACT_REGION_LINES;
}

/* Returns the state before. (B) pairs with (A). */
static uint64_t lock(_Atomic uint64_t *at)
{
	for (uint32_t n = 1;; n++) {
		uint64_t state = get(at);

		if (state != EXACT_LOCKED &&
		    atomic_compare_exchange_weak_explicit(
			    at, &state, EXACT_LOCKED, memory_order_acquire,
			    memory_order_relaxed))
			return state;
		spin_wait(n);
	}
}

/* (A) pairs with (B): accesses that come after this one see what taken did. */
static void unlock(struct exact_thread *t, _Atomic uint64_t *at, uint64_t state)
{
	if (t->taken)
		t->taken(t->taken_ctx);
	t->taken = NULL;
	atomic_store_explicit(at, state, memory_order_release);
}

/*
 * Count a transfer if the access is one, or find that a transfer counted as
 * false is a true one. A store is a touch first; begin_epoch comes after it.
 */
static void touch(struct exact *x, struct exact_thread *t,
		  struct exact_record *r, uint64_t bytes)
{
	bool overlaps = r->stored & bytes;
	struct exact_tally *cell;

	if (!r->writer || r->writer == t->id + 1)
		return;
	cell = &x->cell[(size_t)t->id * x->threads + r->writer - 1];
	if (!set_has(touched(x, r), t->id)) {
		add(&cell->transfers, 1);
		add(&r->transfers, 1);
		exact_visit_begin(x, r, t->id);
		exact_log_transfer(x, r);
		atomic_store_explicit(&r->bytes,
				      get(&r->bytes) | r->stored | bytes,
				      memory_order_relaxed);
		if (!overlaps) {
			add(&cell->false_sharing, 1);
			add(&r->false_sharing, 1);
			set_insert(pending(x, r), t->id);
		}
	} else if (overlaps && set_has(pending(x, r), t->id)) {
		add(&cell->false_sharing, -1);
		add(&r->false_sharing, -1);
		set_erase(pending(x, r), t->id);
	}
}

/*
 * Thread @id stored @all bytes of the line, @bytes of them last, and now is the
 * only one to have it.
 */
static void begin_epoch(struct exact *x, struct exact_record *r, uint32_t id,
			uint64_t bytes, uint64_t all, uint32_t cache)
{
	assign(touched(x, r), x->thread_words, id);
	assign(pending(x, r), x->thread_words, UINT32_MAX);
	assign(exact_holders(x, r), x->cache_words, cache);
	exact_visit_stored(x, r, id, all);
	r->writer = id + 1;
	r->modified = cache + 1;
	r->stored = bytes;
}

static uint32_t home_of(const struct exact *x, uint32_t id)
{
	return atomic_load_explicit(&x->home[id], memory_order_relaxed) - 1;
}

static uint32_t owner_of(uint64_t state)
{
	return (state & EXACT_OWNER_MASK) >> EXACT_OWNER_SHIFT;
}

static uint64_t bytes_of(uint64_t state)
{
	return exact_mask(state >> EXACT_START_SHIFT & 63,
			  (state >> EXACT_LENGTH_SHIFT & 63) + 1);
}

/* Write into the record what only @state, of the line at @at, says. */
static void settle(struct exact *x, struct exact_record *r,
		   const _Atomic uint64_t *at, uint64_t state)
{
	uint64_t stores = exact_stores_of(state);
	uint32_t owner = owner_of(state);

	if ((state & EXACT_KIND_MASK) != EXACT_OWNED)
		return;
	if (!stores) {
		set_insert(touched(x, r), owner);
		set_insert(exact_holders(x, r), home_of(x, owner));
		return;
	}
	begin_epoch(x, r, owner, bytes_of(state), get(exact_stored(x, at)),
		    home_of(x, owner));
	/* (C) pairs with (D) in exact_lines. */
	atomic_store_explicit(&r->stores, get(&r->stores) + stores,
			      memory_order_release);
}

static uint64_t sharer(uint32_t id)
{
	return id < EXACT_SHARERS ? 1ull << (EXACT_KIND_BITS + id) : 0;
}

/* True if the record must be told which bytes thread @id touches. */
static bool is_told(const struct exact *x, const struct exact_record *r,
		    uint32_t id)
{
	return exact_log_open(x, r) || exact_visit_open(x, r, id);
}

/* Thread @id touches @bytes, maybe after a transfer. */
static void tell(struct exact *x, struct exact_record *r, uint32_t id,
		 uint64_t bytes, bool is_store)
{
	struct line_log *log;

	exact_visit_touch(x, r, id, bytes);
	log = exact_log_open(x, r);
	if (log)
		line_log_add(log, id, bytes, is_store);
}

/* True if a further load by @id, at home, would change nothing. */
static bool is_settled(const struct exact *x, struct exact_record *r,
		       uint32_t id)
{
	return set_has(touched(x, r), id) && !set_has(pending(x, r), id) &&
	       set_has(exact_holders(x, r), home_of(x, id)) &&
	       !is_told(x, r, id);
}

/* While a log is open, no load is quick. */
static uint64_t after_load(const struct exact *x, struct exact_record *r,
			   uint64_t before, uint32_t id)
{
	uint64_t state = EXACT_SHARED;
	uint32_t owner = owner_of(before);

	if (exact_log_open(x, r))
		return EXACT_SHARED;
	if ((before & EXACT_KIND_MASK) == EXACT_SHARED)
		state = before;
	if ((before & EXACT_KIND_MASK) == EXACT_OWNED &&
	    !exact_visit_open(x, r, owner))
		state |= sharer(owner);
	if (is_settled(x, r, id))
		state |= sharer(id);
	return state;
}

static uint32_t cache_of(const struct exact *x, const struct exact_thread *t,
			 uint32_t core)
{
	return x->placed ? x->domain[0][core % x->cores] : t->id;
}

/*
 * True if the thread is on its home: the cache of the first access by a thread
 * of its number.
 */
static bool at_home(struct exact *x, struct exact_thread *t, uint32_t core,
		    uint32_t cache)
{
	uint32_t home = home_of(x, t->id);

	if (home == UINT32_MAX) {
		home = cache;
		atomic_store_explicit(&x->home[t->id], cache + 1,
				      memory_order_relaxed);
	}
	if (home == cache)
		t->home = core;
	return home == cache;
}

/* The first access of all to a line. */
static bool take_untouched(struct exact *x, struct exact_thread *t,
			   _Atomic uint64_t *at, uint32_t start, uint32_t len,
			   bool is_store)
{
	uint64_t none = EXACT_UNTOUCHED, state = t->owned;

	if (!atomic_compare_exchange_strong_explicit(at, &none, EXACT_LOCKED,
						     memory_order_acquire,
						     memory_order_relaxed))
		return false;
	if (is_store) {
		state = exact_store_state(state, start, len);
		atomic_store_explicit(exact_stored(x, at),
				      exact_mask(start, len),
				      memory_order_relaxed);
	}
	unlock(t, at, state); /* (A), for the thread's home too */
	if (is_store)
		t->counts.cold_stores++;
	else
		t->counts.cold_loads++;
	return true;
}

/*
 * The owner, at home, touches bytes that it has not stored: it keeps the line.
 * Returns false if it does not own the line.
 */
static bool access_owned(struct exact *x, struct exact_thread *t,
			 _Atomic uint64_t *at, uint32_t start, uint32_t len,
			 bool is_store)
{
	uint64_t bytes = exact_mask(start, len), state = get(at);

	if ((state & (EXACT_OWNER_MASK | EXACT_FULL)) != t->owned ||
	    !atomic_compare_exchange_strong_explicit(at, &state, EXACT_LOCKED,
						     memory_order_acquire,
						     memory_order_relaxed))
		return false;
	if (state & EXACT_TOLD) {
		struct exact_record *r = exact_record(x, at);

		tell(x, r, t->id, bytes, is_store);
		if (!is_told(x, r, t->id))
			state &= ~EXACT_TOLD;
	}
	if (is_store) {
		_Atomic uint64_t *stored = exact_stored(x, at);

		if (exact_stores_of(state))
			bytes |= get(stored);
		atomic_store_explicit(stored, bytes, memory_order_relaxed);
		state = exact_store_state(state, start, len);
	}
	unlock(t, at, state);
	return true;
}

static void access_locked(struct exact *x, struct exact_thread *t,
			  _Atomic uint64_t *at, uint32_t start, uint32_t len,
			  uint32_t flags, uint32_t cache, bool home)
{
	bool is_store = flags & (ACCESS_STORE | ACCESS_LOCKED);
	struct exact_record *r = exact_record(x, at);
	uint64_t bytes = exact_mask(start, len), state = lock(at);

	settle(x, r, at, state);
	touch(x, t, r, bytes);
	tell(x, r, t->id, bytes, is_store);
	if (flags & ACCESS_LOCKED || (flags & ACCESS_LOAD && is_store))
		contended_add(&r->contended, t->id, bytes);
	if (!is_store) {
		set_insert(touched(x, r), t->id);
		exact_mesi_load(x, &t->counts, r, cache);
		state = after_load(x, r, state, t->id);
	} else {
		exact_mesi_store(x, &t->counts, r, cache);
		if (home) {
			state = exact_store_state(t->owned, start, len);
			if (is_told(x, r, t->id))
				state |= EXACT_TOLD;
			atomic_store_explicit(exact_stored(x, at), bytes,
					      memory_order_relaxed);
		} else {
			begin_epoch(x, r, t->id, bytes, bytes, cache);
			add(&r->stores, 1);
			state = EXACT_SHARED;
		}
	}
	unlock(t, at, state);
}

static void access_line(struct exact *x, struct exact_thread *t, uint64_t addr,
			uint32_t len, uint32_t flags, uint32_t core)
{
	bool is_store = flags & (ACCESS_STORE | ACCESS_LOCKED);
	uint32_t start = addr & (x->line_bytes - 1), cache;
	_Atomic uint64_t *at;
	bool home;

	if (!t->taken && exact_quick(x, t, addr, len, is_store, core))
		return;
	at = find(x, t, addr);
	if (!at) {
		t->counts.full++;
		return;
	}
	if (is_store)
		t->counts.stores++;
	else
		t->counts.loads++;
	cache = cache_of(x, t, core);
	home = at_home(x, t, core, cache);
	if (home && get(at) == EXACT_UNTOUCHED &&
	    take_untouched(x, t, at, start, len, is_store))
		return;
	if (home && access_owned(x, t, at, start, len, is_store))
		return;
	access_locked(x, t, at, start, len, flags, cache, home);
}

void exact_access_then(struct exact *x, struct exact_thread *t,
		       const struct access *a, uint32_t core,
		       void (*taken)(void *ctx), void *ctx)
{
	uint64_t addr = a->addr, left = a->len ? a->len : 1;

	if (t->inside) {
		t->counts.dropped++;
		return;
	}
	t->inside = 1;
	atomic_signal_fence(memory_order_seq_cst);
	t->taken = taken;
	t->taken_ctx = ctx;
	if (left > -addr && addr)
		left = -addr;
	while (left) {
		uint64_t room = x->line_bytes - (addr & (x->line_bytes - 1));
		uint64_t len = left < room ? left : room;

		access_line(x, t, addr, len, a->flags, core);
		addr += len;
		left -= len;
	}
	t->taken = NULL;
	atomic_signal_fence(memory_order_seq_cst);
	t->inside = 0;
}

void exact_access(struct exact *x, struct exact_thread *t,
		  const struct access *a, uint32_t core)
{
	exact_access_then(x, t, a, core, NULL, NULL);
}
