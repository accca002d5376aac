/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers from the samples of the source instr
 *
 * Used unless config.algorithm is the map.
 */
#ifndef COMDET_PRELOAD_INSTR_TRANSFER_H
#define COMDET_PRELOAD_INSTR_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"

struct thread;

/*
 * Watch with @registers debug registers if @hardware, else in software. With
 * @lines each register covers a line. Returns 0 or -errno. Context: set-up.
 */
int instr_transfer_init(bool hardware, bool lines, uint32_t registers);

/* The calling thread takes part from here on. Context: handler. */
void instr_transfer_start(struct thread *t);

/* Access @a of the calling thread is a sample. Context: handler. */
void instr_transfer_sample(struct thread *t, const struct access *a);

/* Access @a of the calling thread touches what @slot watches. Handler. */
void instr_transfer_trap(struct thread *t, uint32_t slot, uint32_t generation,
			 uint32_t range, const struct access *a);

/*
 * True if an access with @flags to what @slot watches may matter to the
 * estimator. Any context.
 */
bool instr_transfer_needs(const struct thread *t, uint32_t slot,
			  uint32_t flags);

/* Write the results; with @last nothing more will come. */
void instr_transfer_finish(bool last);

#endif
