/* SPDX-License-Identifier: MIT */
/*
 * own_stack - run a function on another stack than the program's
 */
#include "own_stack.h"
#include "src/base/signal_safe.h"

void own_stack_call(char *top, void (*fn)(void *), void *arg)
{
	__asm__ volatile("movq %%rsp, %%rbx\n\t"
			 "movq %[top], %%rsp\n\t"
			 "callq *%[fn]\n\t"
			 "movq %%rbx, %%rsp"
			 : "+D"(arg)
			 : [top] "r"(top), [fn] "r"(fn)
			 : "rax", "rbx", "rcx", "rdx", "rsi", "r8", "r9", "r10",
			   "r11", "xmm0", "xmm1", "xmm2", "xmm3", "xmm4",
			   "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10",
			   "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
			   "memory");
}
