/* SPDX-License-Identifier: MIT */
/*
 * shadow - for each address, the heap block that contains it
 *
 * Each 16 bytes of address space have an entry of four bytes, which says that a
 * block begins there, how large it is, from where it was allocated, and whether
 * it was freed. Whoever looks an address up scans back to the nearest start. A
 * block of 64 KiB or more is also noted at each 64 KiB that it touches, so that
 * a scan is never longer than 4096 entries.
 *
 * The entries lie in regions that are mapped when first needed, one for each
 * 64 MiB. Nothing is allocated in the program's heap, and no block grows.
 *
 * Allocating threads write their own entries, and look-ups may run at any
 * moment: each entry is one atomic word, and a wrong answer costs a name.
 */
#ifndef COMDET_PRELOAD_HEAP_SHADOW_H
#define COMDET_PRELOAD_HEAP_SHADOW_H

#include <stdatomic.h>
#include <stddef.h>

#include "heap.h"
#include "sites.h"

enum {
	SHADOW_GRANULE_BITS = 4, /* malloc aligns to 16 bytes */
	SHADOW_GRANULE = 1 << SHADOW_GRANULE_BITS,
	SHADOW_BIG_BITS = 16,
	SHADOW_REGION_BITS = 26,
	SHADOW_ADDRESS_BITS = 47, /* of user space */
	SHADOW_ENTRIES = 1 << (SHADOW_REGION_BITS - SHADOW_GRANULE_BITS),
	SHADOW_BIGS = 1 << (SHADOW_REGION_BITS - SHADOW_BIG_BITS),
	SHADOW_REGIONS = 1 << (SHADOW_ADDRESS_BITS - SHADOW_REGION_BITS),
	SHADOW_SMALL_BYTES = 1024, /* whose size is looked up in a table */
};

#define SHADOW_FREED (1u << 31)

struct shadow_region {
	_Atomic uint32_t entry[SHADOW_ENTRIES];
	/* Start of the large block that goes on here from before. */
	_Atomic uint64_t big[SHADOW_BIGS];
};

extern struct shadow_region *_Atomic shadow_directory[SHADOW_REGIONS];
/* The upper half of entries, by size in granules. */
extern const uint16_t
	shadow_small_size[SHADOW_SMALL_BYTES / SHADOW_GRANULE + 1];

/* The region of @addr; NULL if there is none. */
static inline struct shadow_region *shadow_region_of(uint64_t addr)
{
	uint64_t i = addr >> SHADOW_REGION_BITS;

	if (i >= SHADOW_REGIONS)
		return NULL;
	/* (A) pairs with (B): the region is mapped. */
	return atomic_load_explicit(&shadow_directory[i], memory_order_acquire);
}

static inline _Atomic uint32_t *shadow_entry_of(struct shadow_region *r,
						uint64_t addr)
{
	return &r->entry[addr >> SHADOW_GRANULE_BITS & (SHADOW_ENTRIES - 1)];
}

void shadow_add_any(uint64_t start, uint64_t bytes, uint32_t site);

/* Note a block of @bytes at @start, of the caller or path with number @site. */
static inline void shadow_add_site(uint64_t start, uint64_t bytes,
				   uint32_t site)
{
	struct shadow_region *r = shadow_region_of(start);

	if (__builtin_expect(!r || bytes > SHADOW_SMALL_BYTES, 0)) {
		shadow_add_any(start, bytes, site);
		return;
	}
	bytes = (bytes + SHADOW_GRANULE - 1) / SHADOW_GRANULE;
	atomic_store_explicit(shadow_entry_of(r, start),
			      (uint32_t)shadow_small_size[bytes] << SITE_BITS |
				      site,
			      memory_order_relaxed);
}

/* Note a block of @bytes at @start, allocated by a call that returns to
 * @caller. */
void shadow_add(uint64_t start, uint64_t bytes, uint64_t caller);

/*
 * Note that the block at @start was freed, or, with @freed false, was not.
 * False if there is no such block.
 */
static inline bool shadow_free(uint64_t start, bool freed)
{
	struct shadow_region *r = shadow_region_of(start);
	_Atomic uint32_t *entry;
	uint32_t value;

	if (!r)
		return false;
	entry = shadow_entry_of(r, start);
	value = atomic_load_explicit(entry, memory_order_relaxed);
	if (!value)
		return false;
	atomic_store_explicit(
		entry, freed ? value | SHADOW_FREED : value & ~SHADOW_FREED,
		memory_order_relaxed);
	return true;
}

bool shadow_find(uint64_t addr, struct heap_block *out);

#endif
