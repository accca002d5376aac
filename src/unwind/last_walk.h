/* SPDX-License-Identifier: MIT */
/*
 * last_walk - the frames of a thread's last walk, to be met again
 *
 * What a walk does from some frame outward follows from the frame's instruction
 * and stack pointer, from the return addresses that it meets, and from %rbp
 * where a function counts its frame from there. All these words are kept, and
 * where on the stack they were. When the next walk of the thread comes to one
 * of the frames, and all the words from there outward are the same, the rest of
 * the path is as well. Nothing is guessed: otherwise the walk goes on by rules.
 *
 * Context: any, handler included; one walk at a time. No allocation, no lock.
 */
#ifndef COMDET_UNWIND_LAST_WALK_H
#define COMDET_UNWIND_LAST_WALK_H

#include "cfi.h"
#include "space.h"

enum {
	LAST_WALK_FRAMES = 128,
};

struct walked_frame {
	uint64_t ip, sp;   /* as in struct unwind_frame */
	uint64_t identity; /* of its object */
	uint64_t pc_at; /* where its return address lies; 0: it has no caller */
	uint64_t rbp;   /* in this frame */
	uint64_t rbp_at; /* where its function saved that; 0: nowhere */
	uint32_t tag; /* what the user of the walk keeps with it; 0 at first */
	bool lasts;   /* the walk from here follows from what is kept */
	bool by_rbp;  /* the frame is counted from %rbp */
	bool needs_rbp; /* here or farther out, before it is loaded again */
};

/* Zeroed: there was none. */
struct last_walk {
	unsigned now;       /* the walk that is on its way, or was just made */
	unsigned frames[2]; /* of which the outer ones may be met again: */
	unsigned first[2];
	unsigned seek; /* in the other walk: no inner frame can be met */
	uint32_t user; /* whose tags they are */
	struct walked_frame frame[2][LAST_WALK_FRAMES];
};

/* Walks with the tags of another user than @user are forgotten. */
void last_walk_use(struct last_walk *w, uint32_t user);

void last_walk_begin(struct last_walk *w);

/* Frame @i of the walk is @frame, and nothing is known of what follows. */
void last_walk_add(struct last_walk *w, unsigned i,
		   const struct unwind_frame *frame);

/*
 * The caller of frame @i, a call, follows from @row of the object with
 * @identity, the CFA and @regs.
 */
void last_walk_note(struct last_walk *w, unsigned i, const struct cfi_row *row,
		    uint64_t identity, uint64_t cfa,
		    const struct unwind_registers *regs);

/*
 * If frame @n - 1 of @frame, a call with the registers @regs, was in the walk
 * before, and all that follows is as it was, add what follows, at most up to
 * @max, and return how many frames there are then. Otherwise returns 0. @stack
 * reads the stack of the thread.
 */
unsigned last_walk_meet(struct last_walk *w, const struct unwind_space *space,
			struct reader *stack,
			const struct unwind_registers *regs,
			struct unwind_frame *frame, unsigned n, unsigned max);

/* The walk has @n frames; @whole: it reached the start. */
void last_walk_end(struct last_walk *w, unsigned n, bool whole);

/* The tag of frame @i of the walk that has ended; NULL: it is not kept. */
static inline uint32_t *last_walk_tag(struct last_walk *w, unsigned i)
{
	return w && i < w->frames[w->now] ? &w->frame[w->now][i].tag : NULL;
}

#endif
