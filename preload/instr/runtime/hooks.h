/* SPDX-License-Identifier: MIT */
/*
 * hooks - count an access, inline in every hook
 *
 * Hooks run anywhere in the program: before any constructor, in signal
 * handlers, in forked children. They take no lock, call only the listener, and
 * keep errno.
 */
#ifndef COMDET_PRELOAD_INSTR_RUNTIME_HOOKS_H
#define COMDET_PRELOAD_INSTR_RUNTIME_HOOKS_H

#include <stdbool.h>

#include "instr.h"

#define EXPORT      __attribute__((visibility("default")))
#define HIDDEN      __attribute__((visibility("hidden")))

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* The compilers call these functions, but no header declares them. */
#define HOOK(type, name, ...)                                                  \
	type name(__VA_ARGS__);                                                \
	EXPORT type name(__VA_ARGS__)

/* Hooks that report accesses which the program makes. */
#define IN_HOOKS __attribute__((section("comdet_instr_hooks")))
#define ACCESS_HOOK(name, ...)                                                 \
	void name(__VA_ARGS__);                                                \
	EXPORT IN_HOOKS void name(__VA_ARGS__)

extern HIDDEN struct instr_library instr_library;
extern HIDDEN __thread struct instr_thread instr_self
	__attribute__((tls_model("initial-exec")));
/*
 * Report an event; the access has already been counted. instr_event is for
 * hooks that have changed no register which calls preserve.
 */
HIDDEN void instr_event(uint64_t addr, enum instr_class class, uint64_t ip,
			uint64_t sp);
HIDDEN void instr_atomic_event(uint64_t addr, enum instr_class class,
			       uint64_t ip, uint64_t sp);
HIDDEN void instr_range_event(uint64_t addr, enum instr_class class,
			      uint64_t ip, uint64_t bytes, uint64_t sp);

/* In a hook: the stack pointer of its caller. */
#define CALLERS_SP ((uint64_t)(uintptr_t)__builtin_dwarf_cfa())

static inline __attribute__((always_inline)) uint8_t instr_may_be_watched(
	uint64_t addr)
{
	const uint8_t *_Atomic *word =
		(void *)((char *)&instr_library.watched + instr_self.watched);
	const uint8_t *table = atomic_load_explicit(word, memory_order_relaxed);

	return table[instr_watched_entry(addr)];
}

/*
 * Count an access. Returns true if it is an event. One branch tests both
 * reasons, although that takes more instructions: a branch that is never taken
 * costs a processor nothing, but once it was taken it is predicted from then
 * on, and costs tight loops a cycle each.
 */
static inline __attribute__((always_inline)) bool instr_counts(
	uint64_t addr, enum instr_class class)
{
	uint64_t run_out = (uint64_t)--instr_self.left[class] >> 63;

	return UNLIKELY(run_out | instr_may_be_watched(addr));
}

/* Inlined into the hook itself, so that the return address is the program's. */
static inline __attribute__((always_inline)) void instr_access(
	const volatile void *p, enum instr_class class)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;

	if (instr_counts(addr, class))
		instr_event(addr, class,
			    (uint64_t)(uintptr_t)__builtin_return_address(0),
			    CALLERS_SP);
}

/* The same for a hook that makes the access itself. */
static inline __attribute__((always_inline)) void instr_atomic(
	const volatile void *p, enum instr_class class)
{
	uint64_t addr = (uint64_t)(uintptr_t)p;

	if (instr_counts(addr, class))
		instr_atomic_event(
			addr, class,
			(uint64_t)(uintptr_t)__builtin_return_address(0),
			CALLERS_SP);
}

/* The same for any number of bytes; 0 bytes are no access. */
static inline __attribute__((always_inline)) void instr_range(
	const volatile void *p, uint64_t bytes, enum instr_class class)
{
	if (bytes)
		instr_range_event(
			(uint64_t)(uintptr_t)p, class,
			(uint64_t)(uintptr_t)__builtin_return_address(0), bytes,
			CALLERS_SP);
}

#endif
