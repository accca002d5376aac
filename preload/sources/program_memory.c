/* SPDX-License-Identifier: MIT */
/*
 * program_memory - read the profiled program's memory and code
 */
#include "program_memory.h"
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
 * The page of the stack pointer, if it is mapped for certain: the kernel has
 * just written the signal frame up to the red zone, and the thread returns to
 * it. Our loads would trigger a register that watches the page; then it is read
 * by the kernel. Empty if the handler runs on an alternate stack.
 */
static struct memory_range stack_page(const struct thread *t,
				      const struct cpu_state *cpu)
{
	uint64_t rsp = cpu->gpr[GPR_RSP];
	uint64_t written = cpu_state_frame_end(cpu) - 1;
	uint64_t page = page_of(rsp);

	if (!cpu->fxsave || t->reuse || watch_is_the_programs() ||
	    page_of(written) != page || written >= rsp ||
	    rsp - written > 2 * RED_ZONE ||
	    (t->comm.armed && page_of(t->comm.target.line) == page))
		return (struct memory_range){ 0, 0 };
	return (struct memory_range){ page, page + PAGE_MASK + 1 };
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
	m.data[0] = stack_page(t, cpu);
	return m;
}

bool program_trapped(struct thread *t, const struct cpu_state *cpu,
		     const struct watch_range *w, struct access *a)
{
	struct memory m = program_memory_at(t, cpu);

	return !backdecode_trapped(cpu, &m, w->addr, w->len, false, a);
}
