/* SPDX-License-Identifier: MIT */
/*
 * uop - an x86-64 instruction as micro-operations
 *
 * A load from memory, what the instruction computes, and a store are one
 * micro-operation each. A move between a register and memory is its load or
 * store alone. The decoder says of which class each is, which registers it
 * reads and writes (the flags are one register, and a part of a register
 * counts as the register), and what it does with memory. How long a class takes
 * and where it is executed is the machine's (machine.h).
 */
#ifndef COMDET_ANALYSIS_MODEL_UOP_H
#define COMDET_ANALYSIS_MODEL_UOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Name and meaning of each class; the names are keys of machine files. */
#define UOP_CLASS_LIST(X)                                                      \
	X(ALU, alu, "integer arithmetic, logic, moves, shifts")                \
	X(LEA, lea, "address arithmetic (lea)")                                \
	X(MUL32, mul32, "integer multiplication, up to 32 bits")               \
	X(MUL64, mul64, "integer multiplication, 64 bits")                     \
	X(DIV32, div32, "integer division, up to 32 bits")                     \
	X(DIV64, div64, "integer division, 64 bits")                           \
	X(BRANCH, branch, "conditional branch")                                \
	X(JUMP, jump, "jump, call, return")                                    \
	X(NOP, nop, "no operation, prefetch")                                  \
	X(FADD, fadd, "floating-point addition, minimum, maximum")             \
	X(FMUL32, fmul32, "floating-point multiplication, single")             \
	X(FMUL64, fmul64, "floating-point multiplication, double; fused")      \
	X(FDIV32, fdiv32, "floating-point division, single")                   \
	X(FDIV64, fdiv64, "floating-point division, double")                   \
	X(FSQRT32, fsqrt32, "square root, single")                             \
	X(FSQRT64, fsqrt64, "square root, double")                             \
	X(FRECIP, frecip, "approximate reciprocal")                            \
	X(FCOMP, fcomp, "floating-point comparison")                           \
	X(CVT_WIDEN, cvt_widen, "single to double, scalar")                    \
	X(CVT_WIDEN_P, cvt_widen_p, "single to double, packed")                \
	X(CVT_NARROW, cvt_narrow, "double to single")                          \
	X(CVT_SINGLE, cvt_single, "between integer and single")                \
	X(CVT_DOUBLE, cvt_double, "from integer to double, packed both ways")  \
	X(CVT_TO_INT, cvt_to_int, "scalar floating-point to integer")          \
	X(VMOVE, vmove, "vector move, logic, shuffle")                         \
	X(VINT, vint, "vector integer arithmetic")                             \
	X(VMUL, vmul, "vector integer multiplication; a round of AES")         \
	X(X87, x87, "x87 arithmetic")                                          \
	X(FENCE, fence, "memory fence")                                        \
	X(LOAD, load, "load")                                                  \
	X(STORE, store, "store")                                               \
	X(UNKNOWN, unknown, "instructions without a class of their own")

enum uop_class {
#define X(NAME, name, words) UOP_##NAME,
	UOP_CLASS_LIST(X)
#undef X
	UOP_CLASSES
};

enum {
	UOP_SOURCES = 8,
	UOP_RESULTS = 3,
	UOP_REGISTERS = 96,
	UOPS_MAX = 4, /* of one instruction */
};

enum uop_flag {
	UOP_IS_LOAD = 1,
	UOP_IS_STORE = 2,
	UOP_IS_BRANCH = 4,   /* conditional */
	UOP_IS_VECTOR = 8,   /* of an instruction with vector registers */
	UOP_IS_BARRIER = 16, /* no younger access of memory overtakes it */
	/* 32 is that of workload.h. */
	UOP_IS_ZERO = 64, /* sets a register to 0, as xor with itself does */
};

struct uop {
	uint8_t class; /* enum uop_class */
	uint8_t flags; /* enum uop_flag */
	uint8_t sources, results;
	uint8_t source[UOP_SOURCES], result[UOP_RESULTS];
};

struct uop_insn {
	struct uop uop[UOPS_MAX];
	uint8_t uops;
	uint8_t memory_bytes; /* of its largest access; 0: none, or larger */
	bool known;           /* false: it has the class UOP_UNKNOWN */
	const char *mnemonic; /* static */
};

/*
 * Decode the instruction of @bytes bytes at @code. Bytes that are no
 * instruction become one micro-operation of UOP_UNKNOWN, "(bad)".
 */
void uop_decode(const unsigned char *code, size_t bytes, struct uop_insn *to);

extern const char *const uop_class_names[UOP_CLASSES];
extern const char *const uop_class_words[UOP_CLASSES];

#endif
