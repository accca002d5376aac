/* SPDX-License-Identifier: MIT */
/*
 * reuse_table - watch data in software: which uses an access may decide
 *
 * For sources that see every access. Each engine (reuse.h) has a number here.
 * One hash table, by line, holds the data that all their slots watch. An access
 * first looks at a byte for its line, which is 0 where nothing is watched, and
 * compares the entries only if it is not 0.
 *
 *                add, remove    find            may_watch
 * add, remove    wait (bucket)  wait (bucket)   before or after
 * find           wait (bucket)  wait (bucket)   independent
 *
 * A bucket's lock is held for some tens of instructions and waited for without
 * bound (docs/memory-model.md). No call may interrupt another one of the same
 * thread.
 */
#ifndef COMDET_ENGINE_REUSE_TABLE_H
#define COMDET_ENGINE_REUSE_TABLE_H

#include <stdatomic.h>

#include "reuse.h"

enum {
	REUSE_TABLE_ENGINES = 8,
	REUSE_TABLE_BYTES = 1 << 16, /* bytes that accesses look at */
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

/*
 * Make a table in @mem, which must be all zero and aligned to 64. Context:
 * set-up.
 */
struct reuse_table *reuse_table_init(void *mem,
				     const uint32_t slots[REUSE_TABLE_ENGINES]);

/* Engine @engine calls these to arm and to disarm. Context: handler. */
void reuse_table_add(struct reuse_table *t, uint32_t engine,
		     const struct reuse_watched *w);
void reuse_table_remove(struct reuse_table *t, uint32_t engine, uint32_t slot);

/*
 * Access @a at @place decides some uses: find their slots, each once, at most
 * REUSE_TABLE_HITS of them. If there are that many, handle them and call again.
 * Returns how many were found.
 *
 * Context: handler.
 */
uint32_t reuse_table_find(struct reuse_table *t, const struct access *a,
			  const struct cpu_place *place,
			  struct reuse_hit hit[REUSE_TABLE_HITS]);

/* The bytes that reuse_may_watch looks at. */
static inline const _Atomic uint8_t *reuse_table_bytes(
	const struct reuse_table *t)
{
	return (const _Atomic uint8_t *)t;
}

/*
 * True if an access of @len bytes at @addr may touch a use. @bytes is
 * reuse_table_bytes(). Always true for an access to two lines.
 */
static inline bool reuse_may_watch(const _Atomic uint8_t *bytes, uint64_t addr,
				   uint32_t len)
{
	return (atomic_load_explicit(&bytes[addr / 64 % REUSE_TABLE_BYTES],
				     memory_order_relaxed) |
		(addr % 64 + len > 64)) != 0;
}

#endif
