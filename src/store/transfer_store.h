/* SPDX-License-Identifier: MIT */
/*
 * transfer_store - write estimated transfers to the file (CDP_TRANSFERS)
 */
#ifndef COMDET_STORE_TRANSFER_STORE_H
#define COMDET_STORE_TRANSFER_STORE_H

#include "src/engine/comm.h"
#include "store.h"
#include "src/engine/transfer_tally.h"

/*
 * The detection that the map shows for a transfer of @line, sampled with
 * @period. It stands for as much as the transfer does.
 */
struct detection transfer_detection(const struct transfer_event *e,
				    uint64_t line, uint64_t period);

/*
 * Write the cells of threads with ids below @threads, the total, and how it was
 * sampled. A later call replaces the records of earlier ones. If there is no
 * room, count LOSS_STORE_FULL.
 *
 * Context: any; one call at a time for one @w.
 */
void transfer_store(struct store *s, struct store_writer *w,
		    const struct transfer_tally *tally,
		    const struct transfer_stats *stats, uint32_t threads,
		    const struct transfer_sampling *sampling);

#endif
