/* SPDX-License-Identifier: MIT */
/*
 * instr - what the hooks of instrumented code and libcomdet.so agree on
 *
 * libcomdet-instr is linked to programs compiled with -fsanitize=thread, in
 * place of libtsan. Each access of such code is a call of a hook, just before
 * the access. A hook counts down a word of its thread and looks whether the
 * line is watched; else it returns. An event is a counter below 0 or a line
 * that is watched: if somebody listens, libcomdet.so does, it is told.
 *
 * Each copy of the library (several can be in one process, since the archive
 * may be linked to the program and to what it loads) describes itself in a
 * struct instr_library, which a note of the file it is linked to points at: an
 * archive's symbols are not to be found at run time, and notes are there
 * before the program runs, for `reusetrack record`.
 *
 * A counter counts loads, stores and modifications of one width: one
 * instruction for each access, and sizes need not be added up.
 *
 * Where the listener gives a thread room for them, the hooks of functions keep
 * the frames that are active. A frame that is left by a jump, or by changing
 * the stack, stays until a later one lies over it; who reads them sorts these
 * out (instr/path.h).
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
	INSTR_ALIAS_SHIFT = 26,  /* threads' arenas are so far apart */
	INSTR_WIDTHS = 5,        /* 1, 2, 4, 8, 16 bytes */
};

#define INSTR_NOTE_NAME "comdet"

#define INSTR_NO_SP     UINT64_MAX
/* Frames so much further down the stack are on another one. */
#define INSTR_STACK_MAX (UINT64_C(1) << 24)

enum instr_class {
	INSTR_LOAD, /* + log2 of the width */
	INSTR_STORE = INSTR_LOAD + INSTR_WIDTHS,
	INSTR_MODIFY =
		INSTR_STORE + INSTR_WIDTHS, /* loads and stores at once */
	INSTR_LOAD_RANGE = INSTR_MODIFY + INSTR_WIDTHS,
	INSTR_STORE_RANGE,
	INSTR_CLASSES
};

/* An active function of instrumented code. */
struct instr_frame {
	uint64_t sp;     /* stack pointer in its body */
	uint64_t caller; /* where it returns to */
	uint64_t entry;  /* an address in it, always the same one */
};

/* Registers that calls preserve, as pushed. */
struct instr_saved {
	uint64_t rbx, rbp, r12, r13, r14, r15;
};

/* Where a hook was called, and is about to return. */
struct instr_call {
	uint64_t ip, sp;                 /* as it has returned */
	const struct instr_saved *saved; /* the caller's; NULL: not known */
};

/* One per thread and copy of the library, all zero when the thread starts. */
struct instr_thread {
	int64_t left[INSTR_CLASSES]; /* an event when it is below 0 */
	/* given - left is how many accesses there were. */
	int64_t given[INSTR_CLASSES];
	uint64_t range_bytes[2]; /* loaded, stored by the range classes */
	uint64_t atomic_ip;      /* where the latest atomic was called */
	uint64_t owner; /* the listener's: 0 if it knows nothing of us */
	/*
	 * Where the word lies that has the table to look into: bytes behind
	 * that of the copy's struct instr_library. Any thread may change the
	 * word; where it lies is the thread's own.
	 */
	int64_t watched;
	/*
	 * The frames, the listener's: the innermost one, NULL: none are kept,
	 * and where the last one may lie; deeper ones are left out. The first
	 * is no function, and has INSTR_NO_SP.
	 */
	struct instr_frame *top, *last;
	uint64_t left_out;               /* frames below the last one */
	uint64_t stack_low, stack_bytes; /* the thread's own */
};

/*
 * An access of @bytes at @addr is about to be made, by the code that called at
 * @from. @t is the calling thread's. The listener gives the counter of @class
 * something to count down, else it is called at every access.
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
	/* The hooks that perform accesses themselves: atomics. */
	const char *code_low, *code_high;
	/* All others that tell of accesses. */
	const char *hooks_low, *hooks_high;
};

/* The desc of the note: two words. */
struct instr_note {
	uint32_t abi;
	int32_t library; /* from this word to the struct instr_library */
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
