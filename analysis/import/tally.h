/* SPDX-License-Identifier: MIT */
/*
 * tally - samples of a process summed by instruction and cache line
 *
 * The sums are those of struct cdp_memory_tally.
 */
#ifndef COMDET_ANALYSIS_IMPORT_TALLY_H
#define COMDET_ANALYSIS_IMPORT_TALLY_H

#include "import.h"
#include "src/store/cdp.h"

struct import_tally_entry {
	struct cdp_memory record;
};

/* Zeroed, it is empty. */
struct import_tally {
	struct import_tally_entry *entry;
	size_t entries, entries_room;
	uint32_t *slot; /* hash table: number of the entry, plus one */
	size_t slots;   /* a power of two */
};

void import_tally_add(struct import_tally *t, enum cdp_memory_kind kind,
		      uint64_t address, const struct import_sample *s);

/*
 * Order groups of entries with the same address, most periods first; keep at
 * most @max entries and sum the others in entries with address 0.
 */
void import_tally_finish(struct import_tally *t, size_t max);

void import_tally_release(struct import_tally *t);

#endif
