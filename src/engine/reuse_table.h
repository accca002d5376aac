/* SPDX-License-Identifier: MIT */
/*
 * reuse_table - which uses an access may decide: watching in software
 *
 * For sources that see every access. Each engine (reuse.h) has a number here,
 * and what its slots watch is in one hash table by line. An access first looks
 * at a byte for its line, which is 0 where nothing is watched; only if it is
 * not are the entries compared.
 *
 *                add, remove    find            may_watch
 * add, remove    wait (bucket)  wait (bucket)   before or after
 * find           wait (bucket)  wait (bucket)   independent
 *
 * A bucket's lock is held for some tens of instructions and waited for without
 * bound; in signal handlers the caller keeps a guard, so that no call
 * interrupts one of the same thread.
 */
#ifndef COMDET_ENGINE_REUSE_TABLE_H
#define COMDET_ENGINE_REUSE_TABLE_H

#include <stdatomic.h>

#include "reuse.h"

enum {
	REUSE_TABLE_ENGINES = 8,
	REUSE_TABLE_BYTES = 1 << 16, /* that accesses look at */
	REUSE_TABLE_HITS = 32,
};

struct reuse_hit {
	uint32_t engine, slot, generation;
};

struct reuse_table;

/*
 * Bytes of memory for engines of @slots slots each, which may be 0; 0 if that
 * is too many.
 */
size_t reuse_table_size(const uint32_t slots[REUSE_TABLE_ENGINES]);

/* In @mem, all zero, aligned to 64. Context: set-up. */
struct reuse_table *reuse_table_init(void *mem,
				     const uint32_t slots[REUSE_TABLE_ENGINES]);

/* What arm and disarm of engine @engine have to do. Context: handler. */
void reuse_table_add(struct reuse_table *t, uint32_t engine,
		     const struct reuse_watched *w);
void reuse_table_remove(struct reuse_table *t, uint32_t engine, uint32_t slot);

/*
 * The slots for which an access @a at @place decides something, each once, at
 * most REUSE_TABLE_HITS; for as many call again once these are dealt with.
 *
 * Context: handler.
 */
uint32_t reuse_table_find(struct reuse_table *t, const struct access *a,
			  const struct cpu_place *place,
			  struct reuse_hit hit[REUSE_TABLE_HITS]);

/* The bytes that may_watch looks at, at the beginning of the table. */
static inline const _Atomic uint8_t *reuse_table_bytes(
	const struct reuse_table *t)
{
	return (const _Atomic uint8_t *)t;
}

/*
 * Does @bytes = reuse_table_bytes() know of a use that an access of @len bytes
 * at @addr might touch? An access to two lines always may.
 */
static inline bool reuse_may_watch(const _Atomic uint8_t *bytes, uint64_t addr,
				   uint32_t len)
{
	return (atomic_load_explicit(&bytes[addr / 64 % REUSE_TABLE_BYTES],
				     memory_order_relaxed) |
		(addr % 64 + len > 64)) != 0;
}

#endif
