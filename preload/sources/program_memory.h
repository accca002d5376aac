/* SPDX-License-Identifier: MIT */
/*
 * program_memory - read the profiled program's memory and code
 *
 * Context: handler, on the handler's stack.
 */
#ifndef COMDET_PRELOAD_SOURCES_PROGRAM_MEMORY_H
#define COMDET_PRELOAD_SOURCES_PROGRAM_MEMORY_H

#include "preload/core/thread.h"

struct cpu_state;

/* How to read memory around the code at @ip, which may be unmapped. */
struct memory program_memory(struct thread *t, uint64_t ip);

/* The same around @cpu's next instruction, whose page is mapped. */
struct memory program_memory_at(struct thread *t, const struct cpu_state *cpu);

/* The access that hit a watchpoint on @w; false if it cannot be told. */
bool program_trapped(struct thread *t, const struct cpu_state *cpu,
		     const struct watch_range *w, struct access *a);

#endif
