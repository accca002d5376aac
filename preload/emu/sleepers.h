/* SPDX-License-Identifier: MIT */
/*
 * sleepers - the threads that sleep for a time of the simulated machine
 *
 * Context: the scheduler, with its lock.
 */
#ifndef COMDET_PRELOAD_EMU_SLEEPERS_H
#define COMDET_PRELOAD_EMU_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>

void emu_sleepers_init(void);
/* Thread @index sleeps until @due. */
void emu_sleepers_add(unsigned int index, uint64_t due);
/* It sleeps no more. */
void emu_sleepers_remove(unsigned int index);
/* Who wakes first, and when; the first to sleep of several. False if nobody. */
bool emu_sleepers_next(unsigned int *index, uint64_t *due);

#endif
