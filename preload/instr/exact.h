/* SPDX-License-Identifier: MIT */
/*
 * exact - every access of instrumented code through the directory
 *
 * Used with config.exact only.
 */
#ifndef COMDET_PRELOAD_INSTR_EXACT_H
#define COMDET_PRELOAD_INSTR_EXACT_H

#include <stdint.h>

#include "src/base/access.h"

struct thread;

/* Returns 0 or -errno. Context: set-up. */
int instr_exact_init(void);

/* The calling thread takes part between these two. */
void instr_exact_start(struct thread *t);
void instr_exact_end(struct thread *t);

/*
 * Access @a of the calling thread. @taken and @ctx as for exact_access_then.
 * Context: the program's code.
 */
void instr_exact_access(struct thread *t, const struct access *a,
			void (*taken)(void *ctx), void *ctx);

/*
 * Write the results. Returns how many threads got the number of an ended one.
 */
uint32_t instr_exact_finish(void);

#endif
