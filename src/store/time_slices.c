/* SPDX-License-Identifier: MIT */
/*
 * time_slices - detections and samples by slices of time, counted in the file
 */
#include <errno.h>
#include <stddef.h>

#include "time_slices.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	/* The record begins with the words in which its detections agree. */
	KEY_WORDS =
		offsetof(struct cdp_memory, slices.count) / sizeof(uint64_t),
	MAX_LOG2 = 6, /* of TIME_SLICES_MAX */
	LOCK_TRIES = 1000,
};
_Static_assert(KEY_WORDS == 4, "the key has no padding");
_Static_assert(1 << MAX_LOG2 == TIME_SLICES_MAX, "a power of two");

uint32_t time_slice_shift(uint64_t elapsed)
{
	uint32_t bits = elapsed ? 64 - (uint32_t)__builtin_clzll(elapsed) : 0;

	return bits > CDP_SLICE_SHIFT_MIN + MAX_LOG2 ? bits - MAX_LOG2
						     : CDP_SLICE_SHIFT_MIN;
}

/* A record of @kind with the slice at @now, whose place is *@at; no threads. */
static struct cdp_memory record_at(const struct store *s,
				   enum cdp_memory_kind kind, uint64_t now,
				   uint32_t *at)
{
	uint64_t start = s->header->start_mono;
	uint32_t shift = time_slice_shift(now > start ? now - start : 0);
	uint64_t slice;

	if (shift > CDP_SLICE_SHIFT_MAX) /* a file may claim any time */
		shift = CDP_SLICE_SHIFT_MAX;
	slice = now >> shift;
	*at = slice % CDP_SLICES;
	return (struct cdp_memory){
		.kind = kind,
		.slices = { .shift = shift, .first = slice - *at },
	};
}

/* Both halves stop at UINT32_MAX. The word has one writer. */
static void count(uint64_t *word, const struct detection *d)
{
	uint64_t both = shared_load(word), weight = d->weight ? d->weight : 1;
	uint32_t up = d->sharing == SHARING_TRUE ? 32 : 0;
	uint64_t room = UINT32_MAX - (uint32_t)(both >> up);

	shared_store(word, both + ((weight < room ? weight : room) << up));
}

static int add(struct store *s, struct slice_table *t, struct cdp_memory *key,
	       uint32_t at, const struct detection *d, uint32_t max)
{
	struct cdp_memory *m;
	uint32_t hash;
	int err;

	m = store_index_find(s, &t->index, key, KEY_WORDS, &hash);
	if (m) {
		count(&m->slices.count[at], d);
		return 0;
	}
	if (t->index.used >= max || !store_index_room(&t->index))
		return -ENOSPC;
	count(&key->slices.count[at], d);
	t->writer.section = CDP_MEMORY;
	err = store_index_add(s, &t->index, &t->writer, key, hash);
	if (err)
		key->slices.count[at] = 0;
	return err;
}

int slice_table_add(struct store *s, struct slice_table *t,
		    const struct detection *d, uint64_t now)
{
	uint32_t at;
	struct cdp_memory key = record_at(s, CDP_MEMORY_SLICES, now, &at);

	key.slices.publisher_thread = d->publisher_thread;
	key.slices.detector_thread = d->detector_thread;
	key.slices.publisher_process = d->publisher_process;
	if (!add(s, t, &key, at, d, SLICE_TABLE_MAX))
		return 0;
	key.slices.publisher_thread = CDP_SLICE_OTHERS;
	key.slices.publisher_process = 0;
	return add(s, t, &key, at, d, SLICE_TABLE_MAX + SLICE_TABLE_OTHERS_MAX);
}

void slice_table_release(struct slice_table *t)
{
	store_index_release(&t->index);
}

static bool is_at(const struct cdp_memory *m, const struct cdp_memory *key)
{
	return m->slices.shift == key->slices.shift &&
	       m->slices.first == key->slices.first;
}

/* With the lock held. NULL: there is no room. */
static struct cdp_memory *find_or_add(struct store *s, struct slice_samples *x,
				      const struct cdp_memory *key)
{
	struct cdp_memory *m;

	for (uint32_t i = x->records; i-- > 0;)
		if (is_at(x->record[i], key))
			return x->record[i];
	if (x->records == SLICE_SAMPLES_MAX)
		return NULL;
	x->writer.section = CDP_MEMORY;
	m = store_record(s, &x->writer);
	if (!m)
		return NULL;
	m->kind = key->kind;
	m->slices.shift = key->slices.shift;
	m->slices.first = key->slices.first;
	store_commit(&x->writer);
	x->record[x->records++] = m;
	return m;
}

int slice_samples_add(struct store *s, struct slice_samples *x, uint64_t now)
{
	uint32_t at;
	struct cdp_memory key = record_at(s, CDP_MEMORY_SAMPLED, now, &at);
	/* (A) pairs with (B): the record is complete. */
	struct cdp_memory *m =
		atomic_load_explicit(&x->last, memory_order_acquire);

	if (!m || !is_at(m, &key)) {
		if (!spin_try_lock(&x->lock, LOCK_TRIES))
			return -EAGAIN;
		m = find_or_add(s, x, &key);
		/* (B) pairs with (A). */
		if (m)
			atomic_store_explicit(&x->last, m,
					      memory_order_release);
		spin_unlock(&x->lock);
	}
	if (!m)
		return -ENOSPC;
	shared_add(&m->slices.count[at], 1);
	return 0;
}

void slice_samples_restart(struct slice_samples *x)
{
	x->writer = (struct store_writer){ .section = CDP_MEMORY };
	x->records = 0;
	atomic_store_explicit(&x->last, NULL, memory_order_relaxed);
	atomic_store_explicit(&x->lock, 0, memory_order_relaxed);
}
