/* SPDX-License-Identifier: MIT */
/*
 * vcpu - what a thread does to its own struct vcpu and row of the file
 */
#ifndef COMDET_PRELOAD_EMU_VCPU_H
#define COMDET_PRELOAD_EMU_VCPU_H

#include "state.h"

/* In the thread itself: put its id, name, CPU time and counts into its row. */
void emu_vcpu_refresh(struct vcpu *v);

/* Put its counts into its row. */
void emu_vcpu_put_counts(struct vcpu *v);

/* Stop all counting and sampling: the thread has no row. */
void emu_vcpu_mute(struct vcpu *v);

#endif
