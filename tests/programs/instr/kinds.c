/* SPDX-License-Identifier: MIT */
/*
 * kinds - one kind of access, a known number of times
 *
 *	kinds KIND COUNT
 *	kinds --all COUNT
 *
 * The difference between two runs with different counts is known exactly. With
 * --all the kinds run one after the other, each in a thread of its own. --list
 * prints for each kind its name and the loads, stores, bytes loaded and bytes
 * stored of one turn, as the source code has them. A last word says whether the
 * processor does the same in a build without hooks: "same", or "parts" if the
 * compiler or the C library may split the access.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct block {
	char bytes[48];
};

static struct {
	_Alignas(64) uint8_t u8[64];
	_Alignas(64) uint16_t u16[32];
	_Alignas(64) uint32_t u32[16];
	_Alignas(64) uint64_t u64[8];
	_Alignas(64) struct block block[2];
	_Alignas(64) char text[2][4096];
} memory;

/* Keep in a register a value that the compiler cannot know. */
#define HIDE(x) __asm__ volatile("" : "+r"(x) : : "memory")
#define USE(x)  __asm__ volatile("" : : "r"(x))

/* The compiler expands copies whose length it knows to be short. */
static inline size_t length(void)
{
	size_t n = 4096;

	HIDE(n);
	return n;
}

#define KIND(name, type, start, body)                                          \
	static void name(uint64_t n)                                           \
	{                                                                      \
		type *p = (void *)(start);                                     \
                                                                               \
		while (n--) {                                                  \
			HIDE(p);                                               \
			body;                                                  \
		}                                                              \
	}

KIND(none, uint32_t, memory.u32, (void)p)
KIND(load_1, uint8_t, memory.u8, USE(*p))
KIND(load_2, uint16_t, memory.u16, USE(*p))
KIND(load_4, uint32_t, memory.u32, USE(*p))
KIND(load_8, uint64_t, memory.u64, USE(*p))
KIND(load_volatile, volatile uint32_t, memory.u32, USE(*p))
KIND(store_1, uint8_t, memory.u8, *p = 1)
KIND(store_2, uint16_t, memory.u16, *p = 1)
KIND(store_4, uint32_t, memory.u32, *p = 1)
KIND(store_8, uint64_t, memory.u64, *p = 1)
KIND(store_volatile, volatile uint32_t, memory.u32, *p = 1)
KIND(modify, uint64_t, memory.u64, *p += 3)
KIND(atomic_load, uint32_t, memory.u32,
     USE(__atomic_load_n(p, __ATOMIC_ACQUIRE)))
KIND(atomic_store, uint32_t, memory.u32,
     __atomic_store_n(p, 1, __ATOMIC_RELEASE))
KIND(atomic_add_1, uint8_t, memory.u8,
     USE(__atomic_fetch_add(p, 1, __ATOMIC_RELAXED)))
KIND(atomic_add_2, uint16_t, memory.u16,
     USE(__atomic_fetch_add(p, 1, __ATOMIC_RELAXED)))
KIND(atomic_add_4, uint32_t, memory.u32,
     USE(__atomic_fetch_add(p, 1, __ATOMIC_RELAXED)))
KIND(atomic_add_8, uint64_t, memory.u64,
     USE(__atomic_fetch_add(p, 1, __ATOMIC_RELAXED)))
KIND(exchange, uint64_t, memory.u64,
     USE(__atomic_exchange_n(p, 1, __ATOMIC_SEQ_CST)))
KIND(fence, uint32_t, memory.u32, __atomic_thread_fence(__ATOMIC_ACQ_REL))
KIND(copy_struct, struct block, memory.block, p[1] = p[0])
KIND(copy_text, char, memory.text, memcpy(p + 4096, p, length()))
KIND(move_text, char, memory.text, memmove(p + 8, p, length()))
KIND(fill_text, char, memory.text, memset(p, 1, length()))

/* The expected value stays in a register unless its address is taken. */
static void compare_exchange(uint64_t n)
{
	uint64_t *p = memory.u64;

	while (n--) {
		HIDE(p);
		USE(__sync_val_compare_and_swap(p, 0, 1));
	}
}

static const struct {
	const char *name;
	void (*run)(uint64_t n);
	int loads, stores, load_bytes, store_bytes;
	const char *processor;
} kinds[] = {
	{ "none", none, 0, 0, 0, 0, "same" },
	{ "load_1", load_1, 1, 0, 1, 0, "same" },
	{ "load_2", load_2, 1, 0, 2, 0, "same" },
	{ "load_4", load_4, 1, 0, 4, 0, "same" },
	{ "load_8", load_8, 1, 0, 8, 0, "same" },
	{ "load_volatile", load_volatile, 1, 0, 4, 0, "same" },
	{ "store_1", store_1, 0, 1, 0, 1, "same" },
	{ "store_2", store_2, 0, 1, 0, 2, "same" },
	{ "store_4", store_4, 0, 1, 0, 4, "same" },
	{ "store_8", store_8, 0, 1, 0, 8, "same" },
	{ "store_volatile", store_volatile, 0, 1, 0, 4, "same" },
	{ "modify", modify, 1, 1, 8, 8, "same" },
	{ "atomic_load", atomic_load, 1, 0, 4, 0, "same" },
	{ "atomic_store", atomic_store, 0, 1, 0, 4, "same" },
	{ "atomic_add_1", atomic_add_1, 1, 1, 1, 1, "same" },
	{ "atomic_add_2", atomic_add_2, 1, 1, 2, 2, "same" },
	{ "atomic_add_4", atomic_add_4, 1, 1, 4, 4, "same" },
	{ "atomic_add_8", atomic_add_8, 1, 1, 8, 8, "same" },
	{ "exchange", exchange, 1, 1, 8, 8, "same" },
	{ "compare_exchange", compare_exchange, 1, 1, 8, 8, "same" },
	{ "fence", fence, 0, 0, 0, 0, "same" },
	{ "copy_struct", copy_struct, 1, 1, 48, 48, "parts" },
	{ "copy_text", copy_text, 1, 1, 4096, 4096, "parts" },
	{ "move_text", move_text, 1, 1, 4096, 4096, "parts" },
	{ "fill_text", fill_text, 0, 1, 0, 4096, "parts" },
};
enum {
	KINDS = sizeof(kinds) / sizeof(kinds[0])
};

static uint64_t turns;

static void *in_thread(void *kind)
{
	kinds[(intptr_t)kind].run(turns);
	return NULL;
}

static void run_all(void)
{
	pthread_t t;

	for (intptr_t i = 0; i < KINDS; i++) {
		pthread_create(&t, NULL, in_thread, (void *)i);
		pthread_join(t, NULL);
	}
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--all")) {
		turns = strtoull(argv[2], NULL, 10);
		run_all();
		return 0;
	}
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (int i = 0; i < KINDS; i++)
			printf("%s %s %d %d %d %d\n", kinds[i].name,
			       kinds[i].processor, kinds[i].loads,
			       kinds[i].stores, kinds[i].load_bytes,
			       kinds[i].store_bytes);
		return 0;
	}
	for (int i = 0; argc == 3 && i < KINDS; i++)
		if (!strcmp(kinds[i].name, argv[1])) {
			kinds[i].run(strtoull(argv[2], NULL, 10));
			return 0;
		}
	fprintf(stderr, "usage: kinds KIND COUNT | --all COUNT | --list\n");
	return 1;
}
