/* SPDX-License-Identifier: MIT */
/*
 * trace - write what each thread executes to a .trace file
 *
 * A callback for each block of instructions and one for each access; none for
 * each instruction. Threads fill buffers of their own, and write them out under
 * a lock. src/trace/trace_format.h describes the file.
 */
#ifndef COMDET_PRELOAD_EMU_TRACE_H
#define COMDET_PRELOAD_EMU_TRACE_H

#include "qemu_plugin_abi.h"
#include "state.h"
#include "src/trace/trace_format.h"

/* An instruction that was translated, in its block. */
struct trace_site {
	uint64_t ip;
};

/*
 * Create the file in the directory of the run. Returns 0 or -errno. Context:
 * set-up.
 */
int emu_trace_open(void);

/* Write what is left, and the end. Context: QEMU has stopped all threads, or
 * the program calls exec. */
void emu_trace_finish(void);

/* In a forked child: the file is the parent's. */
void emu_trace_forget(void);

void emu_trace_start(struct vcpu *v);
/* Context: the thread itself. */
void emu_trace_end(struct vcpu *v);

/*
 * Thread @v is going to wait: who reads the trace from a pipe needs what it did
 * until now, to go on with the others.
 */
void emu_trace_waits(struct vcpu *v);

/* Thread @v creates the thread @child, which has not run yet. */
void emu_trace_create(struct vcpu *v, struct vcpu *child);

/*
 * Thread @v synchronizes: put that into its trace. Context: the thread itself,
 * or of thread @child of emu_trace_create its creator.
 */
void emu_trace_event(struct vcpu *v, enum trace_event_kind kind,
		     uint64_t object, uint64_t argument);

/* What @v executes from now on is, or is no, work of the program. */
void emu_trace_silence(struct vcpu *v, bool silent);
bool emu_trace_is_silent(const struct vcpu *v);

/*
 * Register callbacks for @tb; @on_access gets a struct trace_site. Context:
 * translation.
 */
void emu_trace_translate(struct qemu_plugin_tb *tb,
			 qemu_plugin_mem_cb on_access);

/* In trace_flush.c: write what thread @t has put. Context: the thread itself.
 */
void emu_trace_flush(struct trace_thread *t);

#endif
