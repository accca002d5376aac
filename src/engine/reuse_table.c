/* SPDX-License-Identifier: MIT */
/*
 * reuse_table - watch data in software: which uses an access may decide
 *
 * A slot has two entries, since a watched range touches at most two lines of 64
 * bytes. Each entry is in the list of its line's bucket. The line's number,
 * unhashed, selects byte and bucket, so neighbouring lines have neighbouring
 * bytes and buckets, which share cache lines.
 */
#include "reuse_table.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	ALIGN = 64,
	LINE = 64,
	PARTS = 2,
	LOCKS = 1024,
	NONE = 0, /* entries are numbered from 1 */
};

struct entry {
	uint64_t addr, line;
	uint32_t len; /* 0: not in use */
	uint32_t next, previous;
	uint32_t slot, generation;
	uint16_t engine, scope;
	struct cpu_place place;
};

struct reuse_table {
	_Atomic uint8_t byte[REUSE_TABLE_BYTES];
	uint32_t head[REUSE_TABLE_BYTES];
	_Atomic uint32_t lock[LOCKS];
	uint32_t first[REUSE_TABLE_ENGINES]; /* entry of an engine's slot 0 */
	struct entry entry[];
};

size_t reuse_table_size(const uint32_t slots[REUSE_TABLE_ENGINES])
{
	size_t entries = 1;

	for (int i = 0; i < REUSE_TABLE_ENGINES; i++) {
		if (slots[i] > REUSE_SLOTS_MAX)
			return 0;
		entries += (size_t)slots[i] * PARTS;
	}
	return sizeof(struct reuse_table) + entries * sizeof(struct entry);
}

struct reuse_table *reuse_table_init(void *mem,
				     const uint32_t slots[REUSE_TABLE_ENGINES])
{
	struct reuse_table *t = mem;
	uint32_t next = 1;

	if (!reuse_table_size(slots))
		return NULL;
	for (int i = 0; i < REUSE_TABLE_ENGINES; i++) {
		t->first[i] = next;
		next += slots[i] * PARTS;
	}
	return t;
}

static uint32_t bucket_of(uint64_t line)
{
	return line / LINE % REUSE_TABLE_BYTES;
}

/* The lock of the bucket's list and of the entries in it. */
static _Atomic uint32_t *lock_of(struct reuse_table *t, uint32_t bucket)
{
	return &t->lock[bucket % LOCKS];
}

static void mark(struct reuse_table *t, uint32_t bucket)
{
	atomic_store_explicit(&t->byte[bucket], t->head[bucket] != NONE,
			      memory_order_relaxed);
}

static void insert(struct reuse_table *t, uint32_t n)
{
	struct entry *e = &t->entry[n];
	uint32_t bucket = bucket_of(e->line);

	spin_lock(lock_of(t, bucket));
	e->previous = NONE;
	e->next = t->head[bucket];
	if (e->next != NONE)
		t->entry[e->next].previous = n;
	t->head[bucket] = n;
	mark(t, bucket);
	spin_unlock(lock_of(t, bucket));
}

static void take_out(struct reuse_table *t, uint32_t n)
{
	struct entry *e = &t->entry[n];
	uint32_t bucket = bucket_of(e->line);

	spin_lock(lock_of(t, bucket));
	if (e->next != NONE)
		t->entry[e->next].previous = e->previous;
	if (e->previous != NONE)
		t->entry[e->previous].next = e->next;
	else
		t->head[bucket] = e->next;
	mark(t, bucket);
	spin_unlock(lock_of(t, bucket));
}

static uint32_t first_of(const struct reuse_table *t, uint32_t engine,
			 uint32_t slot)
{
	return t->first[engine] + slot * PARTS;
}

void reuse_table_remove(struct reuse_table *t, uint32_t engine, uint32_t slot)
{
	uint32_t n = first_of(t, engine, slot);

	for (uint32_t i = n; i < n + PARTS; i++) {
		if (t->entry[i].len)
			take_out(t, i);
		t->entry[i].len = 0;
	}
}

void reuse_table_add(struct reuse_table *t, uint32_t engine,
		     const struct reuse_watched *w)
{
	uint32_t n = first_of(t, engine, w->slot);
	uint64_t line = w->addr & -(uint64_t)LINE;
	uint64_t last = last_byte(w->addr, w->len) & -(uint64_t)LINE;

	reuse_table_remove(t, engine, w->slot);
	/* An access is at most a line long, so it touches at most two. */
	for (uint32_t i = n; i < n + PARTS; i++, line += LINE) {
		t->entry[i] = (struct entry){
			.addr = w->addr,
			.len = w->len ? w->len : 1,
			.line = line,
			.slot = w->slot,
			.generation = w->generation,
			.engine = engine,
			.scope = w->scope,
			.place = w->place,
		};
		insert(t, i);
		if (line == last)
			break;
	}
}

static bool known(const struct reuse_hit *hit, uint32_t n,
		  const struct entry *e)
{
	for (uint32_t i = 0; i < n; i++)
		if (hit[i].engine == e->engine && hit[i].slot == e->slot)
			return true;
	return false;
}

static bool decides(const struct entry *e, const struct access *a,
		    const struct cpu_place *place)
{
	return a->addr <= last_byte(e->addr, e->len) &&
	       e->addr <= access_last(a) &&
	       reuse_verdict(e->scope, &e->place, place, access_stores(a)) !=
		       REUSE_NOTHING;
}

uint32_t reuse_table_find(struct reuse_table *t, const struct access *a,
			  const struct cpu_place *place,
			  struct reuse_hit hit[REUSE_TABLE_HITS])
{
	uint64_t line = a->addr & -(uint64_t)LINE;
	uint64_t last = access_last(a) & -(uint64_t)LINE;
	uint32_t found = 0;

	for (;; line += LINE) {
		uint32_t bucket = bucket_of(line);

		spin_lock(lock_of(t, bucket));
		for (uint32_t n = t->head[bucket];
		     n != NONE && found < REUSE_TABLE_HITS;
		     n = t->entry[n].next) {
			const struct entry *e = &t->entry[n];

			if (!decides(e, a, place) || known(hit, found, e))
				continue;
			hit[found++] = (struct reuse_hit){
				.engine = e->engine,
				.slot = e->slot,
				.generation = e->generation,
			};
		}
		spin_unlock(lock_of(t, bucket));
		if (line == last)
			break;
	}
	return found;
}
