/* SPDX-License-Identifier: MIT */
/*
 * reuse - reuse times from samples, watched in software
 *
 * Used with one of EMU_REUSE_MODES only.
 */
#ifndef COMDET_PRELOAD_EMU_REUSE_H
#define COMDET_PRELOAD_EMU_REUSE_H

#include "state.h"

/* For reuse_may_watch. */
extern const _Atomic uint8_t *emu_reuse_bytes;

/* Returns 0 or -errno. Context: set-up. */
int emu_reuse_init(void);

/* The thread takes part between these two. */
void emu_reuse_start(struct vcpu *v);
void emu_reuse_end(struct vcpu *v);

/* Access @a is a sample. */
void emu_reuse_sample(struct vcpu *v, const struct access *a);

/* Access @a may touch a watched range. Called before it is sampled. */
void emu_reuse_trap(struct vcpu *v, const struct access *a);

/* Record the uses that are still watched as dangling. */
void emu_reuse_finish(void);

#endif
