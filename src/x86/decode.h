/* SPDX-License-Identifier: MIT */
/*
 * decode - x86-64 instructions in the compact form the interpreter works on
 *
 * Zydis decodes; what is kept is what an address, a branch or a value needs.
 * Decoded instructions are cached by address. A cached instruction is used
 * only after its bytes were compared with what is in memory now, so code that
 * changes (a JIT, dlclose) is decoded anew.
 *
 * Context: any, handler included. No allocation: the cache is static memory.
 */
#ifndef COMDET_X86_DECODE_H
#define COMDET_X86_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/base/access.h"

/*
 * How decoder and interpreter read the program's memory. read copies @n
 * bytes (at most 64) at @addr and returns 0, or -EFAULT if not all of them
 * are readable; it never faults. Inside [direct_low, direct_high) plain loads
 * are known to be safe (the page the program counter is on), 0,0 if nowhere.
 */
struct memory {
	int (*read)(void *ctx, uint64_t addr, void *buf, size_t n);
	void *ctx;
	uint64_t direct_low, direct_high;
};

enum {
	INSN_BYTES_MAX = 15,
	INSN_OPERANDS_MAX = 4,
	INSN_MEMS_MAX = 2,
	DECODE_ACCESSES_MAX = 32, /* of one instruction */
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

/* The operands one sees in the assembler text, write masks excepted. */
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
	MEM_BITS,       /* bt and its kin: a register holds a bit offset */
	MEM_MASKED,     /* only elements whose mask bit is set */
	MEM_VSIB,       /* gather, scatter: an address per element */
	MEM_LINE,       /* the aligned 64 bytes around it (clzero) */
	MEM_OPAQUE,     /* accesses memory in a manner not modelled */
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
	FLOW_NEXT, /* straight on */
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
 * A decoded instruction. The masks say what it may write, implicitly or not;
 * a register operand of less than 4 bytes is written in part.
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

struct cpu_state; /* interp/interp.h */

/*
 * The instruction at @ip, from the cache or decoded now, in *@scratch.
 * Returns @scratch, or NULL with *@error -EFAULT (code cannot be read) or
 * -EILSEQ (not an instruction).
 */
const struct insn *decode_at(const struct memory *mem, uint64_t ip,
			     struct insn *scratch, int *error);

/*
 * A hint: whoever asks for @ip asks DECODE_AHEAD instructions later for
 * @later, whose cache slot decode_at(@ip) then fetches from memory beforehand.
 */
enum {
	DECODE_AHEAD = 6
};
void decode_learn_ahead(uint64_t ip, uint64_t later);

/*
 * Decode the first instruction of the @n bytes in @code as if they were at
 * @ip. Does not touch the cache. Returns 0, -ENODATA if @n is too little, or
 * -EILSEQ.
 */
int decode_bytes(const void *code, size_t n, uint64_t ip, struct insn *out);

/* True if decode_at would find no other bytes at insn->ip now. */
bool decode_unchanged(const struct memory *mem, const struct insn *insn);

/*
 * Every access that @insn makes when executed with the registers in @cpu
 * (cpu->rip is not looked at), in the order of its operands, the implicit
 * stack access of call, push and pop included (ACCESS_IMPLICIT).
 *
 * A repeated string instruction makes the accesses of its next repetition
 * alone (none if the count is zero): that is also what a single step makes.
 * Masked moves make one access for each run of adjacent selected elements,
 * gathers and scatters one for each selected element; xsave and its kin one
 * for the whole area.
 *
 * Writes at most DECODE_ACCESSES_MAX to @out. Returns how many; -EAGAIN if a
 * register it needs (vector, mask, gs_base) is not known in @cpu;
 * -EOPNOTSUPP for the few whose accesses are not modelled (AMX tiles, nested
 * enter).
 */
int decode_accesses(const struct insn *insn, const struct cpu_state *cpu,
		    struct access *out);

/*
 * The address of memory operand @m as the processor forms it: segment, base,
 * index, displacement; for MEM_VSIB without the vector index. Returns 0, or
 * -EAGAIN if the segment's base is not known.
 */
int decode_address(const struct insn *insn, const struct mem_operand *m,
		   const struct cpu_state *cpu, uint64_t *addr);

/* The one access to memory operand @m at @address (not masked, not VSIB). */
void decode_operand(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, struct access *out);

/*
 * decode_accesses for MEM_MASKED and MEM_VSIB, for callers that have the
 * vector registers at hand: @select has a bit for each selected element,
 * @index are the bytes of the index register (NULL for MEM_MASKED).
 */
int decode_elements(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, uint64_t select, const void *index,
		    struct access *out);

/*
 * The bit for each selected element, from the bytes of the mask register of
 * a vmaskmov, AVX2 gather or maskmovdqu (the top bit of each element).
 */
uint64_t decode_vector_mask(const struct insn *insn, const void *bytes);

/*
 * Which of insn->op is the vector register that holds the mask of a
 * vmaskmov, AVX2 gather or maskmovdqu; -1 if the mask is insn->write_mask.
 */
int decode_mask_operand(const struct insn *insn);

#endif
