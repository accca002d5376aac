/* SPDX-License-Identifier: MIT */
/*
 * reuse_exact - every reuse of lines, and every stack distance
 *
 * Used with one of EMU_REUSE_MODES and config.exact only.
 */
#ifndef COMDET_PRELOAD_EMU_REUSE_EXACT_H
#define COMDET_PRELOAD_EMU_REUSE_EXACT_H

#include "src/base/access.h"

struct vcpu;

/* Returns 0 or -errno. Context: set-up. */
int emu_reuse_exact_init(void);

/* The thread takes part between these two. */
void emu_reuse_exact_start(struct vcpu *v);
void emu_reuse_exact_end(struct vcpu *v);

void emu_reuse_exact_access(struct vcpu *v, const struct access *a);

/* Write the results; later accesses are not counted. */
void emu_reuse_exact_finish(void);

#endif
