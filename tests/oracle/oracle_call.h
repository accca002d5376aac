/* SPDX-License-Identifier: MIT */
/*
 * oracle_call - run code with all registers loaded from a structure
 *
 * oracle_call() loads the registers and jumps to oracle.target. The code must
 * end with a jump to oracle_exit, which saves all registers to the structure.
 */
#ifndef COMDET_TESTS_ORACLE_ORACLE_CALL_H
#define COMDET_TESTS_ORACLE_ORACLE_CALL_H

#include <stddef.h>
#include <stdint.h>

/* The registers that oracle_call loads and saves. */
struct oracle_state {
	uint64_t gpr[16];
	uint64_t rflags;
	uint64_t own_rsp;
	uint64_t target;
	uint64_t mxcsr, own_mxcsr;
	uint64_t mask[8];
	uint8_t vec[32][64];
} __attribute__((aligned(64)));

extern struct oracle_state oracle;
struct oracle_state oracle;
/* enum oracle_vectors: which vector registers are loaded and saved. */
extern uint64_t oracle_vectors;
uint64_t oracle_vectors;
void oracle_call(void);
extern const char oracle_exit[];

/* clang-format off */
#define EACH8(X)  X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)
#define EACH16(X) EACH8(X) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define EACH_HIGH16(X) \
	X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23) \
	X(24) X(25) X(26) X(27) X(28) X(29) X(30) X(31)
#define VECTOR(n) "oracle+232+64*" #n "(%rip)"
#define MASK(n)   "oracle+168+8*" #n "(%rip)"
#define LOAD_XMM(n) "movups " VECTOR(n) ", %xmm" #n "\n\t"
#define SAVE_XMM(n) "movups %xmm" #n ", " VECTOR(n) "\n\t"
#define LOAD_YMM(n) "vmovups " VECTOR(n) ", %ymm" #n "\n\t"
#define SAVE_YMM(n) "vmovups %ymm" #n ", " VECTOR(n) "\n\t"
#define LOAD_ZMM(n) "vmovups " VECTOR(n) ", %zmm" #n "\n\t"
#define SAVE_ZMM(n) "vmovups %zmm" #n ", " VECTOR(n) "\n\t"
#define LOAD_K(n)   "kmovq " MASK(n) ", %k" #n "\n\t"
#define SAVE_K(n)   "kmovq %k" #n ", " MASK(n) "\n\t"

_Static_assert(offsetof(struct oracle_state, mask) == 168, "in the assembler");
_Static_assert(offsetof(struct oracle_state, vec) == 232, "in the assembler");

__asm__(".text\n"
	".globl oracle_call, oracle_exit\n"
	"oracle_call:\n\t"
	"push %rbx; push %rbp; push %r12; push %r13; push %r14; push %r15\n\t"
	"mov %rsp, oracle+136(%rip)\n\t"
	"stmxcsr oracle+160(%rip)\n\t"
	"ldmxcsr oracle+152(%rip)\n\t"
	"cmpq $1, oracle_vectors(%rip)\n\t"
	"jb 1f\n\t"
	"je 2f\n\t"
	EACH16(LOAD_ZMM) EACH_HIGH16(LOAD_ZMM) EACH8(LOAD_K)
	"jmp 3f\n"
	"1:\t" EACH16(LOAD_XMM)
	"jmp 3f\n"
	"2:\t" EACH16(LOAD_YMM)
	"3:\tpushq oracle+128(%rip)\n\t"
	"popfq\n\t"
	"mov oracle+0(%rip), %rax; mov oracle+8(%rip), %rcx\n\t"
	"mov oracle+16(%rip), %rdx; mov oracle+24(%rip), %rbx\n\t"
	"mov oracle+32(%rip), %rsp; mov oracle+40(%rip), %rbp\n\t"
	"mov oracle+48(%rip), %rsi; mov oracle+56(%rip), %rdi\n\t"
	"mov oracle+64(%rip), %r8; mov oracle+72(%rip), %r9\n\t"
	"mov oracle+80(%rip), %r10; mov oracle+88(%rip), %r11\n\t"
	"mov oracle+96(%rip), %r12; mov oracle+104(%rip), %r13\n\t"
	"mov oracle+112(%rip), %r14; mov oracle+120(%rip), %r15\n\t"
	"jmp *oracle+144(%rip)\n"
	"oracle_exit:\n\t"
	"mov %rax, oracle+0(%rip); mov %rcx, oracle+8(%rip)\n\t"
	"mov %rdx, oracle+16(%rip); mov %rbx, oracle+24(%rip)\n\t"
	"mov %rsp, oracle+32(%rip); mov %rbp, oracle+40(%rip)\n\t"
	"mov %rsi, oracle+48(%rip); mov %rdi, oracle+56(%rip)\n\t"
	"mov %r8, oracle+64(%rip); mov %r9, oracle+72(%rip)\n\t"
	"mov %r10, oracle+80(%rip); mov %r11, oracle+88(%rip)\n\t"
	"mov %r12, oracle+96(%rip); mov %r13, oracle+104(%rip)\n\t"
	"mov %r14, oracle+112(%rip); mov %r15, oracle+120(%rip)\n\t"
	"mov oracle+136(%rip), %rsp\n\t"
	"pushfq\n\t"
	"popq oracle+128(%rip)\n\t"
	"cld\n\t"
	"cmpq $1, oracle_vectors(%rip)\n\t"
	"jb 1f\n\t"
	"je 2f\n\t"
	EACH16(SAVE_ZMM) EACH_HIGH16(SAVE_ZMM) EACH8(SAVE_K)
	"vzeroupper\n\t"
	"jmp 3f\n"
	"1:\t" EACH16(SAVE_XMM)
	"jmp 3f\n"
	"2:\t" EACH16(SAVE_YMM)
	"vzeroupper\n"
	"3:\tstmxcsr oracle+152(%rip)\n\t"
	"ldmxcsr oracle+160(%rip)\n\t"
	"emms\n\t"
	"pop %r15; pop %r14; pop %r13; pop %r12; pop %rbp; pop %rbx\n\t"
	"ret\n");
/* clang-format on */

#endif
