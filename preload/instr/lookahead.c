/* SPDX-License-Identifier: MIT */
/*
 * lookahead - from a sampled access to the thread's next hook
 *
 * If a register watches the bytes of a use before the use is made, the use
 * traps. In a virtual machine a trap takes longer than all the rest of a
 * sample. Arming at the thread's next hook instead saves the trap, but would
 * miss what code without hooks does until then. So we emulate that code first,
 * on a copy of its state (interp/interp.h): if it touches the bytes once, which
 * is the use, and arrives at a hook, nothing can be missed.
 *
 * The only registers known are those that calls preserve. The code after a call
 * does not depend on the others.
 */
#include <string.h>

#include "lookahead.h"
#include "hook_code.h"
#include "preload/core/memread.h"
#include "preload/core/thread.h"
#include "src/x86/decode/decode.h"
#include "src/x86/interp/interp.h"
#include "src/base/signal_safe.h"

enum {
	PAGE = 4096,
	ACCESSES_MAX = 24, /* up to the call of the hook */
	JUMP_ACCESSES =
		1, /* the jump to the hook reads its address in a table */
};

static uint64_t thread_pointer(void)
{
	uint64_t p;

	/* The first word of a thread's control block is its own address. */
	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
}

static bool is_call(const struct memory *mem, uint64_t ip)
{
	struct insn scratch;
	const struct insn *insn;
	int error;

	insn = decode_at(mem, ip, &scratch, &error);
	return insn && insn->flow == FLOW_CALL;
}

static struct cpu_state returned(const struct instr_call *from)
{
	const struct instr_saved *saved = from->saved;

	return (struct cpu_state){
		.gpr = {
			[GPR_RBX] = saved->rbx,
			[GPR_RSP] = from->sp,
			[GPR_RBP] = saved->rbp,
			[12] = saved->r12,
			[13] = saved->r13,
			[14] = saved->r14,
			[15] = saved->r15,
		},
		.rip = from->ip,
		.rflags = 0x202, /* interrupts enabled; a call leaves the rest undefined */
		.fs_base = thread_pointer(),
		.fs_known = true,
	};
}

uint64_t instr_lookahead(struct thread *t, const struct instr_call *from,
			 const struct watch_range *w)
{
	uint64_t page = from->ip & -(uint64_t)PAGE, call = 0;
	struct memory mem = {
		.read = memread,
		.ctx = t,
		.direct_low = page,
		.direct_high = page + PAGE,
	};
	struct access watched = { .addr = w->addr, .len = w->len };
	struct interp *in = t->choose.interp;
	uint32_t left = ACCESSES_MAX;
	struct cpu_state cpu;
	int uses = 0;

	if (!from->saved)
		return 0;
	cpu = returned(from);
	interp_begin(in, &cpu, &mem);
	for (uint32_t n = 0; left--; n++) {
		const struct access *a = interp_access(in, n);

		if (interp_count(in) <= n &&
		    interp_run(in, n + 1) != INTERP_REACHED)
			return 0;
		uses += access_overlaps(a, &watched);
		if (uses > 1)
			return 0;
		if (interp_count(in) != n + 1)
			continue; /* the instruction makes more accesses */
		/* A call stores its return address. */
		if (!call && is_call(&mem, a->ip)) {
			call = a->ip;
			left = JUMP_ACCESSES;
		}
		if (instr_hook_code_reports(interp_ip(in)))
			return uses ? call : 0;
	}
	return 0;
}
