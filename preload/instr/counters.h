/* SPDX-License-Identifier: MIT */
/*
 * counters - accesses of the calling thread, as its hooks count them
 *
 * @h are the calling thread's hooks of one library. Any context.
 */
#ifndef COMDET_PRELOAD_INSTR_COUNTERS_H
#define COMDET_PRELOAD_INSTR_COUNTERS_H

#include <stdint.h>

#include "runtime/instr.h"

#define INSTR_FAR (INT64_C(1) << 60) /* no counter runs that far */

struct thread;

/* Context: set-up. */
void instr_counters_init(void);

/* Count down @n accesses of @class from here to the next event. */
void instr_counters_load(struct instr_thread *h, enum instr_class class,
			 int64_t n);

/* Make the next access of each class an event. */
void instr_counters_expect(struct instr_thread *h);

/* Move the counts of @h to the row of @t, the calling thread. */
void instr_counters_flush(struct thread *t, struct instr_thread *h);
/* The same for its hooks of all libraries. */
void instr_counters_flush_all(struct thread *t);

/* In a forked child: drop the counts that the parent made. */
void instr_counters_forget(struct instr_thread *h);

/* Accesses of @t, the calling thread, up to now. */
uint64_t instr_counters_accesses(const struct thread *t);

/* Flushed accesses of all threads: the time of runtime.comm. */
uint64_t instr_ticks(void);

#endif
