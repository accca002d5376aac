/* SPDX-License-Identifier: MIT */
/*
 * lookahead - from a sampled access to the thread's next hook
 */
#ifndef COMDET_PRELOAD_INSTR_LOOKAHEAD_H
#define COMDET_PRELOAD_INSTR_LOOKAHEAD_H

#include <stdint.h>

#include "runtime/instr.h"
#include "src/engine/comm.h"

struct thread;

/*
 * Emulate @t from where a hook returns to @from up to its next hook. Returns
 * the address of the call of that hook if the bytes @w are accessed exactly
 * once until then; 0 if they are not, or if the code cannot be followed.
 * Context: an event of @t.
 */
uint64_t instr_lookahead(struct thread *t, const struct instr_call *from,
			 const struct watch_range *w);

#endif
