/* SPDX-License-Identifier: MIT */
/*
 * exact - every access through the directory of src/exact/directory.h
 *
 * Used with config.exact only.
 */
#ifndef COMDET_PRELOAD_EMU_EXACT_H
#define COMDET_PRELOAD_EMU_EXACT_H

struct vcpu;

/* Returns 0 or -errno. Context: set-up. */
int emu_exact_init(void);

/* The thread takes part between these two. */
void emu_exact_start(struct vcpu *v);
void emu_exact_end(struct vcpu *v);

/* Write the results. */
void emu_exact_finish(void);

#endif
