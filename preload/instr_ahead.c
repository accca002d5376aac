/* SPDX-License-Identifier: MIT */
/*
 * instr_ahead - from a sampled access to the thread's next hook
 *
 * A use that is armed by a register before it is made traps, which in a virtual
 * machine takes longer than all the rest of a sample. To arm it at the thread's
 * next hook instead spares the trap, but what code without hooks does until
 * then would be missed. So that code is carried out beforehand, on a copy
 * (interp.h): if it touches the bytes once, which is the use, and comes to a
 * hook, nothing can be missed.
 *
 * What a hook's caller knows when it goes on are the registers that calls
 * preserve. The others have no meaning to it.
 */
#include <string.h>

#include "instr_source.h"
#include "interp.h"
#include "memread.h"
#include "state.h"
#include "signal_safe.h"

enum {
	PAGE = 4096,
	ACCESSES_MAX = 24, /* on the way */
};

static uint64_t thread_pointer(void)
{
	uint64_t p;

	/* The first word of a thread's control block is its address. */
	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
}

static bool is_hook(uint64_t ip)
{
	for (int i = 0; i < instr_libraries(); i++) {
		const struct instr_library *l = instr_library(i);

		if (l && ip >= (uint64_t)(uintptr_t)l->hooks_low &&
		    ip < (uint64_t)(uintptr_t)l->hooks_high)
			return true;
	}
	return false;
}

static struct cpu_state returned(const struct instr_caller *from)
{
	return (struct cpu_state){
		.gpr = {
			[GPR_RBX] = from->saved->rbx,
			[GPR_RSP] = from->rsp,
			[GPR_RBP] = from->saved->rbp,
			[12] = from->saved->r12,
			[13] = from->saved->r13,
			[14] = from->saved->r14,
			[15] = from->saved->r15,
		},
		.rip = from->rip,
		.rflags = 0x202, /* interrupts; all else as calls leave it */
		.fs_base = thread_pointer(),
	};
}

uint64_t instr_ahead(struct thread *t, const struct instr_caller *from,
		     const struct watch_range *w)
{
	struct interp *in = t->choose.interp;
	struct cpu_state cpu = returned(from);
	uint64_t page = cpu.rip & -(uint64_t)PAGE;
	struct memory mem = { memread, t, page, page + PAGE };
	struct access watched = { .addr = w->addr, .len = w->len };
	uint64_t call = 0;
	int uses = 0;

	if (!from->saved)
		return 0;
	interp_begin(in, &cpu, &mem);
	for (uint32_t n = 0; n < ACCESSES_MAX; n++) {
		const struct access *a = interp_access(in, n);

		if (interp_count(in) <= n &&
		    interp_run(in, n + 1) != INTERP_REACHED)
			return 0;
		uses += access_overlaps(a, &watched);
		if (uses > 1)
			return 0;
		/* A call's access is its return address. */
		if (a->flags & ACCESS_IMPLICIT && access_stores(a))
			call = a->ip;
		if (interp_count(in) == n + 1 && is_hook(interp_ip(in)))
			return uses ? call : 0;
	}
	return 0;
}
