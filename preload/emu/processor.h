/* SPDX-License-Identifier: MIT */
/*
 * processor - the threads that take turns share one processor of the host
 *
 * One thread runs at a time, so a second processor brings nothing, and to wake
 * the next thread on another one costs two to three times as much. So while the
 * program has several threads, all are bound to one processor. If others want
 * that one too, they are loose for a while, so that the kernel can find a
 * better one.
 *
 * They are also scheduled as SCHED_BATCH: the thread that is woken does not
 * interrupt the one that wakes it, which is about to wait. Otherwise most turns
 * would need two switches of threads instead of one.
 *
 * The program must not see it. What it asks the kernel about this is answered
 * as if nothing were changed. If it schedules threads itself, or asks in a way
 * that is not answered so, nothing is changed from there on. Children, and
 * programs that it executes, begin as they would without a profiler.
 */
#ifndef COMDET_PRELOAD_EMU_PROCESSOR_H
#define COMDET_PRELOAD_EMU_PROCESSOR_H

#include <stdint.h>

/* Context: set-up, with one thread. */
void emu_processor_init(void);

/* The program creates a thread, its second or a later one. Context: the thread
 * that creates it. */
void emu_processor_share(void);

/* A turn has ended. Context: the thread that had it, with the scheduler's
 * lock. */
void emu_processor_turn(void);

/* A system call begins, and ends. Context: the thread itself. */
void emu_processor_call(int64_t number, const uint64_t *arg);
void emu_processor_return(int64_t number);

/* In a forked child, before emu_processor_init if it is profiled. */
void emu_processor_forget(void);

#endif
