/* SPDX-License-Identifier: MIT */
/*
 * source - what a source of samples does for the rest of the library
 *
 * One process has one source, chosen at the start (start/choose_source.c) and
 * constant from then on: runtime.source. Each source is a folder with one
 * struct source_ops; the common code calls through the table and never asks
 * which source it is. Operations that a source does not need may be NULL where
 * this says so.
 *
 *	order of calls in a process
 *	choose -> start -> open -> (pause, resume)* -> finish
 *	in a thread
 *	thread_begin -> (enter, on_signal, leave)* -> thread_end
 */
#ifndef COMDET_PRELOAD_CORE_SOURCE_H
#define COMDET_PRELOAD_CORE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cdp_header;
struct cpu_state;
struct thread;
struct watch_signal;

/*
 * What -m reuse needs of a source whose uses each thread watches with its own
 * debug registers (sources/thread_reuse.h).
 */
struct source_reuse {
	bool counts_accesses; /* else its unit is ns of CPU time */
	uint32_t registers;   /* that the source keeps for itself */
	/*
	 * Can reuse be measured with what there is? Returns 0, or -ENODEV with
	 * one line for people in @why. Context: set-up, registers having been
	 * tried.
	 */
	int (*possible)(char *why, size_t size);
	/* The thread's count now, false if it has none. Context: handler. */
	bool (*count)(struct thread *t, uint64_t *count);
	/* Stop the thread's events, and let them go on. Context: handler. */
	void (*hold)(struct thread *t);
	void (*release)(struct thread *t);
	/*
	 * How often all threads were paused so far; *@now: they are paused, so
	 * nothing is counted. Context: handler.
	 */
	uint32_t (*pauses)(bool *now);
};

struct source_ops {
	/* Bytes of its own in each thread, zeroed: thread.h, t->source. */
	size_t thread_bytes;

	/* NULL: -m reuse is not measured by thread_reuse.h. */
	const struct source_reuse *reuse;

	/*
	 * Is this the source of the process? Returns 1; 0 if the next one in
	 * the table is to be asked, the reason in @why; or -1 if the process
	 * cannot be profiled, with one line for people in @why. Context:
	 * set-up, the configuration being read.
	 */
	int (*choose)(char *why, size_t size);
	/*
	 * Start without the common way (claim the signal, try the debug
	 * registers, open): NULL where that is right. Returns 0 or -errno.
	 * Anything worth telling people goes to @why. Context: set-up.
	 */
	int (*start)(char *why, size_t size);
	/* Set runtime.period_ns and what follows from it. Context: set-up. */
	void (*set_period)(void);
	/*
	 * Begin to sample: the calling thread, which is the only one, and all
	 * that it creates. Returns 0, or -errno with a reason. Context: set-up.
	 */
	int (*open)(char *why, size_t size);
	/* Describe the source in the file. Context: set-up, at its end. */
	void (*describe)(struct cdp_header *h, const char *why);

	/* All threads. Any context. */
	void (*pause)(void);
	void (*resume)(void);
	/* True if the program closed our descriptors. Context: the end. */
	bool (*was_closed)(void);
	/*
	 * Write the results; with @last nothing more will come, else the
	 * process may go on if it cannot execute another program.
	 */
	void (*finish)(bool last);
	/* Deliver nothing more and disarm. Context: any but our handler. */
	void (*stop)(void);
	/* In a forked child: let go of what was inherited. Context: set-up. */
	void (*after_fork)(void);

	/* In the thread itself. Any context. */
	void (*thread_begin)(struct thread *t);
	void (*thread_end)(struct thread *t);
	/* Write what has been counted into the thread's row. Any context. */
	void (*count)(struct thread *t);

	/*
	 * Around on_signal and the charge for its time: the first and the last
	 * of what the handler does. Context: handler.
	 */
	void (*enter)(struct thread *t);
	void (*leave)(struct thread *t, const struct watch_signal *s);
	/* A sample or a trap came. Context: handler, on the handler's stack. */
	void (*on_signal)(struct thread *t, const struct watch_signal *s,
			  const struct cpu_state *cpu);
	/*
	 * True if on_signal wants traps whose signal was blocked when they
	 * happened; else they are counted as lost and disarmed. Context:
	 * handler.
	 */
	bool (*takes_late_traps)(const struct thread *t);
	/* Drop the samples of @s, outside of the time asked for. Handler. */
	void (*skip)(struct thread *t, const struct watch_signal *s);
	/*
	 * The register of all threads that @s tells of keeps trapping where
	 * signals are blocked: disarm it. Context: handler.
	 */
	void (*disarm_late_trap)(const struct watch_signal *s);
	/* Profiling has ended, and @s came: let no more follow. Handler. */
	void (*disarm_after_stop)(struct thread *t,
				  const struct watch_signal *s);
	/* True if @fd is an event of thread @t. Any context. */
	bool (*has_descriptor)(const struct thread *t, int fd);
	/* The time that the engine of the map sees. Context: handler. */
	uint64_t (*time)(const struct thread *t);
};

#endif
