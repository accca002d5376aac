/* SPDX-License-Identifier: MIT */
/*
 * probe - try, in a process of its own, what the sources need
 *
 * Opening is not enough: some virtual machines open debug registers that
 * never fire. Each probe therefore sees its effect, and runs in a forked
 * child with a time limit, so that no surprise can end the caller.
 */
#ifndef COMDET_ANALYSIS_DOCTOR_PROBE_H
#define COMDET_ANALYSIS_DOCTOR_PROBE_H

#include <stdbool.h>

enum probe_end {
	PROBE_WORKS,
	PROBE_REFUSED, /* a system call failed: error */
	PROBE_SILENT,  /* all calls succeeded and nothing was delivered */
	PROBE_KILLED,  /* signal ended the child: error is its number */
};

struct probe {
	enum probe_end end;
	int error;
	int count; /* what a probe counts; its own comment says */
};

/* A task-clock sample as a synchronous SIGTRAP. */
void probe_sigtrap(struct probe *p);
/* The same while the thread has SIGTRAP blocked: kills before Linux 5.19. */
void probe_sigtrap_blocked(struct probe *p);
/* A signal of a POSIX timer on this thread's CPU clock. */
void probe_timer(struct probe *p);
/* process_vm_readv on itself; of an unmapped address it must fail. */
void probe_vm_read(struct probe *p);
/*
 * A watchpoint on @bytes (8 or 64), triggered by a store, delivered by
 * SIGTRAP or, with @rtsig, by a real-time signal. count: hits.
 */
void probe_watchpoint(struct probe *p, int bytes, bool rtsig);
/* How many 8-byte watchpoints can be open at once. count: that. */
void probe_registers(struct probe *p);

#endif
