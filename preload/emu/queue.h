/* SPDX-License-Identifier: MIT */
/*
 * queue - the threads that wait for a turn, in their order
 *
 * Each is in it at most once. Context: the scheduler, with its lock.
 */
#ifndef COMDET_PRELOAD_EMU_QUEUE_H
#define COMDET_PRELOAD_EMU_QUEUE_H

void emu_queue_init(void);
unsigned int emu_queue_length(void);
/* Number @i of those in the queue; 0 is the next. */
unsigned int emu_queue_at(unsigned int i);
void emu_queue_append(unsigned int index);
/* Take the next out. */
unsigned int emu_queue_take(void);
/* Take out thread @index, if it is in it. */
void emu_queue_remove(unsigned int index);

#endif
