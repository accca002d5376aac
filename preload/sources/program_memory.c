/* SPDX-License-Identifier: MIT */
/*
 * program_memory - read the profiled program's memory and code
 */
#include "program_memory.h"
#include "src/x86/decode/backdecode.h"
#include "src/base/signal_safe.h"

enum {
	PAGE_MASK = 4095
};

struct memory program_memory(struct thread *t, uint64_t ip)
{
	struct memory m = runtime.memory;

	m.ctx = t;
	for (uint32_t i = 0; i < runtime.code_count; i++) {
		if (ip < runtime.code[i].low || ip >= runtime.code[i].high)
			continue;
		m.direct_low = runtime.code[i].low;
		m.direct_high = runtime.code[i].high;
	}
	return m;
}

struct memory program_memory_at(struct thread *t, const struct cpu_state *cpu)
{
	struct memory m = program_memory(t, cpu->rip);

	/* The page that is being executed is mapped; src/x86/decode/memory.h.
	 */
	if (!m.direct_high) {
		m.direct_low = cpu->rip & ~(uint64_t)PAGE_MASK;
		m.direct_high = m.direct_low + PAGE_MASK + 1;
	}
	return m;
}

bool program_trapped(struct thread *t, const struct cpu_state *cpu,
		     const struct watch_range *w, struct access *a)
{
	struct memory m = program_memory_at(t, cpu);

	return !backdecode_trapped(cpu, &m, w->addr, w->len, false, a);
}
