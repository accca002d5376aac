/* SPDX-License-Identifier: MIT */
/*
 * map_table - the mappings of an address space, and which of them are new
 *
 * The maps of a process are read now and then; each reading is a generation.
 * The table remembers the mappings of the last one, so that only those that it
 * did not have are written to the file: an address that is used again by
 * another library keeps both meanings, each with its generation.
 *
 * One thread at a time reads (map_table_begin to map_table_end). Look-ups may
 * run beside a reading. One that is overtaken by a whole reading may see a
 * table half renewed; at worst its answer asks for a reading that was not
 * needed.
 *
 *	map_table_begin(&t);
 *	for each mapping m, by rising address:
 *		if (map_table_take(&t, &m))
 *			write m;
 *	map_table_end(&t);
 */
#ifndef COMDET_MAPS_MAP_TABLE_H
#define COMDET_MAPS_MAP_TABLE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "src/store/cdp.h"

struct map_range {
	uint64_t start, end;
	uint64_t key; /* a hash of everything else about the mapping */
	bool exec;
};

struct map_table {
	struct map_range *range[2]; /* of the last reading, and of the next */
	uint32_t max;               /* ranges in each */
	_Atomic uint32_t current;
	_Atomic uint32_t count[2];
	_Atomic uint64_t generation;
	/* of the reading under way */
	uint32_t taken;
	struct cdp_map last_file; /* to name the zero-filled end of its data */
};

/* Start over with @memory for 2 * @max ranges. Context: set-up. */
void map_table_init(struct map_table *t, struct map_range *memory,
		    uint32_t max);

/* Begin a reading, the next generation. Context: any. */
void map_table_begin(struct map_table *t);

/*
 * Take in @m, the next one by address. The part of a file's data that the file
 * does not fill (.bss) gets the file's name. True if @m has to be written: it
 * has a name or is executable, and the last reading did not have it. Its
 * generation is set then. Also false if the table is full: otherwise each
 * reading would write the mapping again.
 */
bool map_table_take(struct map_table *t, struct cdp_map *m);

void map_table_end(struct map_table *t);

/* Is @ip in an executable mapping of the last reading? Context: any. */
bool map_table_has_code(const struct map_table *t, uint64_t ip);

/* The range among @n, by rising address, that holds @addr, or NULL. */
const struct map_range *map_range_at(const struct map_range *r, uint32_t n,
				     uint64_t addr);

#endif
