/* SPDX-License-Identifier: MIT */
/*
 * shadow - for each address, the heap block that contains it
 */
#include <stdatomic.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "shadow.h"
#include "src/base/rawcall.h"
#include "src/base/signal_safe.h"

enum {
	SCAN_MAX = 1 << (SHADOW_BIG_BITS - SHADOW_GRANULE_BITS),
	STEP_SHIFT = SITE_BITS,
	STEPS = 256,
	CLASS_SHIFT = 24,
	CLASS_MAX = 120, /* 16 GiB */
};

#define CLASS_MAX_BYTES (UINT64_C(8) << 31) /* class_bytes(CLASS_MAX) */
/* The start of a larger block would take too long to note everywhere. */
#define BIG_BYTES_MAX (UINT64_C(1) << 34)

struct shadow_region *_Atomic shadow_directory[SHADOW_REGIONS];

/* By raw system calls: errno stays. */
__attribute__((noinline)) static struct shadow_region *make_region(
	uint64_t addr)
{
	struct shadow_region *was = NULL, *made;
	long at;

	if (addr >> SHADOW_ADDRESS_BITS)
		return NULL;
	at = rawcall6(SYS_mmap, 0, sizeof(struct shadow_region),
		      PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	made = (struct shadow_region *)at;
	/* (B) pairs with (A). */
	if (atomic_compare_exchange_strong_explicit(
		    &shadow_directory[addr >> SHADOW_REGION_BITS], &was, made,
		    memory_order_acq_rel, memory_order_acquire))
		return made;
	rawcall2(SYS_munmap, at, sizeof(struct shadow_region));
	return was;
}

/*
 * A size is a class, four an octave, and a part of it in 256 steps: exact to 16
 * bytes up to 16 KiB, and to a thousandth above.
 */
static uint64_t class_bytes(uint32_t class)
{
	return class ? (UINT64_C(5) + ((class - 1) & 3))
			       << ((class - 1) / 4 + 2)
		     : 16;
}

/*
 * A size as it stands in an entry. Three leading bits of the last byte's offset
 * are the class, and a class is as wide as the fourth is worth.
 */
#define TOP(last) (63 - __builtin_clzll(last))
#define CLASS(last)                                                            \
	(4 * (uint32_t)(TOP(last) - 4) + ((last) >> (TOP(last) - 2) & 3) + 1)
#define PART(last)                                                             \
	(((last) & ((UINT64_C(1) << (TOP(last) - 2)) - 1)) * STEPS >>          \
	 (TOP(last) - 2))
#define SIZE(last)                                                             \
	((uint32_t)(CLASS(last) + 1) << CLASS_SHIFT | (uint32_t)PART(last)     \
							      << STEP_SHIFT)

#define SMALLEST    (1u << CLASS_SHIFT)
#define GRANULES(n) (uint16_t)(SIZE(UINT64_C(16) * (n)-1) >> SITE_BITS)
#define TWO(n)      GRANULES(n), GRANULES(n + 1)
#define EIGHT(n)    TWO(n), TWO(n + 2), TWO(n + 4), TWO(n + 6)
#define SIXTEEN(n)  EIGHT(n), EIGHT(n + 8)

const uint16_t shadow_small_size[SHADOW_SMALL_BYTES / SHADOW_GRANULE + 1] = {
	SMALLEST >> SITE_BITS,
	SMALLEST >> SITE_BITS,
	TWO(2),
	TWO(4),
	TWO(6),
	EIGHT(8),
	SIXTEEN(16),
	SIXTEEN(32),
	SIXTEEN(48),
	GRANULES(64),
};

static uint32_t size_of(uint64_t bytes)
{
	if (bytes <= SHADOW_GRANULE)
		return SMALLEST;
	if (bytes > CLASS_MAX_BYTES)
		bytes = CLASS_MAX_BYTES;
	bytes = (bytes - 1) | (SHADOW_GRANULE - 1);
	return SIZE(bytes);
}

/* The most bytes that a block with this entry has; *@least: the least. */
static uint64_t bytes_of(uint32_t entry, uint64_t *least)
{
	uint32_t class = (entry & ~SHADOW_FREED) / (1 << CLASS_SHIFT) - 1;
	uint64_t low, width, step = entry >> STEP_SHIFT & (STEPS - 1);

	*least = 1;
	if (!class)
		return 16;
	low = class_bytes(class - 1);
	width = class_bytes(class) - low;
	*least = low + step * width / STEPS + 1;
	return low + ((step + 1) * width + STEPS - 1) / STEPS;
}

static void add_big(uint64_t start, uint64_t bytes)
{
	uint64_t at = (start >> SHADOW_BIG_BITS) + 1, last;

	if (bytes > BIG_BYTES_MAX)
		bytes = BIG_BYTES_MAX;
	for (last = (start + bytes - 1) >> SHADOW_BIG_BITS; at <= last; at++) {
		struct shadow_region *r =
			shadow_region_of(at << SHADOW_BIG_BITS);

		if (!r)
			r = make_region(at << SHADOW_BIG_BITS);
		if (!r)
			return;
		atomic_store_explicit(&r->big[at & (SHADOW_BIGS - 1)], start,
				      memory_order_relaxed);
	}
}

void shadow_add_any(uint64_t start, uint64_t bytes, uint32_t number)
{
	struct shadow_region *r = shadow_region_of(start);

	if (!r)
		r = make_region(start);
	if (!r || bytes >> SHADOW_ADDRESS_BITS)
		return;
	atomic_store_explicit(shadow_entry_of(r, start),
			      size_of(bytes) | number, memory_order_relaxed);
	if (bytes >= 1 << SHADOW_BIG_BITS)
		add_big(start, bytes);
}

void shadow_add(uint64_t start, uint64_t bytes, uint64_t caller)
{
	shadow_add_site(start, bytes, sites_caller(caller));
}

/*
 * The block that begins at @start, if it contains @addr; if @certain, only if
 * it does whatever its exact size is.
 */
static bool take(uint64_t start, uint32_t entry, uint64_t addr, bool certain,
		 struct heap_block *out)
{
	uint64_t bytes, least;

	if (!entry)
		return false;
	bytes = bytes_of(entry, &least);
	if (addr - start >= (certain ? least : bytes))
		return false;
	*out = (struct heap_block){
		.start = start,
		.bytes = bytes,
		.freed = entry & SHADOW_FREED,
		.site = entry & (SITES - 1),
	};
	return true;
}

static uint32_t value_at(uint64_t addr)
{
	struct shadow_region *r = shadow_region_of(addr);

	return r ? atomic_load_explicit(shadow_entry_of(r, addr),
					memory_order_relaxed)
		 : 0;
}

/*
 * Look at the starts at @addr and before. True for a live block; otherwise the
 * nearest freed one is in *@freed, if its bytes are not 0.
 */
static bool scan(uint64_t addr, struct heap_block *out,
		 struct heap_block *freed)
{
	uint64_t at = addr >> SHADOW_GRANULE_BITS << SHADOW_GRANULE_BITS;

	for (int n = 0; n < SCAN_MAX; n++, at -= 1 << SHADOW_GRANULE_BITS) {
		uint32_t value = value_at(at);
		struct heap_block found;

		if (at < 1 << SHADOW_GRANULE_BITS)
			return false;
		if (!value)
			continue;
		/* Sizes are rounded: it may end before a freed one. */
		if (!take(at, value, addr, freed->bytes, &found)) {
			if (!(value & SHADOW_FREED))
				return false; /* it lies between */
			continue;
		}
		if (!found.freed) {
			*out = found;
			return true;
		}
		if (!freed->bytes)
			*freed = found;
	}
	return false;
}

static bool find(uint64_t addr, struct heap_block *out)
{
	struct heap_block freed = { .bytes = 0 };
	struct shadow_region *r = shadow_region_of(addr);
	uint64_t start;

	if (!r)
		return false;
	if (scan(addr, out, &freed))
		return true;
	start = atomic_load_explicit(
		&r->big[addr >> SHADOW_BIG_BITS & (SHADOW_BIGS - 1)],
		memory_order_relaxed);
	if (start && start <= addr &&
	    take(start, value_at(start), addr, freed.bytes, out) &&
	    (!out->freed || !freed.bytes))
		return true;
	*out = freed;
	return freed.bytes;
}

bool shadow_find(uint64_t addr, struct heap_block *out)
{
	if (!find(addr, out))
		return false;
	sites_describe(out);
	return true;
}
