/* SPDX-License-Identifier: MIT */
/*
 * guest_parts - one thread stores in some way, another one loads a byte
 *
 *	guest_parts ROUNDS KIND BYTE
 *
 * In each round the main thread stores to the beginning of two lines with the
 * instructions of KIND, then the other thread loads byte number BYTE of the
 * two. Other lines pass the turn on. Prints the address of the byte's line.
 */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct {
	_Alignas(128) volatile uint8_t byte[128];
} data;
static struct {
	_Alignas(64) _Atomic int turn;
} next;
static struct {
	_Alignas(64) uint8_t byte[64];
} other;

static long rounds, at;

/* rdi is the data, rsi other memory. */
#define KIND(name, body)                                                       \
	static void name(void)                                                 \
	{                                                                      \
		uint64_t to = (uintptr_t)data.byte;                            \
		uint64_t from = (uintptr_t)other.byte;                         \
		uint64_t n = 16;                                               \
                                                                               \
		__asm__ volatile(body                                          \
				 : "+D"(to), "+S"(from), "+c"(n)               \
				 :                                             \
				 : "rax", "rbx", "rdx", "r8", "xmm0",          \
				   "memory", "cc");                            \
	}

KIND(store_8, "movq %%rax, (%%rdi)")
KIND(store_16, "movdqa %%xmm0, (%%rdi)")
KIND(store_32, "vmovdqa %%ymm0, (%%rdi)")
KIND(unaligned_32, "vmovdqu %%ymm0, 3(%%rdi)")
KIND(crossing_32, "vmovdqu %%ymm0, 48(%%rdi)")
KIND(load_32_store_8, "vmovdqa (%%rdi), %%ymm0\n\tmovq %%rax, 24(%%rdi)")
KIND(x87, "fldz\n\tfstpt (%%rdi)")
KIND(compare_exchange, "1:\tmovq (%%rdi), %%rax\n\tmovq 8(%%rdi), %%rdx\n\t"
		       "movq %%rax, %%rbx\n\tmovq %%rdx, %%rcx\n\t"
		       "incq %%rbx\n\tlock; cmpxchg16b (%%rdi)\n\tjnz 1b")
KIND(two_stores, "movq %%rax, (%%rdi)\n\tmovq %%rax, 8(%%rdi)")
KIND(two_vectors, "vmovdqa %%ymm0, (%%rdi)\n\tvmovdqa %%ymm0, 32(%%rdi)")
KIND(one_in_a_loop, "1:\tmovq %%rax, (%%rdi)\n\taddq $8, %%rdi\n\t"
		    "subq $8, %%rcx\n\tjnz 1b")
KIND(vector_in_a_loop, "1:\tmovdqa %%xmm0, (%%rdi)\n\taddq $16, %%rdi\n\t"
		       "subq $8, %%rcx\n\tjnz 1b")
KIND(string, "rep movsb")
KIND(pushes, "movq %%rsp, %%r8\n\tlea 16(%%rdi), %%rsp\n\t"
	     "push %%rax\n\tpush %%rax\n\tmovq %%r8, %%rsp")

static const struct {
	const char *name;
	void (*run)(void);
} kinds[] = {
	{ "store_8", store_8 },
	{ "store_16", store_16 },
	{ "store_32", store_32 },
	{ "unaligned_32", unaligned_32 },
	{ "crossing_32", crossing_32 },
	{ "load_32_store_8", load_32_store_8 },
	{ "x87", x87 },
	{ "compare_exchange", compare_exchange },
	{ "two_stores", two_stores },
	{ "two_vectors", two_vectors },
	{ "one_in_a_loop", one_in_a_loop },
	{ "vector_in_a_loop", vector_in_a_loop },
	{ "string", string },
	{ "pushes", pushes },
};
enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

static void wait_until(int turn)
{
	while (next.turn != turn)
		sched_yield();
}

static void *reader(void *arg)
{
	uintptr_t sum = 0;

	for (long i = 0; i < rounds; i++) {
		wait_until(1);
		sum += data.byte[at];
		next.turn = 0;
	}
	return (void *)sum;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	int kind = 0;

	while (argc == 4 && kind < KINDS && strcmp(kinds[kind].name, argv[2]))
		kind++;
	if (argc != 4 || kind == KINDS)
		return 1;
	rounds = atol(argv[1]);
	at = atol(argv[3]);
	if (at < 0 || at >= (long)sizeof(data.byte))
		return 1;
	printf("%p\n", (void *)(data.byte + at / 64 * 64));
	pthread_create(&thread, NULL, reader, NULL);
	for (long i = 0; i < rounds; i++) {
		kinds[kind].run();
		next.turn = 1;
		wait_until(0);
	}
	pthread_join(thread, NULL);
	return 0;
}
