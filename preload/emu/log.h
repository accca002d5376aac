/* SPDX-License-Identifier: MIT */
/*
 * log - every sample into a file, to check how they are chosen
 *
 * Of the process that began the run, or of the program that it executed last.
 */
#ifndef COMDET_PRELOAD_EMU_LOG_H
#define COMDET_PRELOAD_EMU_LOG_H

#include "state.h"

/*
 * Open the file that COMDET_SAMPLE_LOG names, if it names one. Returns 0 or
 * -errno. Context: set-up.
 */
int emu_log_open(void);

/* In a forked child: the file is the parent's. */
void emu_log_close(void);

void emu_log_add(const struct vcpu *v, const struct access *a);

#endif
