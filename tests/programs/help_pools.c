/* SPDX-License-Identifier: MIT */
/*
 * help_pools - two threads share heap blocks that one function allocated
 *
 *	help_pools SECONDS
 *
 * left_pool and right_pool each have a block from make_pool, which one malloc
 * in it allocates; strdup of libc allocates a third for main. The threads use
 * different words of each block. The program ends when libcomdet.so has 60
 * detections, or after SECONDS.
 *
 * right_pool runs on a stack that the program mapped. Where it lies there was a
 * larger one before, on which another function allocated.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "until_committed.h"

#define CALLED __attribute__((noinline))
/* Not the last thing that a function does: its calls are no jumps. */
#define STAY __asm__ volatile("" ::: "memory")

enum {
	LARGE = 256 * 1024, /* bytes of a stack */
	SMALL = 64 * 1024,
};

static volatile uint64_t *block[3];
static void *volatile unused;
static ucontext_t program, other;
static volatile int done;

static CALLED void *make_pool(size_t bytes)
{
	char *p = malloc(2 * bytes);

	STAY;
	return p + (-(uintptr_t)p & (bytes - 1)); /* never freed */
}

static CALLED void *left_pool(void)
{
	void *p = make_pool(64);

	STAY;
	return p;
}

static CALLED void *right_pool(void)
{
	void *p = make_pool(128);

	STAY;
	return p;
}

static void before(void)
{
	unused = make_pool(1024);
	STAY;
}

static void right(void)
{
	block[1] = right_pool();
	STAY;
}

/* Call @function on a stack of @bytes, mapped @at or anywhere. */
static char *call_on(char *at, size_t bytes, void (*function)(void))
{
	char *stack =
		mmap(at, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | (at ? MAP_FIXED : 0), -1, 0);

	if (stack == MAP_FAILED || getcontext(&other))
		abort();
	other.uc_stack.ss_sp = stack;
	other.uc_stack.ss_size = bytes;
	other.uc_link = &program;
	makecontext(&other, function, 0);
	if (swapcontext(&program, &other))
		abort();
	return stack;
}

static CALLED void call_right_pool(void)
{
	char *stack = call_on(NULL, LARGE, before);

	munmap(stack, LARGE);
	call_on(stack, SMALL, right);
}

static void *work(void *arg)
{
	int word = arg != NULL;

	while (!done)
		for (int i = 0; i < 300; i++)
			++block[i / 100][word];
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	char *text = strdup("a text that is as long as two words of memory");

	block[0] = left_pool();
	call_right_pool();
	block[2] = (uint64_t *)(void *)text;
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, i ? text : NULL);
	until_committed(60, argc > 1 ? atoi(argv[1]) : 10);
	done = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
