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
	GRANULE_BITS = 4, /* malloc aligns to 16 bytes */
	BIG_BITS = 16,
	REGION_BITS = 26,
	ADDRESS_BITS = 47, /* of user space */
	ENTRIES = 1 << (REGION_BITS - GRANULE_BITS),
	BIGS = 1 << (REGION_BITS - BIG_BITS),
	SCAN_MAX = 1 << (BIG_BITS - GRANULE_BITS),
	SITE_BITS = 16,
	SITES = 1 << SITE_BITS,
	PROBES_MAX = 32,
	STEP_SHIFT = SITE_BITS,
	STEPS = 256,
	CLASS_SHIFT = 24,
	CLASS_MAX = 120, /* 16 GiB */
};

#define FREED           (1u << 31)
#define CLASS_MAX_BYTES (UINT64_C(8) << 31) /* class_bytes(CLASS_MAX) */
/* The start of a larger block would take too long to note everywhere. */
#define BIG_BYTES_MAX (UINT64_C(1) << 34)

struct region {
	_Atomic uint32_t entry[ENTRIES];
	/* Start of the large block that goes on here from before. */
	_Atomic uint64_t big[BIGS];
};

static _Atomic(struct region *) directory[1 << (ADDRESS_BITS - REGION_BITS)];
static _Atomic uint64_t site[SITES]; /* return addresses; [0] is not used */
/* Where paths are noted, a site is their hash, and here are the addresses. */
static _Atomic uint64_t path_of[SITES][HEAP_PATH_MAX];
static _Atomic bool by_path;

static struct region *region_of(uint64_t addr)
{
	uint64_t i = addr >> REGION_BITS;

	if (addr >> ADDRESS_BITS)
		return NULL;
	/* (A) pairs with (B): the region is mapped. */
	return atomic_load_explicit(&directory[i], memory_order_acquire);
}

