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
 * register it needs (vector, mask, fs_base, gs_base) is not known in @cpu;
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
