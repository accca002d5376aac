/* SPDX-License-Identifier: MIT */
/*
 * new - stand before C++'s operators new and delete
 *
 * An allocator may have operators of its own that do not call malloc, and where
 * they do, the caller that counts is that of the operator. An exception that
 * the next operator throws passes through.
 *
 * A plugin in C++ brings operators that the program does not have, and that
 * other libraries do not see; another plugin may bring others. So an operator
 * that no library has from the start is looked up for each place that calls it.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "new.h"
#include "note.h"
#include "shadow.h"
#include "src/base/loaded.h"

#define EXPORT __attribute__((visibility("default")))

enum {
	PLACES = 4096,
	TRIES = 8,
	OPERATOR_SHIFT = 47, /* addresses have as many bits */
	CLOSED_SHIFT = 51,
	CLOSED_MAX = 1 << (64 - CLOSED_SHIFT),
};

enum operator{
	NEW_ONE,
	NEW_ARRAY,
	NEW_ONE_NOTHROW,
	NEW_ARRAY_NOTHROW,
	NEW_ONE_ALIGNED,
	NEW_ARRAY_ALIGNED,
	DELETE_ONE,
	DELETE_ARRAY,
	DELETE_ONE_SIZED,
	DELETE_ARRAY_SIZED,
	DELETE_ONE_ALIGNED,
	DELETE_ARRAY_ALIGNED,
	OPERATORS,
};

static const char *const names[OPERATORS] = {
	[NEW_ONE] = "_Znwm",
	[NEW_ARRAY] = "_Znam",
	[NEW_ONE_NOTHROW] = "_ZnwmRKSt9nothrow_t",
	[NEW_ARRAY_NOTHROW] = "_ZnamRKSt9nothrow_t",
	[NEW_ONE_ALIGNED] = "_ZnwmSt11align_val_t",
	[NEW_ARRAY_ALIGNED] = "_ZnamSt11align_val_t",
	[DELETE_ONE] = "_ZdlPv",
	[DELETE_ARRAY] = "_ZdaPv",
	[DELETE_ONE_SIZED] = "_ZdlPvm",
	[DELETE_ARRAY_SIZED] = "_ZdaPvm",
	[DELETE_ONE_ALIGNED] = "_ZdlPvSt11align_val_t",
	[DELETE_ARRAY_ALIGNED] = "_ZdaPvSt11align_val_t",
};

static _Atomic(void *) next[OPERATORS]; /* for all callers; NULL: for each */
static _Atomic unsigned started;        /* objects that were loaded first */
static _Atomic uint64_t closed;         /* libraries */

/*
 * Operators by place. A key is claimed once and never given back, so its
 * function is written by one thread only.
 */
static struct place {
	_Atomic uint64_t key; /* return address, operator, closed */
	_Atomic(void *) function;
} places[PLACES];

void new_begin(void)
{
	atomic_store(&started, loaded_count());
}

void new_forget(void)
{
	atomic_fetch_add(&closed, 1);
}

/* The place with @key, claimed now or before; NULL if there is no room. */
static struct place *place_of(uint64_t key)
{
	uint64_t at = key * 0x9E3779B97F4A7C15u >> 52;

	for (unsigned i = 0; i < TRIES; i++) {
		struct place *p = &places[(at + i) % PLACES];
		uint64_t is = 0;

		if (atomic_load(&p->key) == key ||
		    atomic_compare_exchange_strong(&p->key, &is, key) ||
		    is == key)
			return p;
	}
	return NULL;
}

/* For a library that asks whether there are operators, where there are none. */
static void *aligned(size_t bytes, size_t alignment)
{
	void *(*call)(size_t, size_t) =
		(void *)loaded_symbol_after_us("memalign");

	return call(alignment, bytes);
}

static void *without_operators(enum operator o)
{
	if (o == NEW_ONE_ALIGNED || o == NEW_ARRAY_ALIGNED)
		return (void *)aligned;
	return (void *)loaded_symbol_after_us(o < DELETE_ONE ? "malloc"
							     : "free");
}

