/* SPDX-License-Identifier: MIT */
/*
 * prefetches - which accesses of a thread a prefetcher would have asked for
 *
 * What a prefetcher of machine.h asks for follows from the misses of L1D, and
 * from what L2 has. A profile is for any machine, so these stand for them: the
 * misses of an L1D of 64 sets and 8 ways (32 KiB); as L2 a table of the latest
 * 4,096 lines that missed or were asked for (256 KiB, one way); and as the last
 * cache one of 131,072 that left that table before they were used (8 MiB).
 * A line that a program streams through misses in these, as in most other ones.
 * For the prefetcher stream the misses are enough: it has what streams.h says,
 * however far it runs ahead.
 */
#ifndef COMDET_ANALYSIS_PREDICT_PREFETCHES_H
#define COMDET_ANALYSIS_PREDICT_PREFETCHES_H

#include "workload.h"

struct prefetches;

struct prefetches *prefetches_new(void); /* free() it */

/*
 * The micro-operation number @uop of @t, of the instruction at @ip (0: not
 * known, of no stream), uses @line; @a says how far back, and
 * then also which prefetchers asked for the line, and whether they ask for
 * another one now. In a micro-trace the next access of @t becomes @a, or the
 * access of another line by the same micro-operation.
 */
void prefetches_add(struct prefetches *p, struct workload_thread *t,
		    uint64_t ip, uint64_t line, uint32_t uop, bool in_micro,
		    struct micro_access *a);

/* Fetch what a use of @line reads, for a use soon. */
void prefetches_fetch(const struct prefetches *p, uint64_t line);

#endif
