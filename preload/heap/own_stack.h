/* SPDX-License-Identifier: MIT */
/*
 * own_stack - the part of its stack that a thread may read without asking
 *
 * The kernel has found it readable before. All else is read through the kernel.
 *
 * Context: any thread. No allocation, no lock; errno stays.
 */
#ifndef COMDET_PRELOAD_HEAP_OWN_STACK_H
#define COMDET_PRELOAD_HEAP_OWN_STACK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Of one thread, found by thread pointer. Only the thread with that pointer
 * uses it. There is no thread-local storage: the C library would allocate more
 * for each thread, and the program's blocks would move.
 */
struct own_stack {
	_Alignas(64) _Atomic uint64_t thread; /* 0: free; never freed again */
	uint64_t low, high; /* what it may read; both 0: not known yet */
	uint64_t floor;     /* the stack begins there */
	/* Where the control block says where the stack begins, and what; or one
	 * word that says its own value. */
	const uint64_t *says;
	uint64_t said;
};

enum {
	OWN_STACK_BITS = 12,
	OWN_STACKS = 1 << OWN_STACK_BITS,
};

extern struct own_stack own_stacks[OWN_STACKS];

/* The first word of what the thread pointer points to is the pointer. */
static inline uint64_t thread_pointer(void)
{
	uint64_t p;

	__asm__("mov %%fs:0, %0" : "=r"(p));
	return p;
}

static inline uint64_t own_stack_first(uint64_t thread)
{
	return thread * 0x9E3779B97F4A7C15u >> (64 - OWN_STACK_BITS);
}

struct own_stack *own_stack_search(void);

/* The calling thread's; NULL if the table has no room. */
static inline struct own_stack *own_stack(void)
{
	uint64_t self = thread_pointer();
	struct own_stack *s = &own_stacks[own_stack_first(self)];

	/* A thread that ended may have had the same pointer, and another stack.
	 */
	if (atomic_load_explicit(&s->thread, memory_order_relaxed) == self &&
	    s->says && *s->says == s->said)
		return s;
	return own_stack_search();
}

/* The word at @addr, on the stack whose end is @sp. @s may be NULL. */
bool own_stack_load(struct own_stack *s, uint64_t sp, uint64_t addr,
		    uint64_t *out);

/* Read this process's memory through the kernel; 0 or -EFAULT. */
int own_memory_read(void *ctx, uint64_t addr, void *buf, size_t n);

#endif
