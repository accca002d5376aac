/* SPDX-License-Identifier: MIT */
/*
 * path_table - call paths of all threads, each kept once
 *
 * Nodes with the same hash of parent and instruction are in a list, from the
 * latest to the first. A node is complete before it is in its list, and never
 * changes. The nodes are kept here too, so that a search does not read the
 * file; as they lie in the order in which they were made, and the beginnings of
 * lists on a few pages, a new node seldom touches a page for the first time.
 */
#include <stdatomic.h>
#include <string.h>

#include "path_table.h"
#include "src/engine/reuse.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

enum {
	NODES_A_LIST = 4, /* of a full table */
};

struct node {
	uint64_t key; /* the instruction; the top bit says recurs */
	uint32_t parent;
	uint32_t before; /* in its list; 0: it is the first */
};

#define RECURS (UINT64_C(1) << 63)

struct path_table {
	_Alignas(64) _Atomic uint32_t lock;
	struct store *store;
	struct store_writer writer; /* changed under the lock, as the rest */
	_Atomic uint32_t nodes;
	uint32_t nodes_max, lists;
	_Atomic uint64_t lost;
	_Atomic uint32_t *latest;
	struct node node[]; /* number - 1 */
};

static uint32_t lists_for(uint32_t nodes)
{
	uint32_t n = 2;

	while (n * NODES_A_LIST < nodes)
		n *= 2;
	return n;
}

static size_t nodes_bytes(uint32_t nodes)
{
	return sizeof(struct path_table) + nodes * sizeof(struct node);
}

size_t path_table_size(uint32_t nodes)
{
	if (!nodes || nodes > CDP_PATHS_MAX)
		return 0;
	return nodes_bytes(nodes) + lists_for(nodes) * sizeof(uint32_t);
}

struct path_table *path_table_init(void *mem, struct store *s, uint32_t nodes)
{
	struct path_table *t = mem;

	t->store = s;
	t->writer.section = CDP_PATHS;
	t->nodes_max = nodes;
	t->lists = lists_for(nodes);
	t->latest = (void *)((char *)mem + nodes_bytes(nodes));
	return t;
}

static uint32_t hash(const struct path_table *t, const struct node *n)
{
	uint64_t h = t->store->secret ^ n->key;

	h = (h ^ (h >> 32)) * 0xD1342543DE82EF95ull;
	h = (h ^ n->parent ^ (h >> 29)) * 0x94D049BB133111EBull;
	return h >> 32;
}

static _Atomic uint32_t *list_of(const struct path_table *t,
				 const struct node *n)
{
	return &t->latest[hash(t, n) & (t->lists - 1)];
}

/* The number of @n, which belongs into @list; 0: there is none. */
static uint32_t find(const struct path_table *t, const struct node *n,
		     const _Atomic uint32_t *list)
{
	/* (A) pairs with (B): the list's nodes are complete. */
	uint32_t i = atomic_load_explicit(list, memory_order_acquire);

	while (i && (t->node[i - 1].key != n->key ||
		     t->node[i - 1].parent != n->parent))
		i = t->node[i - 1].before;
	return i;
}

/* With the lock. 0: there is no room. */
static uint32_t add(struct path_table *t, const struct node *n,
		    _Atomic uint32_t *list, uint64_t generation)
{
	uint32_t i = atomic_load_explicit(&t->nodes, memory_order_relaxed);
	struct cdp_path *r;

	if (i == t->nodes_max)
		return 0;
	r = store_record(t->store, &t->writer);
	if (!r)
		return 0;
	t->node[i] = *n;
	t->node[i++].before = atomic_load_explicit(list, memory_order_relaxed);
	*r = (struct cdp_path){
		.node = i,
		.parent = n->parent,
		.ip = n->key & ~RECURS,
		.flags = n->key & RECURS ? CDP_PATH_RECURS : 0,
		.map_generation = generation,
	};
	store_commit(&t->writer);
	atomic_store_explicit(&t->nodes, i, memory_order_relaxed);
	/* (B) pairs with (A). */
	atomic_store_explicit(list, i, memory_order_release);
	return i;
}

uint32_t path_table_put(struct path_table *t, uint32_t parent,
			const struct path_call *call,
			uint64_t (*map_generation)(uint64_t ip))
{
	struct node n = {
		.key = (call->ip & ~RECURS) | (call->recurs ? RECURS : 0),
		.parent = parent,
	};
	uint64_t generation;
	_Atomic uint32_t *list = list_of(t, &n);
	uint32_t i = find(t, &n, list);

	if (i)
		return i;
	generation = map_generation(call->ip);
	if (spin_try_lock(&t->lock, REUSE_SPINS)) {
		i = find(t, &n, list);
		if (!i)
			i = add(t, &n, list, generation);
		spin_unlock(&t->lock);
	}
	if (i)
		return i;
	atomic_fetch_add_explicit(&t->lost, 1, memory_order_relaxed);
	return parent;
}

struct path_table_stats path_table_stats(const struct path_table *t)
{
	return (struct path_table_stats){
		.nodes = atomic_load_explicit(&t->nodes, memory_order_relaxed),
		.lost = atomic_load_explicit(&t->lost, memory_order_relaxed),
	};
}
