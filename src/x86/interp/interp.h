/* SPDX-License-Identifier: MIT */
/*
 * interp - execute the program's coming instructions on a copy
 *
 * The interpreter starts from the registers of an interrupted thread and
 * executes its next instructions on a copy of registers, flags and memory;
 * stores go to a private buffer. So the coming accesses are found, with exact
 * addresses and without a trap. Memory is read only where an address or a
 * branch needs the value. A value that cannot be computed is marked unknown;
 * interpretation ends only if an address or a branch depends on it. The result
 * is exact: the program will execute the same instructions with the same
 * addresses unless another thread changes a value that they depend on, a
 * signal arrives, or an access faults.
 *
 * Context: any, handler included. No allocation, no lock, little stack: all
 * state is in struct interp, one per thread.
 */
#ifndef COMDET_X86_INTERP_INTERP_H
#define COMDET_X86_INTERP_INTERP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"
#include "src/x86/decode/cpu_state.h"
#include "src/x86/decode/memory.h"

enum {
	WINDOW_ACCESSES_MIN = 24,
	WINDOW_INSTRUCTIONS_MIN = 128,
	WINDOW_ACCESSES_MAX = 128,
	WINDOW_INSTRUCTIONS_MAX = 400,
};

/*
 * A window is complete when it has an access, and accesses_min of them or
 * instructions_min instructions, and then returns to the starting instruction.
 * No maximum may be larger than WINDOW_*_MAX.
 */
struct interp_limits {
	uint32_t accesses_min, instructions_min;
	uint32_t accesses_max, instructions_max;
};

enum interp_end {
	INTERP_CLOSED,     /* back at the first instruction */
	INTERP_FULL,       /* the limit of accesses or instructions */
	INTERP_REACHED,    /* as many accesses as were asked for */
	INTERP_SYSCALL,    /* a system call, int3, hlt, ... */
	INTERP_UNDECODED,  /* no instruction, or accesses not modelled */
	INTERP_UNREADABLE, /* code that cannot be read */
	INTERP_UNKNOWN_ADDRESS,
	INTERP_UNKNOWN_PATH,
};

struct interp; /* state.h */

/* Size of a struct interp; the caller provides it zeroed and 64-aligned. */
extern const uint32_t interp_bytes;

/*
 * Begin a window at @cpu. @mem and what @cpu points to must stay as they are
 * until the last interp_run of the window.
 */
void interp_begin(struct interp *in, const struct cpu_state *cpu,
		  const struct memory *mem);

/*
 * Continue a window that interp_run ended with INTERP_UNKNOWN_*: the thread
 * has now reached that instruction, with registers @cpu. The accesses found so
 * far are kept.
 */
void interp_resume(struct interp *in, const struct cpu_state *cpu,
		   const struct memory *mem);

/* Use @limits for the window that was just begun, instead of WINDOW_*. */
void interp_limit(struct interp *in, const struct interp_limits *limits);

/*
 * Let the window that was just begun end with INTERP_REACHED at @count
 * accesses, if it has not returned to the starting instruction before and so
 * cannot be cut to less. Ends with its next resumption.
 */
void interp_stop_open(struct interp *in, uint32_t count);

/*
 * Interpret until there are @stop_at accesses, or, if @stop_at is 0, until the
 * window is complete. At the limit of accesses or instructions it is cut at the
 * last return to the starting instruction, if there was one. Implicit stack
 * accesses count. Each repetition of a string instruction counts as an
 * instruction with its own accesses.
 *
 * At INTERP_UNKNOWN_* the accesses before it remain, and interp_ip() is the
 * instruction that was not executed; interp_resume continues from there. After
 * INTERP_REACHED, interp_run continues with a larger @stop_at. Any other end
 * is final.
 */
enum interp_end interp_run(struct interp *in, uint32_t stop_at);

uint32_t interp_count(const struct interp *in);
const struct access *interp_access(const struct interp *in, uint32_t i);
uint64_t interp_ip(const struct interp *in);
uint32_t interp_instructions(const struct interp *in);

/*
 * True if the instruction that the last interp_run ended on occurred in the
 * window before; *@count is then the number of accesses before its first
 * occurrence. A breakpoint on it would stop at that first occurrence.
 */
bool interp_first_visit(const struct interp *in, uint32_t *count);

/*
 * Interpret the window once more from where it began, up to the instruction
 * that makes access @i; once a window. Loads that the window did not need stay
 * unread, so that registers and stored bytes may not be known. Returns false if
 * the window was resumed behind it, or if memory has changed meanwhile. Until
 * the next window interp_registers and interp_read then tell what the thread
 * has there. What interp_begin was given must still be there.
 */
bool interp_replay(struct interp *in, uint32_t i);

/* The same once more after interp_replay, with every load read. */
bool interp_replay_all(struct interp *in);

/* The registers, in the order of instruction encoding; a bit each if known. */
uint32_t interp_registers(const struct interp *in, uint64_t gpr[16]);

/*
 * Memory as the thread will see it: a function for struct memory, whose context
 * is a struct interp. Where bytes are asked for that are not known it returns
 * -EFAULT, and after interp_replay_all they are zero.
 */
int interp_read(void *in, uint64_t addr, void *buf, size_t n);

#endif
