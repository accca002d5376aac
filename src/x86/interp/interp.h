/* SPDX-License-Identifier: MIT */
/*
 * interp - execute the program's upcoming instructions on a copy
 *
 * From an interrupted context, the real upcoming instructions are carried out
 * on a copy of registers, flags and memory (stores go to a private buffer).
 * The accesses come out with exact addresses, and no trap is taken. Memory is
 * read only where an address or a branch needs it. Where a value cannot be
 * computed it is marked unknown; interpretation ends only when an address or
 * a branch depends on such a value. What was interpreted is exact: the program
 * reaches the same instructions with the same addresses unless another thread
 * changes what they depend on, a signal intervenes, or an access faults.
 *
 * Context: any, handler included. No allocation, no lock, little stack: all
 * state is in struct interp, one per thread.
 */
#ifndef COMDET_X86_INTERP_INTERP_H
#define COMDET_X86_INTERP_INTERP_H

#include <stdbool.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/memory.h"

enum {
	WINDOW_ACCESSES_MIN = 24,
	WINDOW_ACCESSES_MAX = 128,
	WINDOW_INSTRUCTIONS_MAX = 400,
	SHORT_WINDOW_ACCESSES = 32,
	SHORT_WINDOW_INSTRUCTIONS = 100,
};

enum interp_end {
	INTERP_CLOSED,     /* back at the first instruction */
	INTERP_FULL,       /* accesses or instructions at their limit */
	INTERP_REACHED,    /* access number @stop_at is in */
	INTERP_SYSCALL,    /* the kernel takes over, or int3, hlt, ... */
	INTERP_UNDECODED,  /* not an instruction, or one we do not know */
	INTERP_UNREADABLE, /* code that cannot be read */
	INTERP_UNKNOWN_ADDRESS,
	INTERP_UNKNOWN_PATH,
};

struct interp; /* state.h */

/* Bytes of a struct interp, which the caller provides zeroed, 64-aligned. */
extern const uint32_t interp_bytes;

/*
 * Begin a window at @cpu. What @cpu and @mem point to must stay as it is
 * until the last interp_run of the window.
 */
void interp_begin(struct interp *in, const struct cpu_state *cpu,
		  const struct memory *mem);

/*
 * Go on after interp_run ended with an unknown: the thread really is at @cpu
 * now (the instruction it ended on). The accesses so far stay.
 */
void interp_resume(struct interp *in, const struct cpu_state *cpu,
		   const struct memory *mem);

/*
 * End the window that was just begun at SHORT_WINDOW_* at the latest: where a
 * part of the path is as good, and its time and memory are not worth the rest.
 */
void interp_shorten(struct interp *in);

/*
 * Interpret until @stop_at accesses are in (0: until the window is complete,
 * as WINDOW_* say: at least the minimum, then on to the next return to the
 * starting instruction; at a limit, back to the last such return if there was
 * one). Implicit stack accesses count; each repetition of a string instruction
 * is an instruction with accesses of its own. On an unknown the accesses
 * before it remain; interp_ip() is the instruction it ended on. After
 * INTERP_REACHED a larger @stop_at goes on; after an unknown interp_resume
 * does; any other end is final.
 */
enum interp_end interp_run(struct interp *in, uint32_t stop_at);

uint32_t interp_count(const struct interp *in);
const struct access *interp_access(const struct interp *in, uint32_t i);
uint64_t interp_ip(const struct interp *in);
uint32_t interp_instructions(const struct interp *in);

/*
 * True if the instruction that the last interp_run ended on already occurred
 * in the window; *@count is then how many accesses were in when it first did.
 * A breakpoint there would stop at that first occurrence.
 */
bool interp_first_visit(const struct interp *in, uint32_t *count);

#endif
