/* SPDX-License-Identifier: MIT */
/*
 * source - what a source of samples does for the rest of the library
 *
 * One process has one source, chosen at the start (start/choose_source.c) and
 * constant from then on: runtime.source. Each source is a folder with one
 * struct source_ops; the common code calls through the table and never asks
 * which source it is. An operation that is "NULL: ..." below, and those marked
 * optional, may be missing.
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
 * What -m reuse needs of a source if each thread watches its uses with its own
 * debug registers (sources/thread_reuse.h).
 */
struct source_reuse {
	bool counts_accesses; /* else its unit is ns of CPU time */
	uint32_t registers;   /* debug registers that the source keeps for
				 itself */
	/*
	 * Returns 0 if this machine can measure reuse, else -ENODEV with one
	 * line for people in @why. Context: set-up, after the self-test of the
	 * registers.
	 */
	int (*possible)(char *why, size_t size);
	/* Read the thread's count; false if it has none. Context: handler. */
	bool (*count)(struct thread *t, uint64_t *count);
	/*
	 * Returns how often all threads have been paused. While they are paused
	 * nothing is counted, and *@now is true. Optional. Context: handler.
	 */
	uint32_t (*pauses)(bool *now);
};

struct source_ops {
	/* Bytes that it keeps in each thread, zeroed: t->source in thread.h. */
	size_t thread_bytes;

	/* NULL: thread_reuse.h does not measure -m reuse for this source. */
	const struct source_reuse *reuse;

	/*
	 * Returns 1 if this is the source of the process, 0 with the reason in
	 * @why if the next one in the table is to be asked, and -1 with one
	 * line for people in @why if the process cannot be profiled. Context:
	 * set-up, after the configuration was read.
	 */
	int (*choose)(char *why, size_t size);
	/*
	 * Start the source. NULL: choose_source.c claims the signal, tries the
	 * debug registers and calls open. Returns 0 or -errno. A remark for
	 * people goes to @why. Context: set-up.
	 */
	int (*start)(char *why, size_t size);
	/* Set runtime.period_ns and what follows from it. Context: set-up. */
	void (*set_period)(void);
	/*
	 * Lengthen it if this machine needs that. The signal has its handler,
	 * and nothing is sampled yet. NULL: never.
	 */
	void (*limit_rate)(void);
	/*
	 * Begin to sample the calling thread, which is the only one, and all
	 * threads that it creates. Returns 0, or -errno with the reason in
	 * @why. Context: set-up.
	 */
	int (*open)(char *why, size_t size);
	/* Describe the source in the file. Context: set-up, at its end. */
	void (*describe)(struct cdp_header *h, const char *why);

	/* All threads. Any context. */
	void (*pause)(void);
	void (*resume)(void);
	/* True if the program closed our descriptors. Optional. Context: end.
	 */
	bool (*was_closed)(void);
	/*
	 * Write the results. With @last nothing more will come; without it the
	 * process goes on if its exec fails. Optional.
	 */
	void (*finish)(bool last);
	/* Deliver nothing more, disarm. Optional. Any context but our handler.
	 */
	void (*stop)(void);
	/* In a forked child: release what it inherited. Context: set-up. */
	void (*after_fork)(void);
	/*
	 * In a followed child: interrupt the calling thread, which has no
	 * struct thread, when a sample of it is due. pause and resume are
	 * called for this too, then open, in our handler. Returns 0 or -errno.
	 * NULL: the child's profile begins at the fork. Context: set-up.
	 */
	int (*wait)(void);
	/*
	 * The wait ends with a sample, and open follows; or it ends without
	 * one. NULL if wait is. Context: handler; any.
	 */
	void (*is_due)(void);
	void (*end_wait)(void);

	/* The calling thread begins and ends. Any context. */
	void (*thread_begin)(struct thread *t);
	void (*thread_end)(struct thread *t);
	/* Write the thread's counts into its row. Optional. Any context. */
	void (*count)(struct thread *t);

	/*
	 * Called before on_signal, and after it when its time has been charged
	 * to the thread. Optional. Context: handler.
	 */
	void (*enter)(struct thread *t);
	void (*leave)(struct thread *t, const struct watch_signal *s);
	/* A sample or a trap came. Context: handler, on the handler's stack. */
	void (*on_signal)(struct thread *t, const struct watch_signal *s,
			  const struct cpu_state *cpu);
	/*
	 * True if on_signal wants traps that happened while their signal was
	 * blocked; else the handler counts them as lost and disarms them.
	 * Context: handler.
	 */
	bool (*takes_late_traps)(const struct thread *t);
	/*
	 * Drop the samples of @s: outside --delay, --duration, in the set-up, or
	 * because the clock's signal came too late. Optional.
	 */
	void (*skip)(struct thread *t, const struct watch_signal *s);
	/*
	 * @s names a register that watches in all threads. It keeps trapping
	 * where signals are blocked: disarm it. Optional. Context: handler.
	 */
	void (*disarm_late_trap)(const struct watch_signal *s);
	/* @s came after the end: disarm its event. Optional. Handler. */
	void (*disarm_after_stop)(struct thread *t,
				  const struct watch_signal *s);
	/* True if @fd is an event of thread @t. Optional. Any context. */
	bool (*has_descriptor)(const struct thread *t, int fd);
	/* True if @fd is an event of any thread. Optional. Any context. */
	bool (*has_anywhere)(int fd);
	/* Now, in the unit in which the map's engine counts. Handler. */
	uint64_t (*time)(const struct thread *t);
};

#endif
