/* SPDX-License-Identifier: MIT */
/*
 * atomics - atomic operations, which these hooks perform themselves
 *
 * They are counted as the processor performs them. Exchanges, additions and the
 * like modify the line; so does a compare-and-exchange, even if it fails. The
 * memory order is at least the one asked for; on x86-64 all orders are free
 * except that of sequentially consistent stores.
 *
 * The code is in a section of its own, so that libcomdet.so can recognize a
 * trap in it.
 */
#include <stdbool.h>

#include "hooks.h"

#define IN_SECTION __attribute__((section("comdet_instr_atomics")))

#define ATOMIC(type, name, ...)                                                \
	type name(__VA_ARGS__);                                                \
	EXPORT IN_SECTION type name(__VA_ARGS__)

/* Attribute a trap during the operation to the caller. */
#define COUNT(p, class)                                                        \
	do {                                                                   \
		instr_atomic(p, class);                                        \
		instr_self.atomic_ip =                                         \
			(uint64_t)(uintptr_t)__builtin_return_address(0);      \
		__asm__ volatile("" ::: "memory");                             \
	} while (0)

#define FETCH(bits, type, log, op, result)                                     \
	ATOMIC(type, __tsan_atomic##bits##_fetch_##op, volatile type *p,       \
	       type v, int order)                                              \
	{                                                                      \
		COUNT(p, INSTR_MODIFY + (log));                                \
		return result;                                                 \
	}

#define EXCHANGES(bits, type, log, swap)                                       \
	ATOMIC(bool, __tsan_atomic##bits##_compare_exchange_strong,            \
	       volatile type *p, type *expected, type v, int order,            \
	       int failure_order)                                              \
	{                                                                      \
		type old = *expected, found;                                   \
                                                                               \
		COUNT(p, INSTR_MODIFY + (log));                                \
		found = swap(p, old, v);                                       \
		if (found == old)                                              \
			return true;                                           \
		*expected = found;                                             \
		return false;                                                  \
	}                                                                      \
	ATOMIC(bool, __tsan_atomic##bits##_compare_exchange_weak,              \
	       volatile type *p, type *expected, type v, int order,            \
	       int failure_order)                                              \
	__attribute__((                                                        \
		alias("__tsan_atomic" #bits "_compare_exchange_strong")));     \
	ATOMIC(type, __tsan_atomic##bits##_compare_exchange_val,               \
	       volatile type *p, type expected, type v, int order,             \
	       int failure_order)                                              \
	{                                                                      \
		COUNT(p, INSTR_MODIFY + (log));                                \
		return swap(p, expected, v);                                   \
	}

#define swap_sync(p, old, new) __sync_val_compare_and_swap(p, old, new)

#define PLAIN(bits, type, log)                                                 \
	ATOMIC(type, __tsan_atomic##bits##_load, const volatile type *p,       \
	       int order)                                                      \
	{                                                                      \
		COUNT(p, INSTR_LOAD + (log));                                  \
		return __atomic_load_n(p, __ATOMIC_SEQ_CST);                   \
	}                                                                      \
	ATOMIC(void, __tsan_atomic##bits##_store, volatile type *p, type v,    \
	       int order)                                                      \
	{                                                                      \
		COUNT(p, INSTR_STORE + (log));                                 \
		if (order == __ATOMIC_SEQ_CST)                                 \
			__atomic_store_n(p, v, __ATOMIC_SEQ_CST);              \
		else                                                           \
			__atomic_store_n(p, v, __ATOMIC_RELEASE);              \
	}                                                                      \
	ATOMIC(type, __tsan_atomic##bits##_exchange, volatile type *p, type v, \
	       int order)                                                      \
	{                                                                      \
		COUNT(p, INSTR_MODIFY + (log));                                \
		return __atomic_exchange_n(p, v, __ATOMIC_SEQ_CST);            \
	}                                                                      \
	FETCH(bits, type, log, add,                                            \
	      __atomic_fetch_add(p, v, __ATOMIC_SEQ_CST))                      \
	FETCH(bits, type, log, sub,                                            \
	      __atomic_fetch_sub(p, v, __ATOMIC_SEQ_CST))                      \
	FETCH(bits, type, log, and,                                            \
	      __atomic_fetch_and(p, v, __ATOMIC_SEQ_CST))                      \
	FETCH(bits, type, log, or, __atomic_fetch_or(p, v, __ATOMIC_SEQ_CST))  \
	FETCH(bits, type, log, xor,                                            \
	      __atomic_fetch_xor(p, v, __ATOMIC_SEQ_CST))                      \
	FETCH(bits, type, log, nand,                                           \
	      __atomic_fetch_nand(p, v, __ATOMIC_SEQ_CST))                     \
	EXCHANGES(bits, type, log, swap_sync)

PLAIN(8, uint8_t, 0)
PLAIN(16, uint16_t, 1)
PLAIN(32, uint32_t, 2)
PLAIN(64, uint64_t, 3)

/* 16 bytes: cmpxchg16b does everything, loads too. */
typedef unsigned __int128 wide;

static inline __attribute__((always_inline)) wide swap_wide(volatile wide *p,
							    wide old, wide new)
{
	uint64_t low = old, high = old >> 64;

	__asm__ volatile("lock; cmpxchg16b %0"
			 : "+m"(*p), "+a"(low), "+d"(high)
			 : "b"((uint64_t) new), "c"((uint64_t)(new >> 64))
			 : "cc", "memory");
	return (wide)high << 64 | low;
}

/* Replace *@p, whose value is @was, by @expression. */
#define UPDATE_WIDE(p, was, expression)                                        \
	({                                                                     \
		wide was = *(p), seen;                                         \
                                                                               \
		while ((seen = swap_wide(p, was, expression)) != was)          \
			was = seen;                                            \
		was;                                                           \
	})

ATOMIC(wide, __tsan_atomic128_load, const volatile wide *p, int order)
{
	COUNT(p, INSTR_LOAD + 4);
	return swap_wide((volatile wide *)p, 0, 0);
}

ATOMIC(void, __tsan_atomic128_store, volatile wide *p, wide v, int order)
{
	COUNT(p, INSTR_STORE + 4);
	UPDATE_WIDE(p, was, v);
}

ATOMIC(wide, __tsan_atomic128_exchange, volatile wide *p, wide v, int order)
{
	COUNT(p, INSTR_MODIFY + 4);
	return UPDATE_WIDE(p, was, v);
}

FETCH(128, wide, 4, add, UPDATE_WIDE(p, was, was + v))
FETCH(128, wide, 4, sub, UPDATE_WIDE(p, was, was - v))
FETCH(128, wide, 4, and, UPDATE_WIDE(p, was, was &v))
FETCH(128, wide, 4, or, UPDATE_WIDE(p, was, was | v))
FETCH(128, wide, 4, xor, UPDATE_WIDE(p, was, was ^ v))
FETCH(128, wide, 4, nand, UPDATE_WIDE(p, was, ~(was &v)))
EXCHANGES(128, wide, 4, swap_wide)

HOOK(void, __tsan_atomic_thread_fence, int order)
{
	if (order == __ATOMIC_SEQ_CST)
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

HOOK(void, __tsan_atomic_signal_fence, int order)
{
}
