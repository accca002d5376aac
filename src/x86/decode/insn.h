/* SPDX-License-Identifier: MIT */
/*
 * insn - an x86-64 instruction in the compact form the interpreter works on
 *
 * It holds what is needed to compute addresses, branches and values;
 * convert.c makes it from what Zydis decoded.
 */
#ifndef COMDET_X86_DECODE_INSN_H
#define COMDET_X86_DECODE_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"

enum {
	INSN_BYTES_MAX = 15,
	INSN_OPERANDS_MAX = 4,
	INSN_MEMS_MAX = 2,
	NO_REG = 0xff,
};

enum operand_kind {
	OPERAND_NONE,
	OPERAND_GPR,   /* reg 0-15 */
	OPERAND_HIGH8, /* ah ch dh bh: reg 0-3 is the register it is part of */
	OPERAND_VEC,   /* xmm, ymm, zmm: reg 0-31 */
	OPERAND_MASK,  /* k0-k7 as a plain operand, not as a write mask */
	OPERAND_IMM,   /* insn->imm */
	OPERAND_MEM,   /* insn->mem[reg] */
	OPERAND_OTHER, /* x87, mmx, segment, control, tile, bound registers */
};

/* An operand, as in the assembler text. A write mask is not one of them. */
struct operand {
	uint8_t kind; /* enum operand_kind */
	uint8_t reg;
	uint8_t bytes; /* width, 1-64; 0: larger, see struct mem_operand */
	uint8_t rw;    /* ACCESS_LOAD: read, ACCESS_STORE: written */
};

enum mem_kind {
	MEM_PLAIN,
	MEM_STACK_PUSH, /* at rsp - bytes, rsp as before the instruction */
	MEM_STACK_POP,  /* at rsp (leave: at rbp) */
	MEM_STRING,     /* rsi or rdi, steps with the direction flag */
	MEM_BITS,       /* bt, bts, btr, btc: a register holds a bit offset */
	MEM_MASKED,     /* only elements whose mask bit is set */
	MEM_VSIB,       /* gather, scatter: an address per element */
	MEM_LINE,       /* the aligned 64 bytes around it (clzero) */
	MEM_OPAQUE,     /* its accesses are not modelled */
	MEM_ADDRESS,    /* lea, prefetch, wide nop: an address, no access */
};

enum mem_segment {
	SEGMENT_NONE,
	SEGMENT_FS,
	SEGMENT_GS
};

struct mem_operand {
	int64_t disp;  /* rip-relative: the address itself, base NO_REG */
	uint8_t base;  /* gpr or NO_REG */
	uint8_t index; /* gpr, MEM_VSIB: vector register; or NO_REG */
	uint8_t scale; /* 1, 2, 4, 8; 0: the low byte of index (xlat) */
	uint8_t segment;
	uint16_t bytes; /* whole operand; for MEM_VSIB one element */
	uint8_t rw;     /* ACCESS_LOAD | ACCESS_STORE, 0: no access */
	uint8_t kind;   /* enum mem_kind */
};

enum insn_flow {
	FLOW_NEXT, /* no branch */
	FLOW_JUMP, /* unconditional, near */
	FLOW_COND, /* jcc, loop, jrcxz */
	FLOW_CALL,
	FLOW_RET,
	FLOW_SYSTEM, /* the kernel takes over, or privileged, or far */
};

/* insn->flags */
enum {
	INSN_LOCKED = 1, /* lock prefix, or xchg with memory */
	INSN_REP = 2,    /* rep or repe, on a string instruction */
	INSN_REPNE = 4,
	INSN_STRING = 8,
	INSN_ADDRESS32 = 16, /* addresses are cut to 32 bits */
	INSN_VEX = 32,       /* VEX or EVEX: upper vector bytes are zeroed */
	INSN_EVEX = 64,
	INSN_ZEROING = 128,   /* {z} */
	INSN_BROADCAST = 256, /* memory operand is one element, {1toN} */
	INSN_X87 = 512,       /* reads or writes x87 or mmx state */
	INSN_ROUNDING = 1024, /* EVEX {sae} or static rounding */
};

/*
 * A decoded instruction. gpr_written to mask_written are the registers that it
 * may write, implicitly or not. A general register operand of less than 4
 * bytes is written in part.
 */
struct insn {
	uint64_t ip;
	uint8_t bytes[INSN_BYTES_MAX];
	uint8_t len;
	uint16_t mnemonic; /* ZydisMnemonic */
	uint16_t flags;    /* INSN_* */
	uint8_t operands, mems;
	uint8_t flow;      /* enum insn_flow */
	uint8_t condition; /* jcc, setcc, cmovcc: low 4 bits of the opcode */
	struct operand op[INSN_OPERANDS_MAX];
	struct mem_operand mem[INSN_MEMS_MAX];
	uint64_t imm;         /* sign-extended; direct branches: the target */
	uint32_t vec_written; /* bit per vector register */
	uint16_t gpr_written; /* bit per gpr, rsp of push and call included */
	uint16_t gpr_address; /* gprs that its addresses are made of */
	uint16_t eflags_written; /* bits of rflags, undefined ones included */
	uint8_t mask_written;    /* bit per k register */
	uint8_t write_mask;      /* k register of {k}, 0: none */
	uint8_t vector_bytes;    /* 16, 32, 64 for VEX and EVEX, else 0 */
	/*
	 * Masked operations, gathers and scatters: bytes of a memory element,
	 * how many mask bits count, bytes of a vector index.
	 */
	uint8_t element_bytes;
	uint8_t mask_elements;
	uint8_t index_bytes;
};

/* What it takes to follow a chain of instructions. */
struct insn_shape {
	uint8_t len;
	uint8_t flow;    /* enum insn_flow */
	uint64_t target; /* what a relative operand gives; or 0 */
};

#endif
