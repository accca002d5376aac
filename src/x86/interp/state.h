/* SPDX-License-Identifier: MIT */
/*
 * state - the interpreter's state and what its files share
 *
 * Every value carries a taint, a word of bits:
 *
 *   0              the value is known
 *   bits 0 to 62   it depends on loads that were left unread; a load belongs
 *                  to one of 63 classes by the address of its instruction
 *   bit 63         it cannot be known
 *
 * The taint of a result is the OR of what it was made of. When an address or
 * a branch needs a value tainted with load classes alone, those classes are
 * marked as demanded and the window is interpreted anew from its beginning,
 * this time reading them. Which instructions' loads were demanded is
 * remembered process-wide (a hint, never needed for correctness), so code
 * that was seen before costs neither a second pass nor a needless read.
 *
 * Vector registers are kept as lanes of 16 bytes with a taint each.
 */
#ifndef COMDET_X86_INTERP_STATE_H
#define COMDET_X86_INTERP_STATE_H

#include <Zydis/Zydis.h>
#undef assert /* Zycore brings it; handlers must not use it */

#include "src/x86/decode.h"
#include "interp.h"

#define TAINT_UNKNOWN (1ull << 63)

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
	DATA_LINES = 8,
	CODE_LINES = 4,
	STORES_MAX = 112,
	MEMO_INSNS = 32,
	STORE_BYTES = 16, /* of one entry whose value is kept */
	LANE_BYTES = 16,
	LANES = 4,
	VECTORS = 32,
	MASKS = 8,
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

/* A store that the program will make, not yet in memory. */
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

/* How one instruction went. All but STEP_NEXT leave its accesses out. */
enum step {
	STEP_NEXT,
	STEP_RESTART, /* classes of loads were demanded */
	STEP_SYSTEM,
	STEP_UNDECODED,
	STEP_UNREADABLE,
	STEP_UNKNOWN_ADDRESS,
	STEP_UNKNOWN_PATH,
	STEP_FULL,
};

struct interp {
	union lane vec[VECTORS][LANES];
	uint64_t vec_taint[VECTORS][LANES];
	uint32_t vec_loaded; /* registers copied from the context */
	uint32_t mask_loaded;
	uint64_t mask[MASKS], mask_taint[MASKS];

	struct cpu_state cpu; /* gpr, rip, rflags: as interpreted so far */
	uint64_t gpr_taint[16];
	uint64_t carry_taint, status_taint, direction_taint;
	uint32_t undefined; /* bits of rflags whose value is undefined */
	uint32_t mxcsr;     /* the program's */
	bool fp_exact;      /* mxcsr is known and masks all exceptions */
	struct value x87_control;

	const struct memory *mem;
	struct memory code_mem; /* mem behind code_line */
	struct line data_line[DATA_LINES];
	struct line code_line[CODE_LINES];
	uint64_t store_filter; /* bit per hashed line that was stored to */
	uint32_t stores;
	struct store store[STORES_MAX];

	uint64_t demanded; /* classes of loads to read at once */
	uint64_t next_ip;
	uint64_t address[INSN_MEMS_MAX];
	/*
	 * Instructions whose bytes were compared in this window, by address:
	 * a loop finds them here from its second round on.
	 */
	struct insn memo[MEMO_INSNS];
	uint64_t trail[DECODE_AHEAD]; /* the last ones not in memo */
	uint32_t trail_at;

	/* The window. */
	uint64_t start_ip;
	uint32_t accesses_max, instructions_max;
	uint32_t count, instructions;
	uint32_t pending; /* count and the accesses of this instruction */
	uint32_t closed_count, closed_instructions; /* at the last closure */

	/* Where interp_begin or interp_resume stood, for another pass. */
	struct cpu_state base;
	uint32_t base_count, base_instructions;
	uint32_t base_closed_count, base_closed_instructions;

	struct access access[WINDOW_ACCESSES_MAX + DECODE_ACCESSES_MAX];
	uint64_t visited_ip[WINDOW_INSTRUCTIONS_MAX];
	uint8_t visited_count[WINDOW_INSTRUCTIONS_MAX];
} __attribute__((aligned(64)));

typedef enum step step_fn(struct interp *in, const struct insn *insn);

static inline uint64_t low_mask(unsigned bytes)
{
	return bytes >= 8 ? ~0ull : (1ull << (8 * bytes)) - 1;
}