/* By raw system calls: errno stays. */
__attribute__((noinline)) static struct region *make_region(uint64_t addr)
{
	struct region *was = NULL, *made;
	long at;

	if (addr >> ADDRESS_BITS)
		return NULL;
	at = rawcall6(SYS_mmap, 0, sizeof(struct region),
		      PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (at < 0 && at > -4096)
		return NULL;
	made = (struct region *)at;
	/* (B) pairs with (A). */
	if (atomic_compare_exchange_strong_explicit(
		    &directory[addr >> REGION_BITS], &was, made,
		    memory_order_acq_rel, memory_order_acquire))
		return made;
	rawcall2(SYS_munmap, at, sizeof(struct region));
	return was;
}

static _Atomic uint32_t *entry_of(struct region *r, uint64_t addr)
{
	return &r->entry[addr >> GRANULE_BITS & (ENTRIES - 1)];
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
 * @bytes as they stand in an entry, rounded up. Three leading bits are the
 * class, and a class is as wide as the fourth is worth.
 */
static uint32_t size_of(uint64_t bytes)
{
	uint64_t last, part;
	uint32_t class;
	int top;

	bytes = bytes ? (bytes + 15) & ~UINT64_C(15) : 16;
	if (bytes > CLASS_MAX_BYTES)
		bytes = CLASS_MAX_BYTES;
	if (bytes == 16)
		return 1 << CLASS_SHIFT;
	last = bytes - 1;
	top = 63 - __builtin_clzll(last);
	class = (uint32_t)(4 * (top - 4) + (int)(last >> (top - 2) & 3) + 1);
	part = last & ((UINT64_C(1) << (top - 2)) - 1);
	return (class + 1) << CLASS_SHIFT |
	       (uint32_t)(part * STEPS >> (top - 2)) << STEP_SHIFT;
}

/* The most bytes that a block with this entry has; *@least: the least. */
static uint64_t bytes_of(uint32_t entry, uint64_t *least)
{
	uint32_t class = (entry & ~FREED) / (1 << CLASS_SHIFT) - 1;
	uint64_t low, width, step = entry >> STEP_SHIFT & (STEPS - 1);

	*least = 1;
	if (!class)
		return 16;
	low = class_bytes(class - 1);
	width = class_bytes(class) - low;
	*least = low + step * width / STEPS + 1;
	return low + ((step + 1) * width + STEPS - 1) / STEPS;
}

/* The number of @caller; 0 if there is no room. */
static uint32_t site_of(uint64_t caller)
{
	uint32_t i =
		(uint32_t)(caller * 0x9E3779B97F4A7C15u >> (64 - SITE_BITS));

	for (int n = 0; n < PROBES_MAX; n++, i++) {
		uint64_t was = 0;

		i &= SITES - 1;
		if (!i)
			continue;
		if (atomic_load_explicit(&site[i], memory_order_relaxed) ==
		    caller)
			return i;
		if (atomic_compare_exchange_strong_explicit(
			    &site[i], &was, caller, memory_order_relaxed,
			    memory_order_relaxed) ||
		    was == caller)
			return i;
	}
	return 0;
}

static void add_big(uint64_t start, uint64_t bytes)
{
	uint64_t at = (start >> BIG_BITS) + 1, last;

	if (bytes > BIG_BYTES_MAX)
		bytes = BIG_BYTES_MAX;
	for (last = (start + bytes - 1) >> BIG_BITS; at <= last; at++) {
		struct region *r = region_of(at << BIG_BITS);

		if (!r)
			r = make_region(at << BIG_BITS);
		if (!r)
			return;
		atomic_store_explicit(&r->big[at & (BIGS - 1)], start,
				      memory_order_relaxed);
	}
}

static void add(uint64_t start, uint64_t bytes, uint32_t number)
{
	struct region *r = region_of(start);

	if (!r)
		r = make_region(start);
	if (!r || bytes >> ADDRESS_BITS)
		return;
	atomic_store_explicit(entry_of(r, start), size_of(bytes) | number,
			      memory_order_relaxed);
	if (bytes >= 1 << BIG_BITS)
		add_big(start, bytes);
}

void shadow_add(uint64_t start, uint64_t bytes, uint64_t caller)
{
	add(start, bytes, site_of(caller));
}

void shadow_add_site(uint64_t start, uint64_t bytes, uint32_t number)
{
	add(start, bytes, number);
}

uint32_t shadow_site(const uint64_t *path, unsigned calls)
{
	uint64_t hash = calls;
	uint32_t number;

	for (unsigned i = 0; i < calls; i++) {
		hash = (hash ^ path[i]) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 29;
	}
	number = site_of(hash | 1);
	if (number &&
	    !atomic_load_explicit(&path_of[number][0], memory_order_relaxed)) {
		atomic_store_explicit(&by_path, true, memory_order_relaxed);
		/* Whoever looks in between finds fewer calls. */
		for (unsigned i = 0; i < calls; i++)
			atomic_store_explicit(&path_of[number][i], path[i],
					      memory_order_relaxed);
	}
	return number;
}

void shadow_free(uint64_t start, bool freed)
{
	struct region *r = region_of(start);
	_Atomic uint32_t *entry;
	uint32_t value;

	if (!r)
		return;
	entry = entry_of(r, start);
	value = atomic_load_explicit(entry, memory_order_relaxed);
	if (value)
		atomic_store_explicit(entry,
				      freed ? value | FREED : value & ~FREED,
				      memory_order_relaxed);
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
		.caller = atomic_load_explicit(&site[entry & (SITES - 1)],
					       memory_order_relaxed),
		.freed = entry & FREED,
		.site = entry & (SITES - 1),
	};
	return true;
}

static uint32_t value_at(uint64_t addr)
{
	struct region *r = region_of(addr);

	return r ? atomic_load_explicit(entry_of(r, addr), memory_order_relaxed)
		 : 0;
}

/*
 * Look at the starts at @addr and before. True for a live block; otherwise the
 * nearest freed one is in *@freed, if its bytes are not 0.
 */
static bool scan(uint64_t addr, struct heap_block *out,
		 struct heap_block *freed)
{
	uint64_t at = addr >> GRANULE_BITS << GRANULE_BITS;

	for (int n = 0; n < SCAN_MAX; n++, at -= 1 << GRANULE_BITS) {
		uint32_t value = value_at(at);
		struct heap_block found;

		if (at < 1 << GRANULE_BITS)
			return false;
		if (!value)
			continue;
		/* Sizes are rounded: it may end before a freed one. */
		if (!take(at, value, addr, freed->bytes, &found)) {
			if (!(value & FREED))
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
	struct region *r = region_of(addr);
	uint64_t start;

	if (!r)
		return false;
	if (scan(addr, out, &freed))
		return true;
	start = atomic_load_explicit(&r->big[addr >> BIG_BITS & (BIGS - 1)],
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
	if (!atomic_load_explicit(&by_path, memory_order_relaxed))
		return true;
	while (out->calls < HEAP_PATH_MAX) {
		uint64_t call = atomic_load_explicit(
			&path_of[out->site][out->calls], memory_order_relaxed);

		if (!call)
			break;
		out->path[out->calls++] = call;
	}
	out->caller = out->path[0];
	return true;
}
