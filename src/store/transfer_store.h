/* SPDX-License-Identifier: MIT */
/*
 * transfer_store - what was estimated, into the file (CDP_TRANSFERS)
 */
#ifndef COMDET_STORE_TRANSFER_STORE_H
#define COMDET_STORE_TRANSFER_STORE_H

#include "src/engine/comm.h"
#include "store.h"
#include "src/engine/transfer_tally.h"

/*
 * What the map shows of a transfer of @line that was seen, by samples @period
 * apart: a detection that stands for as much as the transfer does.
 */
struct detection transfer_detection(const struct transfer_event *e,
				    uint64_t line, uint64_t period);

/*
 * Write @tally's cells of threads with ids below @threads, its total, and how
 * it was sampled. Later calls replace what earlier ones have written. What
 * finds no room is counted as LOSS_STORE_FULL.
 *
 * Context: any; for one @w at a time.
 */
void transfer_store(struct store *s, struct store_writer *w,
		    const struct transfer_tally *tally,
		    const struct transfer_stats *stats, uint32_t threads,
		    const struct transfer_sampling *sampling);

#endif
