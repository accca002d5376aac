/* SPDX-License-Identifier: MIT */
/*
 * marks_cond - which signal ended which wait for a condition variable
 *
 * A wait that ends takes the oldest signal that was sent after it began and
 * that no other wait has taken, or the oldest such broadcast. Call with a lock
 * of your own.
 */
#ifndef COMDET_PRELOAD_EMU_MARKS_COND_H
#define COMDET_PRELOAD_EMU_MARKS_COND_H

#include <stdbool.h>
#include <stdint.h>

void marks_cond_begin(unsigned int vcpu, uint64_t cond);

/* Returns whether a thread waits, so that the signal @number must be kept. */
bool marks_cond_send(uint64_t cond, uint64_t number, bool broadcast);

/* The number of what ended the wait; 0 if nothing did. */
uint64_t marks_cond_end(unsigned int vcpu);

void marks_cond_clear(void);

#endif
