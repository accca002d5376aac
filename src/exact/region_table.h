/* SPDX-License-Identifier: MIT */
/*
 * region_table - give each region of memory a number, for the caller's arrays
 *
 * A region is a number of neighbouring lines. On first use it gets a place of
 * its own in an open hash table of keys, for good; threads add keys by
 * compare-exchange. The caller keeps its data in arrays by place. They are zero
 * from the start, so a region needs no set-up, and memory becomes resident
 * where it is touched.
 *
 *                      region_table_find
 * region_table_find    independent; both get the same place
 */
#ifndef COMDET_EXACT_REGION_TABLE_H
#define COMDET_EXACT_REGION_TABLE_H

#include <stdatomic.h>
#include <stdint.h>

#define REGION_TABLE_FULL UINT32_MAX

struct region_table {
	_Atomic uint64_t *key; /* region + 1; 0: free. All 0 at first. */
	uint32_t regions;      /* how many fit, a power of two */
};

/*
 * The place of @region, below table->regions, or REGION_TABLE_FULL.
 *
 * Context: any. Lock-free; at most 1024 looks.
 */
uint32_t region_table_find(struct region_table *table, uint64_t region);

#endif
