/* SPDX-License-Identifier: MIT */
/*
 * state - the interpreter's state
 *
 * Every value has a taint, a word of bits:
 *
 *   0              the value is known
 *   bits 0 to 62   it depends on loads that were left unread; all loads of an
 *                  instruction have one class, 0 to 62
 *   bit 63         it cannot be known
 *
 * The taint of a result is the OR of its operands' taints. If an address or a
 * branch needs a value whose taint has load classes only, these classes are
 * marked as demanded and the window is interpreted again from its beginning,
 * and now their loads are read. A process-wide hint remembers the instructions
 * whose loads were demanded, so that code that was seen before usually needs
 * one pass. The result is correct without the hint.
 *
 * Vector registers are kept as lanes of 16 bytes with a taint each.
 */
#ifndef COMDET_X86_INTERP_STATE_H
#define COMDET_X86_INTERP_STATE_H

#include <Zydis/Zydis.h>
#undef assert /* Zycore brings it; handlers must not use it */

#include "src/x86/decode/accesses.h"
#include "src/x86/decode/decode.h"
#include "src/x86/decode/width.h"
#include "interp.h"

#define TAINT_UNKNOWN (1ull << 63)
#define ALL_CLASSES   (~TAINT_UNKNOWN)

enum {
	FLAG_CF = 1 << 0,
	FLAG_PF = 1 << 2,
	FLAG_AF = 1 << 4,
	FLAG_ZF = 1 << 6,
	FLAG_SF = 1 << 7,
	FLAG_DF = 1 << 10,
	FLAG_OF = 1 << 11,
	FLAGS_STATUS = FLAG_PF | FLAG_AF | FLAG_ZF | FLAG_SF | FLAG_OF,
	FLAGS_ALL = FLAGS_STATUS | FLAG_CF,
};

enum {
	LINE_BYTES = 64,
	DATA_BLOCKS = 10,
	CODE_LINES = 4,
	STORES_MAX = 112,
	MEMO_INSNS = 8,
	STORE_BYTES = 16, /* longest store whose value is kept */
	LANES = 4,
	VECTORS = 32,
	MASKS = 8,
	LOAD_CLASSES = 63, /* bits of a taint */
};

struct value {
	uint64_t v;
	uint64_t taint;
};

union lane {
	uint8_t b[16];
	uint16_t h[8];
	uint32_t w[4];
	uint64_t q[2];
	float f[4];
	double d[2];
} __attribute__((aligned(16)));

/* A store that the program will make. */
struct store {
	uint64_t addr;
	uint64_t taint;
	uint8_t bytes[STORE_BYTES];
	uint32_t len; /* over STORE_BYTES: taint is TAINT_UNKNOWN */
};

struct line {
	uint64_t tag; /* address + 1, 0: empty */
	uint8_t bytes[LINE_BYTES];
};

/*
 * Blocks of data; what a call costs hardly depends on how much it reads. Any
 * block can be in any place, since a window reads few of them but often two
 * that lie a power of two apart. The oldest makes room.
 */
struct blocks {
	uint64_t tag[DATA_BLOCKS]; /* as in struct line */
	uint32_t used, next;
	uint8_t bytes[DATA_BLOCKS][MEMORY_READ_MAX];
};

/* The outcome of an instruction. Its accesses count only at STEP_NEXT. */
enum step {
	STEP_NEXT,
	STEP_RESTART, /* classes of loads were demanded */
	STEP_SYSTEM,
	STEP_UNDECODED,
	STEP_UNREADABLE,
	STEP_UNKNOWN_ADDRESS,
	STEP_UNKNOWN_PATH,
	STEP_FULL,
	STEP_REACHED, /* interp_stop_open */
};

struct interp {
	union lane vec[VECTORS][LANES];
	uint64_t vec_taint[VECTORS][LANES];
	uint32_t vec_loaded; /* registers copied from the context */
	uint32_t mask_loaded;
	uint64_t mask[MASKS], mask_taint[MASKS];

	struct cpu_state cpu; /* gpr, rip, rflags after the last instruction */
	uint64_t gpr_taint[16];
	uint64_t carry_taint, status_taint, direction_taint;
	uint32_t undefined; /* bits of rflags whose value is undefined */
	uint32_t mxcsr;     /* the program's */
	bool fp_exact;      /* mxcsr is known and masks all exceptions */
	struct value x87_control;

	const struct memory *mem;
	struct memory code_mem; /* mem behind code_line */
	struct blocks data;
	struct line code_line[CODE_LINES];
	uint64_t store_filter; /* a bit for each hashed line stored to */
	uint32_t stores;
	struct store store[STORES_MAX];

	uint64_t demanded; /* classes of loads to read in this pass */
	uint16_t class_key[LOAD_CLASSES]; /* whose class it is; 0: free */
	uint64_t next_ip;
	uint64_t address[INSN_MEMS_MAX];
	/*
	 * Instructions of this window by address. Their bytes have been
	 * compared with memory, so a loop need not compare them from its second
	 * round on.
	 */
	struct insn memo[MEMO_INSNS];
	uint32_t memo_known; /* a bit each; the others are left alone */
	uint64_t trail[DECODE_AHEAD]; /* the last instructions not in memo */
	uint32_t trail_at;

	/* The window. */
	uint64_t start_ip;
	struct interp_limits limits;
	uint32_t stop_open; /* accesses, 0: no such limit */
	uint32_t count, instructions;
	uint32_t pending; /* count plus the accesses of this instruction */
	uint32_t closed_count, closed_instructions; /* at the last closure */

	/* The state at interp_begin or interp_resume, for another pass. */
	struct cpu_state base;
	uint32_t base_count, base_instructions;
	uint32_t base_closed_count, base_closed_instructions;

	/* The instruction that a replay goes up to: its number and place. */
	uint32_t replay_to;
	uint64_t replay_ip;
	bool replay_reads_all;

	struct access access[WINDOW_ACCESSES_MAX + DECODE_ACCESSES_MAX];
	uint64_t visited_ip[WINDOW_INSTRUCTIONS_MAX];
	uint8_t visited_count[WINDOW_INSTRUCTIONS_MAX];
} __attribute__((aligned(64)));

typedef enum step step_fn(struct interp *in, const struct insn *insn);

/* Handle an address or branch that needs a value with @taint, not 0. */
static inline enum step need(struct interp *in, uint64_t taint,
			     enum step blocked)
{
	if (taint & TAINT_UNKNOWN)
		return blocked;
	in->demanded |= taint;
	return STEP_RESTART;
}

#endif
