/* SPDX-License-Identifier: MIT */
/*
 * region_table - give each region of memory a number
 */
#include "region_table.h"
#include "src/base/signal_safe.h"

enum {
	PROBES_MAX = 1024
};

/*
 * Relaxed order is enough: threads exchange nothing but the key itself. The
 * caller's words at the place were zero before there were threads.
 */
uint32_t region_table_find(struct region_table *table, uint64_t region)
{
	uint32_t mask = table->regions - 1;
	uint32_t i = (region * 0x9E3779B97F4A7C15ull >> 32) & mask;

	for (uint32_t n = 0; n < PROBES_MAX && n <= mask; n++) {
		uint64_t key = atomic_load_explicit(&table->key[i],
						    memory_order_relaxed);

		if (key == 0 &&
		    atomic_compare_exchange_strong_explicit(
			    &table->key[i], &key, region + 1,
			    memory_order_relaxed, memory_order_relaxed))
			key = region + 1;
		if (key == region + 1)
			return i;
		i = (i + 1) & mask;
	}
	return REGION_TABLE_FULL;
}
