/* SPDX-License-Identifier: MIT */
/*
 * reuse_internal - what the files of the module reuse share
 *
 * reuse.c has the engines, reuse_slots.c the ranges that they watch, and
 * reuse_registers.c arms these with debug registers.
 */
#ifndef COMDET_PRELOAD_INSTR_REUSE_INTERNAL_H
#define COMDET_PRELOAD_INSTR_REUSE_INTERNAL_H

#include <stdbool.h>
#include <stdint.h>

#include "state.h"
#include "src/base/access.h"
#include "src/engine/reuse.h"

/* The widest range that is watched is a line. */
#define INSTR_REUSE_LINE_BYTES 64

/* What one slot of an engine watches. */
struct instr_watched {
	_Atomic uint64_t range; /* address and bytes, 0: nothing */
	_Atomic uint32_t generation;
	_Atomic uint32_t thread; /* of the use */
	uint64_t marked; /* the marked range; for the thread that arms */
};

/* Context: set-up. */
void instr_reuse_slots_init(void);

/* The slots of an engine, behind @first slots of other engines. Any context. */
struct instr_watched *instr_reuse_slots(uint32_t first);

/*
 * Publish in @s the range of @w, or that nothing is watched. Context: handler.
 */
void instr_reuse_slots_arm(struct instr_watched *s,
			   const struct reuse_watched *w);
void instr_reuse_slots_disarm(struct instr_watched *s);

/*
 * False if no byte of @a is watched: most accesses that the hooks report share
 * only the line with a watched range. Any context.
 */
bool instr_reuse_slots_may_touch(const struct access *a);

/*
 * Of the @n slots at @s, from number @i on, find the first with a use that
 * access @a of thread @t may decide in an engine of @scope. Returns its number,
 * or @n. *@piece is the part of @a that touches the slot's range. Any context.
 */
uint32_t instr_reuse_slots_find(const struct instr_watched *s, uint32_t n,
				uint32_t i, enum reuse_scope scope,
				const struct thread *t, const struct access *a,
				struct access *piece, uint32_t *generation);

/* How the engine arms and disarms debug registers, for struct reuse_watch. */
int instr_reuse_registers_arm(void *ctx, const struct reuse_watched *w);
void instr_reuse_registers_disarm(void *ctx, uint32_t slot);

/*
 * Use @n debug registers for the slots of @reuse; 0: none, @reuse is NULL.
 * Context: set-up.
 */
void instr_reuse_registers_init(struct reuse *reuse, uint32_t n);

/*
 * Call this after access @a of the calling thread was sampled, if the thread
 * has registers. If the use is armed at the next hook, the engine gets @a as
 * its first access. Context: handler.
 */
void instr_reuse_registers_sampled(struct thread *t, const struct access *a);

/* Uses given up since the last call, because they trapped too often. */
uint64_t instr_reuse_registers_given_up(void);

#endif
