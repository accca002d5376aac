/* SPDX-License-Identifier: MIT */
/*
 * instr - the interface between the hooks of instrumented code and libcomdet.so
 *
 * libcomdet-instr is linked to programs compiled with -fsanitize=thread, in
 * place of libtsan. Such code calls a hook just before each access. The hook
 * counts down a word of its thread and looks up whether the line is watched. If
 * the counter is below 0 or the line is watched, that is an event, and the hook
 * calls the listener, if libcomdet.so has set one; otherwise it returns.
 *
 * Several copies of the library can be in one process, since the archive may be
 * linked to the program and to libraries that it loads. Each copy describes
 * itself in a struct instr_library. A note of the file that it is linked to
 * points there: an archive's symbols cannot be found at run time, and
 * `reusetrack record` can read notes before the program runs.
 *
 * There is a counter for each combination of width and loads, stores or
 * modifications: so an access takes one instruction, and sizes need not be
 * added up.
 *
 * If the listener gives a thread room, the hooks of functions keep the frames
 * of active functions there. A frame that is left by a jump, or by a change of
 * stacks, stays until a later one overwrites it; the reader drops such frames
 * (instr/path.h).
 */
#ifndef COMDET_PRELOAD_INSTR_RUNTIME_INSTR_H
#define COMDET_PRELOAD_INSTR_RUNTIME_INSTR_H

#include <stdatomic.h>
#include <stdint.h>

enum {
	INSTR_ABI = 3,
	INSTR_NOTE_TYPE = 1,
	INSTR_LINE_SHIFT = 6,
	INSTR_WATCHED = 1 << 16, /* entries of the table of watched lines */
	INSTR_ALIAS_SHIFT = 26,  /* distance of threads' malloc arenas */
	INSTR_WIDTHS = 5,        /* 1, 2, 4, 8, 16 bytes */
};

#define INSTR_NOTE_NAME "comdet"

#define INSTR_NO_SP     UINT64_MAX
/* A frame further down the stack than this is on another stack. */
#define INSTR_STACK_MAX (UINT64_C(1) << 24)

enum instr_class {
	INSTR_LOAD, /* + log2 of the width */
	INSTR_STORE = INSTR_LOAD + INSTR_WIDTHS,
	INSTR_MODIFY = INSTR_STORE + INSTR_WIDTHS, /* these load and store */
	INSTR_LOAD_RANGE = INSTR_MODIFY + INSTR_WIDTHS,
	INSTR_STORE_RANGE,
	INSTR_CLASSES
};

/* An active function of instrumented code. */
struct instr_frame {
	uint64_t sp;     /* stack pointer in its body */
	uint64_t caller; /* its return address */
	uint64_t entry;  /* an address in it that is always the same */
};

/* Registers that calls preserve, as the hook pushed them. */
struct instr_saved {
	uint64_t rbx, rbp, r12, r13, r14, r15;
};

/* The call of a hook that is about to return. */
struct instr_call {
	uint64_t ip, sp;                 /* the caller's, after the return */
	const struct instr_saved *saved; /* NULL: not known */
};

#define INSTR_ENDED 2 /* the owner when the thread's record has ended */

/* One per thread and copy of the library, all zero when the thread starts. */
struct instr_thread {
	int64_t left[INSTR_CLASSES]; /* an event if below 0 */
	/* given - left is the number of accesses. */
	int64_t given[INSTR_CLASSES];
	uint64_t range_bytes[2]; /* loaded and stored by ranges */
	uint64_t atomic_ip;      /* the caller of the latest atomic hook */
	/* Set by the listener; 0: it has not set this up, or INSTR_ENDED. */
	uint64_t owner;
	/*
	 * The hooks look into the table that a word points to. This is the
	 * distance of that word from the member watched of the copy's struct
	 * instr_library. Any thread may change the word; only this thread
	 * changes where it is.
	 */
	int64_t watched;
	/*
	 * The listener keeps the frames in its memory. top is the innermost
	 * one, NULL if none are kept; last is the last one for which there is
	 * room. Deeper frames are left out. The first one stands for no
	 * function and has INSTR_NO_SP.
	 */
	struct instr_frame *top, *last;
	uint64_t left_out;               /* frames deeper than the last one */
	uint64_t stack_low, stack_bytes; /* of the thread's own stack */
};

/*
 * The code that called at @from is about to access @bytes at @addr. @t belongs
 * to the calling thread. The listener must load the counter of @class, or it is
 * called at every access.
 */
typedef void instr_listener(struct instr_thread *t, enum instr_class class,
			    uint64_t addr, uint64_t bytes,
			    const struct instr_call *from);

struct instr_library {
	uint32_t abi;
	uint32_t bytes;        /* of this struct */
	uint32_t thread_bytes; /* of struct instr_thread */
	uint32_t watched_bytes;
	_Atomic uint8_t *watched; /* table; not 0: the line may be watched */
	struct instr_thread *(*thread)(void); /* the calling thread's */
	instr_listener *_Atomic listener;     /* NULL: nobody listens */
	/* The code of hooks that make the access themselves: atomics. */
	const char *code_low, *code_high;
	/* The code of all other hooks that report accesses. */
	const char *hooks_low, *hooks_high;
};

/* The desc of the note: two words. */
struct instr_note {
	uint32_t abi;
	int32_t library; /* bytes from this word to the struct instr_library */
};

static inline uint32_t instr_watched_entry(uint64_t addr)
{
	return (addr >> INSTR_LINE_SHIFT ^ addr >> INSTR_ALIAS_SHIFT) %
	       INSTR_WATCHED;
}

/* Width in bytes, 0 for ranges. */
static inline uint32_t instr_class_bytes(enum instr_class class)
{
	return class < INSTR_LOAD_RANGE ? 1u << class % INSTR_WIDTHS : 0;
}

static inline int instr_class_loads(enum instr_class class)
{
	return class < INSTR_STORE || class == INSTR_LOAD_RANGE ||
	       (class >= INSTR_MODIFY && class < INSTR_LOAD_RANGE);
}

static inline int instr_class_stores(enum instr_class class)
{
	return class == INSTR_STORE_RANGE ||
	       (class >= INSTR_STORE && class < INSTR_LOAD_RANGE);
}

static inline int64_t instr_count(const struct instr_thread *t,
				  enum instr_class class)
{
	return t->given[class] - t->left[class];
}

#endif
