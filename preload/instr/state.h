/* SPDX-License-Identifier: MIT */
/*
 * state - what the source instr keeps for each thread
 *
 * All of it belongs to the thread and its own handler, except the fields that
 * other threads read to add up its accesses (count.h) or write to make it look
 * at its registers (rearm.h).
 */
#ifndef COMDET_PRELOAD_INSTR_STATE_H
#define COMDET_PRELOAD_INSTR_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "draw.h"
#include "runtime/instr.h"
#include "preload/core/thread.h"
#include "src/engine/comm.h"
#include "src/store/reuse_tally.h"
#include "src/engine/transfer.h"

struct exact_thread;
struct instr_bank; /* regpool.h: the debug registers of one thread */
struct instr_path; /* path.h */

enum {
	INSTR_LIBRARIES_MAX = 64,
	/* Of transfers, at once: a bit each in a word. */
	INSTR_WATCHED_LINES = 64,
	/*
	 * Beside reuses fewer: all that are watched may be on one line, whose
	 * entry in the hooks' table is a byte.
	 */
	INSTR_WATCHED_BESIDE = 15,
	INSTR_REUSE_ENGINES = REUSE_SCOPES * (int)REUSE_GRANULARITIES,
};

/* One thread in one reuse engine. */
struct instr_reuse {
	struct thread *owner; /* NULL: ends the uses left at the process's end
			       */
	struct reuse_tally *tally;
	uint32_t engine;
	struct reuse_thread thread;
};

/* The bytes that one debug register watches for a use. */
struct instr_slot {
	struct watch_range range;
	uint32_t generation;
	uint32_t thread; /* whose use it is */
};

/* A use to be armed at the thread's next hook. */
struct instr_awaited {
	uint64_t call; /* where that hook is called; 0: no use waits */
	uint32_t slot, generation;
};

/* The thread's counters in one copy of the hooks. */
struct instr_copy {
	const struct instr_library *library;
	const struct instr_thread *_Atomic hooks; /* NULL: no event yet */
	const uint8_t *_Atomic watched;           /* its table: rearm.h */
};

struct instr_state {
	int64_t until[INSTR_CLASSES]; /* with exact: accesses left to the next
					 sample */
	uint64_t rest[INSTR_CLASSES]; /* of the period after the latest one */
	enum instr_drawn coming; /* what the next event of a store may be;
				    DRAW_NONE: the first one after a sample */
	struct transfer_thread transfer, needed;
	uint64_t own; /* slots, as bits, whose sample is made only now */
	bool begun;
	bool in_transfer;
	bool in_exact; /* the member exact is valid */
	bool in_reuse;
	_Atomic uint64_t
		counted; /* accesses taken over from the hooks' counters */
	struct instr_reuse reuse[INSTR_REUSE_ENGINES];
	struct reuse_tally reuse_tally;
	struct cpu_place place;
	struct instr_path *path; /* NULL: no path was asked for yet */
	/* For other threads that read its counts: count.h. */
	struct thread *next;
	struct instr_copy copy[INSTR_LIBRARIES_MAX];
	_Atomic uint32_t sequence; /* odd while its counts change */
	uint64_t read; /* its accesses when another thread last read them */
	/* What its registers are set to: rearm.h. */
	struct instr_bank *bank; /* NULL: it has no registers */
	struct instr_slot armed[COMM_REGISTERS_MAX];
	bool by_hooks;                 /* the pool had no registers for it */
	const struct instr_call *from; /* the call whose event is handled */
	struct instr_awaited awaited;
	struct exact_thread *exact;
	/* What comm watches in software. */
	struct watch_range watched[COMM_REGISTERS_MAX];
	uint32_t watches;
	/* What transfer_trap last answered for a slot, and its generation. */
	struct {
		uint32_t generation;
		enum transfer_need need;
	} need[INSTR_WATCHED_LINES];
};

static inline struct instr_state *instr_of(const struct thread *t)
{
	return t->source;
}

#endif
