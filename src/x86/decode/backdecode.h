/* SPDX-License-Identifier: MIT */
/*
 * backdecode - the instruction before an instruction
 *
 * x86-64 cannot be decoded backwards for sure. Decoding from many earlier
 * offsets and taking the vote finds the instruction boundary in practice.
 * After a data watchpoint the answer is nearly certain: the instruction's
 * effective address must touch the watched bytes.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_X86_DECODE_BACKDECODE_H
#define COMDET_X86_DECODE_BACKDECODE_H

#include "src/base/access.h"
#include "cpu_state.h"
#include "memory.h"

/*
 * The access that a thread interrupted at @cpu has just completed, if the
 * instruction before cpu->rip has an explicit memory operand and did not
 * overwrite the registers that its address is made of.
 * Returns 0; -ENOENT if there is none; -EAGAIN if it cannot be told, as at
 * the target of a branch.
 */
int backdecode_stalled(const struct cpu_state *cpu, const struct memory *mem,
		       struct access *a);

/*
 * The access that hit a data watchpoint on @len bytes at @addr; cpu->rip is
 * the next instruction. Considers calls, returns and string instructions too.
 * @stores_only: the watchpoint fires for stores alone.
 *
 * A load that overwrote its own address, mov rax, [rax], was from the address
 * that touches the watched bytes and holds the value loaded; if several do, @a
 * has the watched bytes for address and length. A return's own address is lost:
 * a->ip is that of the call it returned from.
 * Returns 0, or -EAGAIN when several or no instructions would explain it.
 */
int backdecode_trapped(const struct cpu_state *cpu, const struct memory *mem,
		       uint64_t addr, uint32_t len, bool stores_only,
		       struct access *a);

#endif
