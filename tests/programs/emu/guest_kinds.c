/* SPDX-License-Identifier: MIT */
/*
 * guest_kinds - one kind of access, a known number of times
 *
 *	guest_kinds KIND COUNT
 *
 * The difference between two runs with different counts is known exactly,
 * because everything else in the program is the same. --list prints for each
 * kind its name and the loads, stores, bytes loaded and bytes stored of one
 * turn, as the program performs them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	_Alignas(64) uint8_t from[256];
	_Alignas(64) uint8_t to[256];
} memory;

/* Run @body COUNT times; rdi is from, rsi is to, the stack below is free. */
#define KIND(name, body)                                                       \
	static void name(uint64_t n)                                           \
	{                                                                      \
		__asm__ volatile("1:\n\t" body "\n\t"                          \
				 "dec %0\n\t"                                  \
				 "jnz 1b"                                      \
				 : "+r"(n)                                     \
				 : "D"(memory.from), "S"(memory.to)            \
				 : "rax", "rdx", "rcx", "rbx", "xmm0",         \
				   "memory", "cc");                            \
	}

KIND(load_1, "movb (%%rdi), %%al")
KIND(load_2, "movw (%%rdi), %%ax")
KIND(load_4, "movl (%%rdi), %%eax")
KIND(load_8, "movq (%%rdi), %%rax")
KIND(load_unaligned, "movq 60(%%rdi), %%rax")
KIND(load_16, "movdqa (%%rdi), %%xmm0")
KIND(store_1, "movb %%al, (%%rsi)")
KIND(store_4, "movl %%eax, (%%rsi)")
KIND(store_8, "movq %%rax, (%%rsi)")
KIND(store_16, "movdqa %%xmm0, (%%rsi)")
KIND(modify, "addq $1, (%%rsi)")
KIND(locked, "lock; addl $1, (%%rsi)")
KIND(exchange, "xchgq %%rax, (%%rsi)")
KIND(push_pop, "lea -128(%%rsp), %%rsp\n\tpush %%rax\n\tpop %%rdx\n\t"
	       "lea 128(%%rsp), %%rsp")
KIND(call_return, "lea -128(%%rsp), %%rsp\n\tcall 3f\n\tjmp 4f\n"
		  "3:\tret\n4:\tlea 128(%%rsp), %%rsp")
KIND(none, "addq $1, %%rax")

static void string(uint64_t n)
{
	while (n--) {
		void *from = memory.from, *to = memory.to;
		uint64_t count = 8;

		__asm__ volatile("rep movsb"
				 : "+S"(from), "+D"(to), "+c"(count)
				 :
				 : "memory");
	}
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
	int loads, stores, load_bytes, store_bytes;
} kinds[] = {
	{ "none", none, 0, 0, 0, 0 },
	{ "load_1", load_1, 1, 0, 1, 0 },
	{ "load_2", load_2, 1, 0, 2, 0 },
	{ "load_4", load_4, 1, 0, 4, 0 },
	{ "load_8", load_8, 1, 0, 8, 0 },
	{ "load_unaligned", load_unaligned, 1, 0, 8, 0 },
	{ "load_16", load_16, 1, 0, 16, 0 },
	{ "store_1", store_1, 0, 1, 0, 1 },
	{ "store_4", store_4, 0, 1, 0, 4 },
	{ "store_8", store_8, 0, 1, 0, 8 },
	{ "store_16", store_16, 0, 1, 0, 16 },
	{ "modify", modify, 1, 1, 8, 8 },
	{ "locked", locked, 1, 1, 4, 4 },
	{ "exchange", exchange, 1, 1, 8, 8 },
	{ "push_pop", push_pop, 1, 1, 8, 8 },
	{ "call_return", call_return, 1, 1, 8, 8 },
	{ "string", string, 8, 8, 8, 8 },
};
enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

int main(int argc, char **argv)
{
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (int i = 0; i < KINDS; i++)
			printf("%s %d %d %d %d\n", kinds[i].name,
			       kinds[i].loads, kinds[i].stores,
			       kinds[i].load_bytes, kinds[i].store_bytes);
		return 0;
	}
	for (int i = 0; argc == 3 && i < KINDS; i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			kinds[i].run(strtoull(argv[2], NULL, 10));
			return 0;
		}
	fprintf(stderr, "usage: guest_kinds KIND COUNT | --list\n");
	return 1;
}
