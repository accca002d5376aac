/* SPDX-License-Identifier: MIT */
/*
 * accesses - the memory accesses of an instruction, from register values
 *
 * Context: any, handler included.
 */
#ifndef COMDET_X86_DECODE_ACCESSES_H
#define COMDET_X86_DECODE_ACCESSES_H

#include "cpu_state.h"
#include "insn.h"

enum {
	DECODE_ACCESSES_MAX = 32, /* of one instruction */
};

/*
 * Find every access that @insn makes when executed with the registers in @cpu
 * (cpu->rip is not used), in the order of its operands. The implicit stack
 * accesses of call, push and pop are included, marked ACCESS_IMPLICIT.
 *
 * For a repeated string instruction these are the accesses of the next
 * repetition, none if the count is zero; a single step makes the same. A
 * masked move makes one access for each run of adjacent selected elements, a
 * gather or scatter one for each selected element, and xsave, xrstor and
 * their variants one for the whole area.
 *
 * Writes at most DECODE_ACCESSES_MAX to @out. Returns their number; -EAGAIN if
 * @cpu lacks a register that is needed (vector, mask, fs_base, gs_base);
 * -EOPNOTSUPP if the accesses are not modelled (AMX tiles, nested enter).
 */
int decode_accesses(const struct insn *insn, const struct cpu_state *cpu,
		    struct access *out);

/*
 * Compute the address of memory operand @m as the processor does, from
 * segment, base, index and displacement. For MEM_VSIB the vector index is left
 * out. Returns 0, or -EAGAIN if the segment's base is not known.
 */
int decode_address(const struct insn *insn, const struct mem_operand *m,
		   const struct cpu_state *cpu, uint64_t *addr);

/* The one access to memory operand @m at @address (not masked, not VSIB). */
void decode_operand(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, struct access *out);

/*
 * decode_accesses for one operand of kind MEM_MASKED or MEM_VSIB at @address,
 * with the vector registers from the caller: @select has a bit for each
 * selected element, @index points to the bytes of the index register (NULL
 * for MEM_MASKED).
 */
int decode_elements(const struct insn *insn, const struct mem_operand *m,
		    uint64_t address, uint64_t select, const void *index,
		    struct access *out);

/*
 * Return a bit for each selected element, from the @bytes of the mask register
 * of a vmaskmov, AVX2 gather or maskmovdqu: the top bit of each element.
 */
uint64_t decode_vector_mask(const struct insn *insn, const void *bytes);

/*
 * Return the index in insn->op of the vector register that holds the mask of a
 * vmaskmov, AVX2 gather or maskmovdqu; -1 if the mask is insn->write_mask.
 */
int decode_mask_operand(const struct insn *insn);

#endif
