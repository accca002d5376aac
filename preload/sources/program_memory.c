/* SPDX-License-Identifier: MIT */
/*
 * program_memory - read the profiled program's memory and code
 */
#include "program_memory.h"
#include "preload/threads/stack_bounds.h"
#include "preload/watch/watch.h"
#include "src/x86/decode/backdecode.h"
#include "src/base/signal_safe.h"

enum {
	PAGE_MASK = 4095,
	RED_ZONE = 128,
};

static uint64_t page_of(uint64_t addr)
{
	return addr & ~(uint64_t)PAGE_MASK;
}

/*
 * The page of the stack pointer is mapped for certain, if the kernel has just
 * written the signal frame there, up to the red zone: the thread returns to it.
 * Not so if the handler runs on an alternate stack.
 */
static bool stack_is_there(const struct cpu_state *cpu)
{
	uint64_t rsp = cpu->gpr[GPR_RSP];
	uint64_t written = cpu_state_frame_end(cpu) - 1;

	return cpu->fxsave && page_of(written) == page_of(rsp) &&
	       written < rsp && rsp - written <= 2 * RED_ZONE;
}

/*
 * What is mapped for certain of the stack in use: all up to the end of the
 * thread's own stack, of another one a page. Our loads would trigger a register
 * that watches it; then it is read by the kernel.
 */
static struct memory_range stack_range(const struct thread *t,
				       const struct cpu_state *cpu)
{
	const struct memory_range none = { 0, 0 };
	struct stack_bounds own = stack_bounds_own();
	uint64_t rsp = cpu->gpr[GPR_RSP];
	struct memory_range r = { page_of(rsp), page_of(rsp) + PAGE_MASK + 1 };

	if (t->reuse || watch_is_the_programs())
		return none;
	if (rsp - own.low < own.bytes)
		r.high = own.low + own.bytes;
	else if (!stack_is_there(cpu))
		return none;
	if (t->comm.armed && t->comm.target.line >= r.low &&
	    t->comm.target.line < r.high)
		return none;
	return r;
}

struct memory program_memory(struct thread *t, uint64_t ip)
{
	struct memory m = runtime.memory;

	m.ctx = t;
	for (uint32_t i = 0; i < runtime.code_count; i++) {
		if (ip < runtime.code[i].low || ip >= runtime.code[i].high)
			continue;
		m.direct_low = runtime.code[i].low;
		m.direct_high = runtime.code[i].high;
		m.direct_is_all = true;
	}
	return m;
}

struct memory program_memory_at(struct thread *t, const struct cpu_state *cpu)
{
	struct memory m = program_memory(t, cpu->rip);

	/* The page that is being executed is mapped; src/x86/decode/memory.h.
	 */
	if (!m.direct_high) {
		m.direct_low = page_of(cpu->rip);
		m.direct_high = m.direct_low + PAGE_MASK + 1;
	}
	m.data[0] = stack_range(t, cpu);
	return m;
}

bool program_trapped(struct thread *t, const struct cpu_state *cpu,
		     const struct watch_range *w, struct access *a)
{
	struct memory m = program_memory_at(t, cpu);

	return !backdecode_trapped(cpu, &m, w->addr, w->len, false, a);
}
