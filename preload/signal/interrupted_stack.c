/* SPDX-License-Identifier: MIT */
/*
 * interrupted_stack - handlers that did not ask for the alternate stack
 *
 * From high to low addresses the interrupted stack gets, as the kernel does it:
 *
 *	the red zone of the interrupted function
 *	struct handler_call (only we have that)
 *	the floating-point and vector registers, 64-byte aligned
 *	siginfo, context, and the address that the handler returns to
 *
 * The last three are a copy of our own frame; the context's pointer to the
 * registers is set to their copy. If the stack is full, the copy faults and the
 * process dies of SIGSEGV, as it does if the kernel finds no room.
 */
#include <string.h>

#include "interrupted_stack.h"
#include "src/base/signal_safe.h"

enum {
	RED_ZONE = 128,
	/* The kernel's struct ucontext has one word of mask, libc's sixteen. */
	UCONTEXT_BYTES = 304,
	FRAME_BYTES = 8 + UCONTEXT_BYTES + 128,
	LEGACY_BYTES = 512, /* of registers, if the kernel says no more */
	SIZE_AT = 468,      /* struct _fpx_sw_bytes: extended_size, after */
	MAGIC_AT = 464,     /* magic1 */
	MAGIC = 0x46505853, /* FP_XSTATE_MAGIC1 */
	FLAG_TRAP = 0x100,
	FLAG_DIRECTION = 0x400,
	FLAG_RESUME = 0x10000,
};

#define AUTODISARM (1u << 31) /* SS_AUTODISARM */

/*
 * A processor that keeps return addresses on a stack of its own would not
 * return through our frame. Reads 0 where it does not.
 */
static bool has_shadow_stack(void)
{
	uint64_t pointer = 0;

	__asm__ volatile(".byte 0xf3, 0x48, 0x0f, 0x1e, 0xc8" /* rdsspq %rax */
			 : "+a"(pointer));
	return pointer;
}

static bool is_on(const stack_t *s, uint64_t address)
{
	return address - (uint64_t)(uintptr_t)s->ss_sp < s->ss_size;
}

bool interrupted_another_stack(const ucontext_t *uc)
{
	const stack_t *s = &uc->uc_stack;

	/* The kernel takes the stack's upper end for a part of it. */
	return !(s->ss_flags & SS_DISABLE) &&
	       is_on(s, (uint64_t)(uintptr_t)uc) &&
	       !is_on(s, uc->uc_mcontext.gregs[REG_RSP] - 1) &&
	       !has_shadow_stack();
}

static size_t registers_bytes(const char *registers)
{
	uint32_t magic, bytes;

	memcpy(&magic, registers + MAGIC_AT, sizeof(magic));
	memcpy(&bytes, registers + SIZE_AT, sizeof(bytes));
	return magic == MAGIC ? bytes : LEGACY_BYTES;
}

/* The state in which the kernel begins a handler. */
static void enter_at(ucontext_t *uc, uint64_t ip, uint64_t sp, uint64_t mask)
{
	greg_t *g = uc->uc_mcontext.gregs;

	g[REG_RIP] = ip;
	g[REG_RSP] = sp;
	g[REG_RAX] = 0;
	g[REG_EFL] &= ~(greg_t)(FLAG_TRAP | FLAG_DIRECTION | FLAG_RESUME);
	uc->uc_mcontext.fpregs = NULL; /* initial ones */
	set_kernel_mask(&uc->uc_sigmask, mask);
	if ((uint32_t)uc->uc_stack.ss_flags & AUTODISARM) {
		uc->uc_stack.ss_flags = SS_DISABLE;
		uc->uc_stack.ss_sp = NULL;
		uc->uc_stack.ss_size = 0;
	}
}

void interrupted_stack_call(int sig, const siginfo_t *info, ucontext_t *uc,
			    uint64_t mask, const struct handler_call *call,
			    void (*run)(int, siginfo_t *, void *,
					const struct handler_call *))
{
	greg_t *g = uc->uc_mcontext.gregs;
	const char *registers = (const char *)uc->uc_mcontext.fpregs;
	size_t bytes = registers ? registers_bytes(registers) : 0;
	uint64_t sp = g[REG_RSP] - RED_ZONE, call_at, registers_at, frame;
	ucontext_t *copy;

	call_at = (sp - sizeof(*call)) & ~63ull;
	registers_at = (call_at - bytes) & ~63ull;
	/* At a function's first instruction the stack is 8 beside 16. */
	frame = ((registers_at - FRAME_BYTES) & ~15ull) - 8;
	memcpy((void *)(uintptr_t)call_at, call, sizeof(*call));
	if (registers)
		memcpy((void *)(uintptr_t)registers_at, registers, bytes);
	/* The word before the context is the return address. */
	memcpy((void *)(uintptr_t)frame, (const char *)uc - 8, FRAME_BYTES);
	memcpy((void *)(uintptr_t)(frame + 8 + UCONTEXT_BYTES), info,
	       sizeof(*info));
	copy = (ucontext_t *)(uintptr_t)(frame + 8);
	copy->uc_mcontext.fpregs =
		registers ? (fpregset_t)(uintptr_t)registers_at : NULL;
	g[REG_RDI] = sig;
	g[REG_RSI] = (greg_t)(frame + 8 + UCONTEXT_BYTES);
	g[REG_RDX] = (greg_t)(frame + 8);
	g[REG_RCX] = (greg_t)call_at;
	enter_at(uc, (uint64_t)(uintptr_t)run, frame, mask);
}
