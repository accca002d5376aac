/* SPDX-License-Identifier: MIT */
/*
 * access_path - the calls that led to an access that choose.c has chosen
 *
 * An access that the interpreter chose lies ahead of the interrupt, perhaps in
 * another function. Its window is then interpreted again up to it, and the walk
 * begins with the registers and the stack that the thread has there.
 *
 * Context: any, handler included, as far as the caller's functions allow. No
 * allocation, 16 KiB of stack.
 */
#ifndef COMDET_CALLERS_ACCESS_PATH_H
#define COMDET_CALLERS_ACCESS_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "src/store/path_table.h"
#include "src/unwind/unwind.h"
#include "src/x86/choose.h"

enum {
	PATH_FRAMES_MAX = 128,
};

struct path_finder {
	struct unwind_space space; /* memory: as the thread has it */
	struct path_table *table;
	uint64_t (*map_generation)(uint64_t ip); /* for path_table_put */
	/* If not NULL, it is true while frames are walked. */
	bool *walking;
	/* Set by each function below: the walk did not reach the start. */
	bool ends_early;
};

/* The registers @gpr, in the order of encoding, of those in @known, and @rip.
 */
struct unwind_registers path_registers(const uint64_t gpr[16], uint32_t known,
				       uint64_t rip);

/* The frames of a thread with @regs, innermost first. Returns how many. */
unsigned path_walk(struct path_finder *f, struct unwind_registers *regs,
		   struct unwind_frame frame[PATH_FRAMES_MAX]);

/*
 * The number of the path of @n frames of which the first @skipped are left out,
 * innermost first; 0: none. If space.last is not NULL, the frames behind
 * frame[@skipped] are those of the last walk.
 */
uint32_t path_number(const struct path_finder *f,
		     const struct unwind_frame *frame, unsigned skipped,
		     unsigned n);

/* The number of the path of an instruction whose callers are not known. */
uint32_t path_alone(const struct path_finder *f, uint64_t ip);

/* The path of an access that the thread has just made; it is now at @cpu. */
uint32_t path_behind(struct path_finder *f, const struct cpu_state *cpu,
		     const struct access *a);

/*
 * The path of the access of @c, which was chosen with @choose at @cpu. The
 * choice's memory must still be there.
 */
uint32_t path_of_choice(struct path_finder *f, struct choose *choose,
			const struct cpu_state *cpu, const struct choice *c);

#endif
