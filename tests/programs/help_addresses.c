/* SPDX-License-Identifier: MIT */
/*
 * help_addresses - print where things lie
 *
 * Of the heap the addresses (with --pages the places in a page), of everything
 * else the places in a cache line. Threads run one at a time, so that two runs
 * are alike. With another argument, it also sets a variable.
 */
#include <errno.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <threads.h>

enum {
	BLOCKS = 1000,
	THREADS = 5,
	LINE_BYTES = 64,
	PAGE_BYTES = 4096
};

static int initialized = 1, zero;
static uintptr_t heap_mask = ~(uintptr_t)0;
static __thread char first;
static __thread int second = 1;

static void line_place(const char *what, const volatile void *p)
{
	printf("%s %zu\n", what, (size_t)((uintptr_t)p % LINE_BYTES));
}

static void *block(unsigned i)
{
	size_t bytes = 1 + i * 37 % 500;
	void *p = NULL;

	switch (i % 7) {
	case 0:
		return calloc(bytes, 3);
	case 1:
		return realloc(malloc(bytes), 2 * bytes);
	case 2:
		return aligned_alloc(128, 128 * (1 + bytes / 128));
	case 3:
		return posix_memalign(&p, 32, bytes) ? NULL : p;
	case 4:
		return strdup("some text of the program's own");
	default:
		return malloc(bytes);
	}
}

static void blocks(const char *what, int n)
{
	void *kept[BLOCKS];

	for (int i = 0; i < n; i++) {
		kept[i] = block(i);
		printf("%s %d %lx\n", what, i,
		       (unsigned long)((uintptr_t)kept[i] & heap_mask));
		if (i % 5 == 4)
			free(kept[i - 2]);
	}
}

static void *thread(void *arg)
{
	int local = 0;

	line_place("thread's stack", &local);
	line_place("thread's first", &first);
	line_place("thread's second", &second);
	line_place("thread's errno", &errno);
	line_place("thread's id", (void *)pthread_self());
	line_place("thread's block", malloc(24));
	return arg;
}

static int c11_thread(void *arg)
{
	thread(arg);
	return 3;
}

static void key_numbers(void)
{
	pthread_key_t key;

	for (int i = 0; i < 30; i++)
		if (!pthread_key_create(&key, NULL))
			printf("key %u\n", key);
	pthread_setspecific(key, &zero);
}

int main(int argc, char **argv)
{
	static char output[1 << 20];
	pthread_t t;
	thrd_t c11;
	int local = 0, result;

	if (argc == 2 && !strcmp(argv[1], "--pages"))
		heap_mask = PAGE_BYTES - 1;
	setvbuf(stdout, output, _IOFBF, sizeof(output));
	line_place("static", &initialized);
	line_place("zeroed", &zero);
	line_place("stack", &local);
	line_place("arguments", argv);
	line_place("first", &first);
	line_place("second", &second);
	line_place("errno", &errno);
	line_place("mapped", mmap(NULL, 100, PROT_READ,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
	blocks("block", BLOCKS);
	line_place("large", malloc(1 << 20));
	key_numbers();
	for (int i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, thread, NULL) ||
		    pthread_join(t, NULL))
			return 1;
		blocks("after a thread", 10);
	}
	if (thrd_create(&c11, c11_thread, NULL) != thrd_success ||
	    thrd_join(c11, &result) != thrd_success || result != 3)
		return 1;
	if (argc == 2) {
		setenv("SOME_NAME", "some value", 1);
		blocks("after setenv", 10);
	}
	return 0;
}
