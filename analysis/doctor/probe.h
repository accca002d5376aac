/* SPDX-License-Identifier: MIT */
/*
 * probe - try what the sources need, in a process of its own
 *
 * That an event opens is not enough: in some virtual machines debug registers
 * open and never fire. So each probe waits for the effect, and runs in a forked
 * child with a time limit, so that no surprise can end the caller.
 */
#ifndef COMDET_ANALYSIS_DOCTOR_PROBE_H
#define COMDET_ANALYSIS_DOCTOR_PROBE_H

#include <stdbool.h>

enum probe_end {
	PROBE_WORKS,
	PROBE_REFUSED, /* a system call failed with error */
	PROBE_SILENT,  /* all calls succeeded, nothing was delivered */
	PROBE_KILLED,  /* signal number error ended the child */
};

struct probe {
	enum probe_end end;
	int error;
	int count;   /* what the probe counted, see below */
	bool memory; /* probe_attach: memory was refused, not an event */
};

/* Get a task-clock sample as a synchronous SIGTRAP. */
void probe_sigtrap(struct probe *p);
/*
 * The same while the thread blocks SIGTRAP, which kills it before Linux 5.19.
 */
void probe_sigtrap_blocked(struct probe *p);
/* Get a signal from a POSIX timer on this thread's CPU clock. */
void probe_timer(struct probe *p);
/* Read our own memory with process_vm_readv; an unmapped address must fail. */
void probe_vm_read(struct probe *p);
/*
 * Trigger a watchpoint on @bytes (8 or 64) with a store, delivered by SIGTRAP
 * or, with @rtsig, by a real-time signal. count: hits.
 */
void probe_watchpoint(struct probe *p, int bytes, bool rtsig);
/* Open as many 8-byte watchpoints at once as possible. count: how many. */
void probe_registers(struct probe *p);
/*
 * Watch a process as attach does: sample it, and read its memory. That process
 * has the same user and is no descendant of the one that watches, which Yama
 * would favour. count: its debug registers that can be had.
 */
void probe_attach(struct probe *p);

#endif
