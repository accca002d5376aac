/* SPDX-License-Identifier: MIT */
/*
 * callers - the calls that led to the accesses of watched threads (-g)
 *
 * As preload/sources/callers.h, from outside: the kernel has copied registers
 * and stack in the interrupt (memory.h), and the tables of the target's objects
 * are read from its memory. Nothing there is trusted (src/unwind).
 *
 * Zero-initialized, a struct callers finds no paths.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_CALLERS_H
#define COMDET_ANALYSIS_OUTSIDE_CALLERS_H

#include <stdbool.h>

#include "memory.h"
#include "record.h"
#include "tasks.h"

/* One for all processes. */
struct callers {
	struct row_cache *rows; /* NULL: paths are not asked for */
};

void callers_init(struct callers *c);
void callers_release(struct callers *c);

/* Free what belongs to @p. */
void callers_end_process(struct task_process *p);

/*
 * The access of @choice, which was chosen for @t at the record @r, is handed to
 * the engine next. @m is the memory that it was chosen with. False if its path
 * does not lead to the start of the thread.
 */
bool callers_of_choice(struct callers *c, struct outside_memory *m,
		       struct task_thread *t, const struct outside_record *r,
		       const struct choice *choice);

/* The same for access @a, just made by @t; NULL: it is not known. */
bool callers_of_trap(struct callers *c, struct outside_memory *m,
		     struct task_thread *t, const struct outside_record *r,
		     const struct access *a);

/*
 * Count detection @d of @t by its paths, if it has any. Those of two processes
 * have paths in two files, and are not counted. Returns 0 or -errno.
 */
int callers_detected(struct task_thread *t, const struct detection *d);

#endif
