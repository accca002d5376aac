/* SPDX-License-Identifier: MIT */
/*
 * reuse - reuse times from the samples of the source instr
 *
 * Used with config.reuse only.
 */
#ifndef COMDET_PRELOAD_INSTR_REUSE_H
#define COMDET_PRELOAD_INSTR_REUSE_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"
#include "src/base/access.h"

struct cpu_state;
struct watch_signal;

/*
 * Watch with @registers debug registers, 0: in software. Returns 0 or -errno.
 * Context: set-up.
 */
int instr_reuse_init(uint32_t registers);

/* True if debug registers watch uses in this process. Any context. */
bool instr_reuse_by_registers(void);

/* What a register is to watch for slot @slot; false: nothing. Any context. */
bool instr_reuse_slot(uint32_t slot, struct instr_slot *s);

/* In a forked child: the registers were the parent's. Context: set-up. */
void instr_reuse_after_fork(void);

/* The calling thread takes part from here on. Context: handler. */
void instr_reuse_start(struct thread *t);
void instr_reuse_end(struct thread *t);

/* True if access @a of @t may decide a use that is watched. Any context. */
bool instr_reuse_watches(const struct thread *t, const struct access *a);

/*
 * Access @a of the calling thread, with stack pointer @sp, may decide uses, or
 * is a sample. Context: handler.
 */
void instr_reuse_trap(struct thread *t, const struct access *a, uint64_t sp);
void instr_reuse_sample(struct thread *t, const struct access *a, uint64_t sp);

/*
 * Handle the trap of one of the calling thread's registers. Context: handler.
 */
void instr_reuse_register(struct thread *t, const struct watch_signal *what,
			  const struct cpu_state *cpu);

/*
 * The next hook after a sample was called at @ip. If that is not the call at
 * which a use waits to be armed, the use is lost. Context: handler.
 */
void instr_reuse_hook(struct thread *t, uint64_t ip);

/* Write the results; uses still watched are recorded as dangling. */
void instr_reuse_finish(void);

#endif