static inline uint64_t sign_extend(uint64_t v, unsigned bytes)
{
	unsigned shift = 64 - 8 * bytes;

	return (uint64_t)((int64_t)(v << shift) >> shift);
}

static inline uint64_t sign_bit(unsigned bytes)
{
	return 1ull << (8 * bytes - 1);
}

/* An address or a branch needs a value with this taint (not 0). */
static inline enum step need(struct interp *in, uint64_t taint,
			     enum step blocked)
{
	if (taint & TAINT_UNKNOWN)
		return blocked;
	in->demanded |= taint;
	return STEP_RESTART;
}

/* ---- memory: memory.c --------------------------------------------- */

/*
 * Load @n (at most 64) bytes as the program would see them there. What is not
 * in the store buffer is read if @now, or if this instruction's loads are
 * known to be demanded; else it is left unread. Returns the taint; *@to is
 * written in any case.
 */
uint64_t load_bytes(struct interp *in, const struct insn *insn, uint64_t addr,
		    void *to, unsigned n, bool now);
struct value load(struct interp *in, const struct insn *insn, uint64_t addr,
		  unsigned n);
/* A load whose value a branch needs. */
struct value load_now(struct interp *in, const struct insn *insn, uint64_t addr,
		      unsigned n);
/* False if the buffer is full. @n over 64 only with TAINT_UNKNOWN. */
bool store_bytes(struct interp *in, uint64_t addr, const void *from, unsigned n,
		 uint64_t taint);
bool store(struct interp *in, uint64_t addr, unsigned n, struct value v);
bool stored_to(const struct interp *in, uint64_t addr, unsigned n);
void memory_begin(struct interp *in);

/* ---- operands: operand.c ------------------------------------------ */

struct value read_gpr(const struct interp *in, const struct operand *op);
void write_gpr(struct interp *in, const struct operand *op, struct value v);
struct value read_operand(struct interp *in, const struct insn *insn, int i);
enum step write_operand(struct interp *in, const struct insn *insn, int i,
			struct value v);
void set_gpr(struct interp *in, unsigned reg, unsigned bytes, struct value v);
struct value get_gpr(const struct interp *in, unsigned reg, unsigned bytes);
/* Flags in @mask take their bit of @flags; those in @undefined have none. */
void set_flags(struct interp *in, uint32_t mask, uint32_t undefined,
	       uint64_t flags, uint64_t taint);
uint64_t flags_taint(const struct interp *in, uint32_t mask);
/* v is 0 or 1 */
struct value condition(const struct interp *in, unsigned code);
/* As cmp does (int.c). */
void compare_flags(struct interp *in, uint64_t a, uint64_t b, unsigned bytes,
		   uint64_t taint);
uint32_t result_flags(uint64_t r, unsigned bytes); /* SF ZF PF */
/* Everything that @insn may write becomes unknown. */
enum step step_unknown(struct interp *in, const struct insn *insn);

/* ---- vectors: vector.c -------------------------------------------- */

union lane *vec_lanes(struct interp *in, unsigned reg);
uint64_t *mask_value(struct interp *in, unsigned reg);

/* A vector operand as an instruction reads it: from register or memory. */
struct vec {
	union {
		union lane lane[LANES];
		uint8_t bytes[LANES * LANE_BYTES];
	};
	uint64_t taint[LANES];
};

void vec_read(struct interp *in, const struct insn *insn, int i, struct vec *v);
/*
 * Write the low @bytes of @v to operand @i with the instruction's rules: the
 * write mask, and zeroes above for VEX and EVEX.
 */
enum step vec_write(struct interp *in, const struct insn *insn, int i,
		    const struct vec *v, unsigned bytes);
/* Store @v to memory operand @mem: what its accesses cover. */
enum step vec_store(struct interp *in, const struct insn *insn, int mem,
		    const struct vec *v, unsigned bytes);
void vec_begin(struct interp *in);
/* False if @insn rounds in a way that the stubs do not. */
bool float_exact(const struct interp *in, const struct insn *insn);
bool is_fma(const struct insn *insn);
/* Write @bits to mask operand 0, under the write mask. */
enum step mask_result(struct interp *in, const struct insn *insn, uint64_t bits,
		      uint64_t taint);

/* ---- instructions -------------------------------------------------------- */

/* What carries out @insn; step_unknown if its result is not modelled. */
step_fn *interp_handler(const struct insn *insn);
/* The same for instructions on vector and mask registers. */
step_fn *interp_vector_handler(const struct insn *insn);

#endif