__attribute__((noinline)) static void *look_up_for(enum operator o,
						   const void *caller)
{
	uint64_t now = atomic_load(&closed);
	uint64_t key = (uint64_t)(uintptr_t)caller |
		       (uint64_t)o << OPERATOR_SHIFT | now << CLOSED_SHIFT;
	struct place *p = now < CLOSED_MAX ? place_of(key) : NULL;
	void *function = p ? atomic_load(&p->function) : NULL;
	int saved_errno = errno;
	bool by_all;

	if (function)
		return function;
	if (!atomic_load(&started))
		new_begin();
	function = (void *)loaded_symbol_for(names[o], caller,
					     atomic_load(&started), &by_all);
	if (by_all)
		atomic_store(&next[o], function);
	if (!function)
		function = without_operators(o);
	if (p)
		atomic_store(&p->function, function);
	errno = saved_errno;
	return function;
}

static inline void *look_up(enum operator o, const void *caller)
{
	void *function = atomic_load_explicit(&next[o], memory_order_relaxed);

	return __builtin_expect(function != NULL, 1) ? function
						     : look_up_for(o, caller);
}

#define LOOK_UP(o) look_up(o, __builtin_return_address(0))

static void gone(void *p)
{
	if (p)
		shadow_free((uint64_t)(uintptr_t)p, true);
}

/* clang-format off */
#define NEW(function, o, name)                                                 \
	EXPORT void *function(size_t bytes) __asm__(name);                     \
	void *function(size_t bytes)                                           \
	{                                                                      \
		void *(*call)(size_t) = LOOK_UP(o);                            \
		void *p = call(bytes);                                         \
									       \
		note(p, bytes, NOTE_FROM);                                     \
		return p;                                                      \
	}

/* With an alignment, or with a reference to nothrow. */
#define NEW_WITH(function, o, name)                                            \
	EXPORT void *function(size_t bytes, void *with) __asm__(name);         \
	void *function(size_t bytes, void *with)                               \
	{                                                                      \
		void *(*call)(size_t, void *) = LOOK_UP(o);                    \
		void *p = call(bytes, with);                                   \
									       \
		note(p, bytes, NOTE_FROM);                                     \
		return p;                                                      \
	}

#define DELETE(function, o, name)                                              \
	EXPORT void function(void *p) __asm__(name);                           \
	void function(void *p)                                                 \
	{                                                                      \
		void (*call)(void *) = LOOK_UP(o);                             \
									       \
		gone(p);                                                       \
		call(p);                                                       \
	}

/* With a size, or with an alignment. */
#define DELETE_WITH(function, o, name)                                         \
	EXPORT void function(void *p, size_t with) __asm__(name);              \
	void function(void *p, size_t with)                                    \
	{                                                                      \
		void (*call)(void *, size_t) = LOOK_UP(o);                     \
									       \
		gone(p);                                                       \
		call(p, with);                                                 \
	}

NEW(new_one, NEW_ONE, "_Znwm")
NEW(new_array, NEW_ARRAY, "_Znam")
NEW_WITH(new_one_nothrow, NEW_ONE_NOTHROW, "_ZnwmRKSt9nothrow_t")
NEW_WITH(new_array_nothrow, NEW_ARRAY_NOTHROW, "_ZnamRKSt9nothrow_t")
NEW_WITH(new_one_aligned, NEW_ONE_ALIGNED, "_ZnwmSt11align_val_t")
NEW_WITH(new_array_aligned, NEW_ARRAY_ALIGNED, "_ZnamSt11align_val_t")
DELETE(delete_one, DELETE_ONE, "_ZdlPv")
DELETE(delete_array, DELETE_ARRAY, "_ZdaPv")
DELETE_WITH(delete_one_sized, DELETE_ONE_SIZED, "_ZdlPvm")
DELETE_WITH(delete_array_sized, DELETE_ARRAY_SIZED, "_ZdaPvm")
DELETE_WITH(delete_one_aligned, DELETE_ONE_ALIGNED, "_ZdlPvSt11align_val_t")
DELETE_WITH(delete_array_aligned, DELETE_ARRAY_ALIGNED, "_ZdaPvSt11align_val_t")
/* clang-format on */
