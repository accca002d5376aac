/* SPDX-License-Identifier: MIT */
/*
 * atomics - every atomic operation of every width, and its result
 *
 * Prints what each operation returned and left in memory. With the hooks, which
 * perform the operations, the output must be that of the compiler's own code.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef unsigned __int128 wide;

static void show(const char *what, int bits, wide result, wide memory)
{
	printf("%s %d: %016llx%016llx %016llx%016llx\n", what, bits,
	       (unsigned long long)(result >> 64), (unsigned long long)result,
	       (unsigned long long)(memory >> 64), (unsigned long long)memory);
}

/* Different in every byte, and negative in every width. */
#define START   (((wide)0xf1e2d3c4b5a69788u << 64) | 0x8796a5b4c3d2e1f0u)
#define OPERAND (((wide)0x0123456789abcdefu << 64) | 0xfedcba9876543290u)

#define SHOW(name, type, bits, expression)                                     \
	do {                                                                   \
		static type memory;                                            \
		type *p = &memory, v = (type)OPERAND, result;                  \
                                                                               \
		(void)v;                                                       \
		memory = (type)START;                                          \
		__asm__ volatile("" : "+r"(p) : : "memory");                   \
		result = (expression);                                         \
		show(name, bits, result, *p);                                  \
	} while (0)

#define FETCHES(type, bits, order)                                             \
	SHOW("add", type, bits, __atomic_fetch_add(p, v, order));              \
	SHOW("sub", type, bits, __atomic_fetch_sub(p, v, order));              \
	SHOW("and", type, bits, __atomic_fetch_and(p, v, order));              \
	SHOW("or", type, bits, __atomic_fetch_or(p, v, order));                \
	SHOW("xor", type, bits, __atomic_fetch_xor(p, v, order));              \
	SHOW("nand", type, bits, __atomic_fetch_nand(p, v, order));            \
	SHOW("add, new", type, bits, __atomic_add_fetch(p, v, order));         \
	SHOW("nand, new", type, bits, __atomic_nand_fetch(p, v, order))

#define SWAPS(type, bits, weak, order)                                         \
	SHOW("swap", type, bits, ({                                            \
		     type old = *p;                                            \
		     bool done = __atomic_compare_exchange_n(                  \
			     p, &old, v, weak, order, __ATOMIC_RELAXED);       \
		     (type)(old + done);                                       \
	     }));                                                              \
	SHOW("no swap", type, bits, ({                                         \
		     type old = (type)(*p + 1);                                \
		     bool done = __atomic_compare_exchange_n(                  \
			     p, &old, v, weak, order, __ATOMIC_RELAXED);       \
		     (type)(old + done);                                       \
	     }))

#define ALL(type, bits, order)                                                 \
	FETCHES(type, bits, order);                                            \
	SWAPS(type, bits, false, order);                                       \
	SWAPS(type, bits, true, order);                                        \
	SHOW("exchange", type, bits, __atomic_exchange_n(p, v, order))

#define WIDTH(type, bits)                                                      \
	do {                                                                   \
		ALL(type, bits, __ATOMIC_SEQ_CST);                             \
		ALL(type, bits, __ATOMIC_RELAXED);                             \
		SHOW("load", type, bits,                                       \
		     __atomic_load_n(p, __ATOMIC_ACQUIRE));                    \
		SHOW("store", type, bits, ({                                   \
			     __atomic_store_n(p, v, __ATOMIC_RELEASE);         \
			     v;                                                \
		     }));                                                      \
		SHOW("ordered store", type, bits, ({                           \
			     __atomic_store_n(p, v, __ATOMIC_SEQ_CST);         \
			     v;                                                \
		     }));                                                      \
	} while (0)

int main(void)
{
	WIDTH(uint8_t, 8);
	WIDTH(uint16_t, 16);
	WIDTH(uint32_t, 32);
	WIDTH(uint64_t, 64);
	/* In a plain build other operations on 16 bytes call a library. */
	SHOW("add", wide, 128, __sync_fetch_and_add(p, v));
	SHOW("sub", wide, 128, __sync_fetch_and_sub(p, v));
	SHOW("and", wide, 128, __sync_fetch_and_and(p, v));
	SHOW("or", wide, 128, __sync_fetch_and_or(p, v));
	SHOW("xor", wide, 128, __sync_fetch_and_xor(p, v));
	SHOW("nand", wide, 128, __sync_fetch_and_nand(p, v));
	SHOW("swap", wide, 128, __sync_val_compare_and_swap(p, *p, v));
	SHOW("no swap", wide, 128, __sync_val_compare_and_swap(p, v, v));
	return 0;
}
