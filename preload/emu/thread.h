/* SPDX-License-Identifier: MIT */
/*
 * thread - the program's threads, from their begin to their end
 */
#ifndef COMDET_PRELOAD_EMU_THREAD_H
#define COMDET_PRELOAD_EMU_THREAD_H

/* Returns 0 or -errno. Context: set-up. */
int emu_thread_init(void);

/* Processor @index is a new thread. Context: the thread that creates it. */
void emu_thread_start(unsigned int index);

/* It ends. Context: the thread itself. */
void emu_thread_end(unsigned int index);

/* Bring its row up to date. Context: the thread itself. */
void emu_thread_flush(unsigned int index);

/*
 * At the end of the process: close all rows. A thread that is still in a
 * callback may go on counting, but those counts are not written.
 */
void emu_thread_finish(void);

#endif
