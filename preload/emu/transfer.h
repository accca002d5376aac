/* SPDX-License-Identifier: MIT */
/*
 * transfer - estimate transfers, with simulated watches over all threads
 *
 * Used unless config.algorithm is the map.
 */
#ifndef COMDET_PRELOAD_EMU_TRANSFER_H
#define COMDET_PRELOAD_EMU_TRANSFER_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"

/* Not 0 for the hash of a watched line. */
extern _Atomic uint8_t emu_watched[EMU_WATCHED];

/* Not 0 if the line of @addr may be watched. Any context. */
static inline uint8_t emu_transfer_watches(uint64_t addr)
{
	return atomic_load_explicit(
		&emu_watched[(addr >> EMU_LINE_SHIFT) % EMU_WATCHED],
		memory_order_relaxed);
}

/* Returns 0 or -errno. Context: set-up. */
int emu_transfer_init(void);

/* The thread is about to begin. */
void emu_transfer_start(struct vcpu *v);

/* Access @a, or one of the @parts that it consists of, is a sample. */
void emu_transfer_sample(struct vcpu *v, const struct access *a, uint32_t parts,
			 uint64_t now);

/* Access @a may be to a watched line. */
void emu_transfer_trap(struct vcpu *v, const struct access *a, uint64_t now);

/* Write the results; with @last nothing more will come. */
void emu_transfer_finish(bool last);

#endif
