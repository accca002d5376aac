/* SPDX-License-Identifier: MIT */
/*
 * sample - from an interrupt or a trap to the engine, and from the engine to
 * the file
 *
 * Context: handler, on the handler's stack, unless a function says otherwise.
 */
#ifndef COMDET_PRELOAD_SOURCES_SAMPLE_H
#define COMDET_PRELOAD_SOURCES_SAMPLE_H

#include "preload/core/thread.h"
#include "preload/watch/watch.h"

/* The engine's results go to the thread's rows in the file. */
extern const struct comm_sink sample_sink;

/*
 * The clock interrupted the thread: choose one access, which stands for @weight
 * samples at the full rate.
 */
void sample_interrupt(struct thread *t, const struct cpu_state *cpu,
		      uint32_t weight);

/*
 * One of the thread's own registers trapped, as @s says: an execution
 * breakpoint, or a watchpoint that the map or a use has armed.
 */
void sample_trap(struct thread *t, const struct watch_signal *s,
		 const struct cpu_state *cpu);

/*
 * A sample of a hardware event: access @a at @time on @core. Every access is
 * equally likely, so nothing is chosen.
 */
void sample_hardware(struct thread *t, const struct access *a, uint64_t time,
		     uint32_t core);

/* source_ops.time of sources whose engine counts time in ns. */
uint64_t sample_time(const struct thread *t);

#endif
