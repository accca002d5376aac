/* SPDX-License-Identifier: MIT */
/*
 * heap_blocks - the heap blocks that detections are about, in the file
 *
 * A table of keys says which blocks are written. A slot is taken before its
 * record is written, so a record is written once; it is given back if the lock
 * is held or the file is full.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>

#include "callers.h"
#include "heap_blocks.h"
#include "preload/core/maps.h"
#include "preload/core/runtime.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	SLOTS = 1 << 14,
	PROBES_MAX = 16,
	SPINS = 100,
};

static heap_find_function *find;
static _Atomic uint64_t *written;
static _Atomic uint32_t lock;
static struct store_writer writer;

void heap_blocks_use(heap_find_function *function)
{
	find = function;
}

int heap_blocks_init(void)
{
	void *mem;

	writer = (struct store_writer){ .section = CDP_MEMORY };
	atomic_store_explicit(&lock, 0, memory_order_relaxed);
	if (!find)
		return 0;
	mem = mmap(NULL, SLOTS * sizeof(*written), PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -ENOMEM;
	if (written)
		munmap(written, SLOTS * sizeof(*written));
	written = mem;
	return 0;
}

static uint64_t key_of(const struct heap_block *b)
{
	uint64_t key = b->start * 0x9E3779B97F4A7C15u ^
		       (b->caller + b->site + b->freed) * 0xD6E8FEB86659FD93u;

	return key ? key : 1;
}

/* The slot that now has @key; NULL if it had it before, or there is no room. */
static _Atomic uint64_t *take_slot(uint64_t key)
{
	uint32_t i = key >> 40;

	for (int n = 0; n < PROBES_MAX; n++, i++) {
		_Atomic uint64_t *slot = &written[i & (SLOTS - 1)];
		uint64_t was = 0;

		if (atomic_compare_exchange_strong_explicit(
			    slot, &was, key, memory_order_relaxed,
			    memory_order_relaxed))
			return slot;
		if (was == key)
			return NULL;
	}
	return NULL;
}

static bool write_block(const struct heap_block *b, uint64_t generation,
			uint32_t path)
{
	struct cdp_memory *m;

	if (!spin_try_lock(&lock, SPINS))
		return false;
	m = store_record(&runtime.store, &writer);
	if (m) {
		m->kind = CDP_MEMORY_BLOCK;
		m->block = (struct cdp_memory_block){
			.start = b->start,
			.bytes = b->bytes,
			.caller = b->caller,
			.map_generation = generation,
			.flags = b->freed ? CDP_BLOCK_FREED : 0,
			.path = path,
		};
		store_commit(&writer);
	}
	spin_unlock(&lock);
	return m;
}

static void note(uint64_t addr)
{
	_Atomic uint64_t *slot;
	struct heap_block b;

	if (!find(addr, &b))
		return;
	slot = take_slot(key_of(&b));
	if (!slot)
		return;
	if (!write_block(&b, b.caller ? maps_note(b.caller) : 0,
			 callers_of_block(b.path, b.calls)))
		atomic_store_explicit(slot, 0, memory_order_relaxed);
}

void heap_blocks_note(const struct detection *d)
{
	if (!find)
		return;
	note(d->publisher.addr);
	note(d->detector.addr);
}
