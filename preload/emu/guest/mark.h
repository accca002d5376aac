/* SPDX-License-Identifier: MIT */
/*
 * mark - tell the plugin what the program's threads do
 *
 * This library runs in the profiled program, under QEMU. It calls the function
 * that it wraps, allocates nothing and prints nothing. Between mark_enter and
 * mark_leave the plugin counts no instruction as the program's.
 */
#ifndef COMDET_PRELOAD_EMU_GUEST_MARK_H
#define COMDET_PRELOAD_EMU_GUEST_MARK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "src/trace/sync_marks.h"

#pragma GCC visibility push(hidden)

/* A call that the program makes is about to be made: nothing, or what it is. */
void mark_enter(enum sync_mark_kind kind, const void *object,
		uint64_t argument);
/* It has returned. */
void mark_leave(enum sync_mark_kind kind, const void *object,
		uint64_t argument);
void mark(enum sync_mark_kind kind, const void *object, uint64_t argument);

/*
 * Code of the program runs inside a call: it counts. Returns what mark_suspend
 * needs when that code has returned.
 */
uint32_t mark_resume(enum sync_mark_kind kind, const void *object,
		     uint64_t argument);
void mark_suspend(uint32_t before, enum sync_mark_kind kind, const void *object,
		  uint64_t argument);

/* Is the calling thread inside a wrapped call? */
uint32_t mark_depth(void);

/* If a call is left by an exception or by cancellation: see MARK_GUARD. */
void mark_restore(const uint32_t *depth);
#define MARK_GUARD                                                             \
	__attribute__((cleanup(mark_restore))) const uint32_t guard =          \
		mark_depth()

/* The function @name that we stand for, the version @version if it has one. */
void *mark_find(void *_Atomic *found, const char *name, const char *version);

#pragma GCC visibility pop

/* Declare `real`, the function @name that we stand for. */
#define MARK_REAL_VERSION(name, version)                                       \
	static void *_Atomic found;                                            \
	__typeof__(name) *real = mark_find(&found, #name, version)
#define MARK_REAL(name) MARK_REAL_VERSION(name, NULL)

#endif
