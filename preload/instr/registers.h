/* SPDX-License-Identifier: MIT */
/*
 * registers - the registers that tell the calls that led to a place in our code
 */
#ifndef COMDET_PRELOAD_INSTR_REGISTERS_H
#define COMDET_PRELOAD_INSTR_REGISTERS_H

#include <stddef.h>

#include "src/x86/decode/cpu_state.h"

/* Those of the function that this is compiled into. */
static inline __attribute__((always_inline)) void instr_note_registers(
	struct cpu_state *cpu)
{
	__asm__ volatile("lea 0(%%rip), %%rax\n\t"
			 "mov %%rax, %c[rip](%0)\n\t"
			 "mov %%rbx, %c[rbx](%0)\n\t"
			 "mov %%rsp, %c[rsp](%0)\n\t"
			 "mov %%rbp, %c[rbp](%0)\n\t"
			 "mov %%r12, %c[r12](%0)\n\t"
			 "mov %%r13, %c[r13](%0)\n\t"
			 "mov %%r14, %c[r14](%0)\n\t"
			 "mov %%r15, %c[r15](%0)"
			 :
			 : "r"(cpu), [rip] "i"(offsetof(struct cpu_state, rip)),
			   [rbx] "i"(offsetof(struct cpu_state, gpr[GPR_RBX])),
			   [rsp] "i"(offsetof(struct cpu_state, gpr[GPR_RSP])),
			   [rbp] "i"(offsetof(struct cpu_state, gpr[GPR_RBP])),
			   [r12] "i"(offsetof(struct cpu_state, gpr[12])),
			   [r13] "i"(offsetof(struct cpu_state, gpr[13])),
			   [r14] "i"(offsetof(struct cpu_state, gpr[14])),
			   [r15] "i"(offsetof(struct cpu_state, gpr[15]))
			 : "rax", "memory");
}

#endif
