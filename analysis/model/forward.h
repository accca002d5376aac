/* SPDX-License-Identifier: MIT */
/*
 * forward - stores whose data loads can take before they reach the cache
 *
 * The stores among the last core.rob micro-operations, by the 8 aligned bytes
 * at their address.
 */
#ifndef COMDET_ANALYSIS_MODEL_FORWARD_H
#define COMDET_ANALYSIS_MODEL_FORWARD_H

#include <stdint.h>

struct forward;

struct forward *forward_new(uint32_t rob); /* free() it */

/*
 * Micro-operation @number stores to @addr what is ready at @ready. It holds it
 * until @until, when its access is complete.
 */
void forward_store(struct forward *f, uint64_t addr, uint64_t number,
		   uint64_t ready, uint64_t until);

/*
 * The cycle from which what micro-operation @number loads from @addr is ready:
 * that of the latest store that is still in the ROB, or 0. *@until: until when
 * that store holds it.
 */
uint64_t forward_ready(const struct forward *f, uint64_t addr, uint64_t number,
		       uint64_t *until);

#endif
