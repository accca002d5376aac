/* SPDX-License-Identifier: MIT */
/*
 * unwind - the calls that led to where a thread is
 *
 * From the registers of a thread, frame by frame, by what .eh_frame says of
 * each function. Code that no .eh_frame describes (a JIT compiler's) is taken
 * to keep a frame pointer. Memory is read by the caller's function alone, which
 * never faults, so a damaged stack or table ends a path early and does no harm.
 *
 * Context: any, handler included, as far as the caller's functions allow. No
 * allocation, no lock, 6 KiB of stack.
 */
#ifndef COMDET_UNWIND_UNWIND_H
#define COMDET_UNWIND_UNWIND_H

#include "registers.h"
#include "space.h"

enum unwind_end {
	UNWIND_START,    /* where the thread began: a function without caller */
	UNWIND_FULL,     /* there is no room for more frames */
	UNWIND_NO_CODE,  /* in no object, and no frame pointer leads on */
	UNWIND_NO_RULE,  /* the object does not describe this code, likewise */
	UNWIND_BAD_RULE, /* a description that is damaged, or not understood */
	UNWIND_UNREADABLE, /* stack that cannot be read */
	UNWIND_LOOP,       /* a frame that does not lead outward */
	UNWIND_ENDS
};

/*
 * The frames of the thread with @regs, innermost first, at most @max in @frame;
 * *@end says why there are no more. @regs is changed. Returns how many.
 */
unsigned unwind_frames(const struct unwind_space *space,
		       struct unwind_registers *regs,
		       struct unwind_frame *frame, unsigned max,
		       enum unwind_end *end);

/* The start of the function at @pc. False if no .eh_frame describes it. */
bool unwind_function(const struct unwind_space *space, uint64_t pc,
		     uint64_t *start);

#endif
