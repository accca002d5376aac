/* SPDX-License-Identifier: MIT */
/*
 * marks - the synchronization that the library in the guest tells of
 *
 * src/trace/sync_marks.h says how. What it tells becomes events of the trace.
 * Where one thread lets another go on, the two events get a number: who woke
 * whom is part of the trace.
 */
#ifndef COMDET_PRELOAD_EMU_MARKS_H
#define COMDET_PRELOAD_EMU_MARKS_H

#include <stdbool.h>
#include <stdint.h>

#include "qemu_plugin_abi.h"
#include "state.h"

/* A thread tells where its mailbox is. Context: its system call. */
void emu_marks_call(struct vcpu *v, const uint64_t arg[6]);

/*
 * True if @tb is code of the library, which is no part of the trace. Context:
 * translation.
 */
bool emu_marks_translate(struct qemu_plugin_tb *tb);

/* A number for an event that lets other threads go on. Context: any. */
uint64_t emu_marks_number(void);

/* The thread has ended. */
void emu_marks_end(struct vcpu *v);

/* In a forked child, whose trace begins anew. */
void emu_marks_forget(void);

#endif
