/* SPDX-License-Identifier: MIT */
/*
 * source - the source instr: hooks in the program report its accesses
 *
 * libcomdet-instr (runtime/) counts the accesses of code compiled with
 * -fsanitize=thread. It reports an access when a counter runs out or when its
 * line is watched; no clock runs. Such an event comes in ordinary context, in
 * the middle of the program's code or of one of its signal handlers. We handle
 * it with all signals blocked, on the thread's handler stack, so that the rules
 * for handlers hold for it.
 *
 * Samples go to an estimator of transfers (src/engine/transfer.h), to the map
 * (src/engine/comm.h) with the algorithm comdetective, or with config.reuse to
 * the engines of src/engine/reuse.h. With config.exact every access also goes
 * through the directory of src/exact/directory.h.
 */
#ifndef COMDET_PRELOAD_INSTR_SOURCE_H
#define COMDET_PRELOAD_INSTR_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "preload/core/source.h"

extern const struct source_ops instr_source;

/* True if this is the source of this process. Any context. */
bool instr_is_source(void);

#endif
