/* SPDX-License-Identifier: MIT */
/*
 * jump - jumps and context switches that restore a mask
 *
 * sigsetjmp and getcontext save the kernel's mask. The other half of the
 * application's mask is our flag signal_self()->blocks. The saved set has
 * sixteen words, and the kernel fills only the first; so we save the flag in
 * the last one, and siglongjmp, setcontext and swapcontext restore it from
 * there.
 *
 * One of our functions cannot call a function that returns twice: the stubs
 * below save the flag and jump on to the C library with the caller's stack and
 * return address, so the library sees the caller.
 */
#include <setjmp.h>
#include <signal.h>
#include <ucontext.h>

#include "preload/signal/claimed.h"
#include "preload/signal/quiet.h"
#include "preload/signal/real.h"
#include "src/base/signal_safe.h"

#define FLAG_MAGIC 0x434f4d4445544a30ull /* + 1 if blocked */

enum {
	FLAG_WORD = sizeof(sigset_t) / sizeof(uint64_t) - 1
};

static void note(sigset_t *saved)
{
	uint64_t word = FLAG_MAGIC + signal_blocks_now();

	if (signal_claimed())
		memcpy((uint64_t *)saved + FLAG_WORD, &word, sizeof(word));
}

/*
 * A saved set without our mark, such as one in a signal frame, says nothing
 * about the flag. But a jump leaves a handler of the application's, so a flag
 * that was set for that handler is cleared.
 */
static void restore(const sigset_t *saved)
{
	uint64_t word;

	signal_self()->waits = signal_self()->suspends = false;
	if (!signal_claimed())
		return;
	memcpy(&word, (const uint64_t *)saved + FLAG_WORD, sizeof(word));
	if (word - FLAG_MAGIC > 1) {
		if (signal_self()->handles && !signal_is_in(saved))
			signal_blocks_set(false, 0);
		signal_blocks_beside(kernel_mask(saved));
		return;
	}
	if ((bool)(word - FLAG_MAGIC) == signal_blocks_get())
		signal_blocks_beside(kernel_mask(saved));
	else
		signal_blocks_set(word - FLAG_MAGIC, kernel_mask(saved));
	if (!signal_self()->held)
		signal_quiet_end();
}

void *sigsetjmp_enter(struct __jmp_buf_tag *env, int save_mask);
__attribute__((used)) void *sigsetjmp_enter(struct __jmp_buf_tag *env,
					    int save_mask)
{
	if (save_mask)
		note(&env->__saved_mask);
	return (void *)(uintptr_t)REAL(__sigsetjmp);
}

void *getcontext_enter(ucontext_t *to);
__attribute__((used)) void *getcontext_enter(ucontext_t *to)
{
	note(&to->uc_sigmask);
	return (void *)(uintptr_t)REAL(getcontext);
}

void *swapcontext_enter(ucontext_t *from, const ucontext_t *to);
__attribute__((used)) void *swapcontext_enter(ucontext_t *from,
					      const ucontext_t *to)
{
	note(&from->uc_sigmask);
	restore(&to->uc_sigmask);
	return (void *)(uintptr_t)REAL(swapcontext);
}

/*
 * NAME: call NAME_enter with the same arguments, jump to the address it returns
 */
#define STUB(name, enter)                                                      \
	__asm__(".pushsection .text\n\t"                                       \
		".globl " name "\n\t"                                          \
		".type " name ", @function\n" name ":\n\t"                     \
		".cfi_startproc\n\t"                                           \
		"endbr64\n\t"                                                  \
		"pushq %rdi\n\t"                                               \
		".cfi_adjust_cfa_offset 8\n\t"                                 \
		"pushq %rsi\n\t"                                               \
		".cfi_adjust_cfa_offset 8\n\t"                                 \
		"subq $8, %rsp\n\t"                                            \
		".cfi_adjust_cfa_offset 8\n\t"                                 \
		"call " enter "\n\t"                                           \
		"addq $8, %rsp\n\t"                                            \
		".cfi_adjust_cfa_offset -8\n\t"                                \
		"popq %rsi\n\t"                                                \
		".cfi_adjust_cfa_offset -8\n\t"                                \
		"popq %rdi\n\t"                                                \
		".cfi_adjust_cfa_offset -8\n\t"                                \
		"jmp *%rax\n\t"                                                \
		".cfi_endproc\n\t"                                             \
		".size " name ", . - " name "\n\t"                             \
		".popsection")

STUB("__sigsetjmp", "sigsetjmp_enter");
STUB("getcontext", "getcontext_enter");
STUB("swapcontext", "swapcontext_enter");

/* The jump restores the mask only if it was saved, whichever function jumps. */
static void before_jump(const struct __jmp_buf_tag *env)
{
	signal_self()->waits = signal_self()->suspends = false;
	if (env->__mask_was_saved)
		restore(&env->__saved_mask);
}

#define JUMP(name)                                                             \
	void name(struct __jmp_buf_tag env[1], int value);                     \
	EXPORT void name(struct __jmp_buf_tag env[1], int value)               \
	{                                                                      \
		before_jump(env);                                              \
		REAL(name)(env, value);                                        \
		__builtin_unreachable();                                       \
	}

JUMP(siglongjmp)
JUMP(longjmp)
JUMP(_longjmp)
JUMP(__longjmp_chk)

EXPORT int setcontext(const ucontext_t *to)
{
	restore(&to->uc_sigmask);
	return REAL(setcontext)(to);
}
