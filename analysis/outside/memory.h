/* SPDX-License-Identifier: MIT */
/*
 * memory - the memory of a watched process, as it was at an interrupt
 *
 * The registers in a sample are those of the interrupt; memory is read some
 * 60 us later, or 10 ms on a busy machine, and may have changed meanwhile. What
 * is read is therefore
 *
 *	exact     memory that the process cannot write to, and code;
 *	verified  writable memory whose whole cache line held the same bytes
 *	          when it was last read, a millisecond or more before the
 *	          interrupt: most likely it held them at the interrupt too;
 *	racy      all other writable memory. Nothing of it is handed out: the
 *	          reader gets -EFAULT, so no address that is published depends
 *	          on it.
 *
 * The kernel may have copied the first bytes of the thread's stack in the
 * interrupt (event_add_stack); these are exact.
 *
 * A walk over the thread's frames goes beyond that copy. There it believes
 * writable memory if the outermost bytes of the copy are still the same after
 * the reading: then the frames further out have most likely not returned.
 *
 * Pages of code are kept, because most reads are of code.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_MEMORY_H
#define COMDET_ANALYSIS_OUTSIDE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "space.h"
#include "src/x86/decode/memory.h"

struct memory_seen;
struct memory_code;

/* One for all processes. */
struct outside_memory {
	struct memory_seen *seen; /* lines, by their hash */
	struct memory_code *code; /* pages, by their hash */
	/* Of the sample at hand: */
	const struct space *space;
	uint64_t interrupt; /* its time, ns */
	bool verified;      /* verified memory was handed out */
	bool racy;          /* racy memory was asked for */
	bool walking;       /* over frames */
	/* The stack at the interrupt; the caller sets it, and clears it. */
	struct memory_copy {
		uint64_t at;
		const uint8_t *bytes;
		size_t n; /* 0: none */
	} stack;
	/* While walking there is this too, where the process has nothing. */
	struct memory_copy index;
};

void memory_init(struct outside_memory *m);
void memory_release(struct outside_memory *m);

/*
 * Read the memory of @space as it was at time @interrupt, CLOCK_MONOTONIC ns.
 * The result is for decoder and interpreter; it refers to @m.
 */
struct memory memory_at(struct outside_memory *m, const struct space *space,
			uint64_t interrupt);

/* Forget pages of code of @space: it has mapped or changed some. */
void memory_forget_code(struct outside_memory *m, const struct space *space);

/* Copy @n bytes at @addr of process @pid, as they are now. 0 or -errno. */
int memory_peek(pid_t pid, uint64_t addr, void *buf, size_t n);

#endif
