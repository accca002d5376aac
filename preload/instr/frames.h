/* SPDX-License-Identifier: MIT */
/*
 * frames - where the hooks keep frames, and the paths of calls made of them
 *
 * Without config.paths these functions do nothing.
 */
#ifndef COMDET_PRELOAD_INSTR_FRAMES_H
#define COMDET_PRELOAD_INSTR_FRAMES_H

#include <stdint.h>

#include "runtime/instr.h"

struct thread;

/* Returns 0 or -ENOMEM. Context: set-up. */
int instr_frames_init(void);

/*
 * Make the hooks @h of the calling thread, @t or NULL, keep their frames from
 * here on. Any context.
 */
void instr_frames_begin(struct thread *t, struct instr_thread *h);

/* Let go of all frames of @t, the calling thread, which ends. */
void instr_frames_end(struct thread *t);

/* In a forked child: let go of the frames that @h kept in the parent. */
void instr_frames_forget(struct instr_thread *h);

/*
 * Find the path of calls to the access at @ip of @t, the calling thread, with
 * stack pointer @sp. The engines record it with the accesses that they get from
 * here on. Context: handler.
 */
void instr_frames_path(struct thread *t, uint64_t sp, uint64_t ip);

/* How many paths are not complete, or found no room. */
uint64_t instr_frames_lost(void);

#endif
