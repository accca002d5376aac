/* SPDX-License-Identifier: MIT */
/*
 * backdecode - find the instruction before an instruction
 *
 * x86-64 code cannot be decoded backwards with certainty. In practice it
 * works to decode forwards from many earlier offsets and let them vote for the
 * instruction boundary. After a data watchpoint the answer is nearly certain,
 * because the instruction's effective address must touch the watched bytes.
 *
 * Context: any, handler included.
 */
#ifndef COMDET_X86_DECODE_BACKDECODE_H
#define COMDET_X86_DECODE_BACKDECODE_H

#include "src/base/access.h"
#include "cpu_state.h"
#include "memory.h"

/*
 * Find the access that a thread interrupted at @cpu has just completed. The
 * instruction before cpu->rip must have an explicit memory operand and must
 * not have overwritten the registers of its address.
 * Returns 0; -ENOENT if that instruction made no such access; -EAGAIN if it
 * is not certain which instruction came before, as at the target of a branch,
 * or if its address is lost.
 */
int backdecode_stalled(const struct cpu_state *cpu, const struct memory *mem,
		       struct access *a);

/*
 * Find the access that hit a data watchpoint on @len bytes at @addr; cpu->rip
 * is the next instruction. Calls, returns and string instructions are
 * considered too. @stores_only: the watchpoint fires for stores alone.
 *
 * A load may overwrite the register of its own address, as mov rax, [rax]
 * does. Its address is then the one that touches the watched bytes and holds
 * the value loaded; if several do, @a gets the watched bytes as address and
 * length. The address of a return instruction is lost; a->ip is that of the
 * call that it returned from.
 * Returns 0, or -EAGAIN if no instruction or more than one explains the trap.
 */
int backdecode_trapped(const struct cpu_state *cpu, const struct memory *mem,
		       uint64_t addr, uint32_t len, bool stores_only,
		       struct access *a);

#endif
