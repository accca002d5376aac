/* SPDX-License-Identifier: MIT */
/*
 * path_table - call paths of all threads, each kept once
 *
 * A hash table by parent and instruction finds nodes: open addressing with
 * linear probing, and twice as many slots as there may be nodes. A slot holds
 * the number of a node, or 0, and changes only once. The nodes are kept here
 * too, so that a search does not read the file.
 */
#include <stdatomic.h>
#include <string.h>

#include "path_table.h"
#include "src/engine/reuse.h"
#include "src/base/spin_lock.h"
#include "src/base/signal_safe.h"

struct node {
	uint64_t key; /* the instruction; the top bit says recurs */
	uint32_t parent;
};

#define RECURS (UINT64_C(1) << 63)

struct path_table {
	_Alignas(64) _Atomic uint32_t lock;
	struct store *store;
	struct store_writer writer; /* changed under the lock, as the rest */
	_Atomic uint32_t nodes;
	uint32_t nodes_max, slots;
	_Atomic uint64_t lost;
	_Atomic uint32_t *slot;
	struct node node[]; /* number - 1 */
};

static uint32_t slots_for(uint32_t nodes)
{
	uint32_t n = 2;

	while (n < 2 * nodes)
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
	return nodes_bytes(nodes) + slots_for(nodes) * sizeof(uint32_t);
}

struct path_table *path_table_init(void *mem, struct store *s, uint32_t nodes)
{
	struct path_table *t = mem;

	t->store = s;
	t->writer.section = CDP_PATHS;
	t->nodes_max = nodes;
	t->slots = slots_for(nodes);
	t->slot = (void *)((char *)mem + nodes_bytes(nodes));
	return t;
}

static uint32_t hash(const struct path_table *t, const struct node *n)
{
	uint64_t h = t->store->secret ^ n->key;

	h = (h ^ (h >> 32)) * 0xD1342543DE82EF95ull;
	h = (h ^ n->parent ^ (h >> 29)) * 0x94D049BB133111EBull;
	return h >> 32;
}

/*
 * Returns the number of @n. If there is none returns 0, with the empty slot at
 * which the search ended in *@at.
 */
static uint32_t find(const struct path_table *t, const struct node *n,
		     uint32_t *at)
{
	for (*at = hash(t, n) & (t->slots - 1);;
	     *at = (*at + 1) & (t->slots - 1)) {
		/* (A) pairs with (B): the slot's node is complete. */
		uint32_t i = atomic_load_explicit(&t->slot[*at],
						  memory_order_acquire);

		if (!i || (t->node[i - 1].key == n->key &&
			   t->node[i - 1].parent == n->parent))
			return i;
	}
}

/* With the lock. 0: there is no room. */
static uint32_t add(struct path_table *t, const struct node *n, uint32_t at,
		    uint64_t generation)
{
	uint32_t i = atomic_load_explicit(&t->nodes, memory_order_relaxed);
	struct cdp_path *r;

	if (i == t->nodes_max)
		return 0;
	r = store_record(t->store, &t->writer);
	if (!r)
		return 0;
	t->node[i++] = *n;
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
	atomic_store_explicit(&t->slot[at], i, memory_order_release);
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
	uint32_t at, i = find(t, &n, &at);

	if (i)
		return i;
	generation = map_generation(call->ip);
	if (spin_try_lock(&t->lock, REUSE_SPINS)) {
		i = find(t, &n, &at);
		if (!i)
			i = add(t, &n, at, generation);
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
