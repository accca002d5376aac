/* SPDX-License-Identifier: MIT */
/*
 * help_stacks - allocate on stacks that come and go below a thread's own
 *
 * A thread runs on the upper part of a mapping, which the program gave it, so
 * nothing unreadable lies below. A context below it allocates, its stack is
 * unmapped, and a smaller one is mapped further down. There a function
 * allocates whose unwind table is wrong: by it, its caller's frame lies in the
 * gap. A profiler that trusts what was readable before reads there, and dies.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

enum {
	STACK = 256 * 1024,
	SMALL = 64 * 1024,
	FRAME = 16 * 1024,
	REACH = 96 * 1024, /* as the wrong table says */
};

static char *low; /* STACK bytes for contexts, then the thread's */
static ucontext_t thread, context;
void *volatile block;

/* The frame has 8 bytes; the table says REACH. */
void *astray(void);
__asm__(".text\n"
	".type astray, @function\n"
	"astray:\n"
	".cfi_startproc\n"
	"sub $8, %rsp\n"
	".cfi_def_cfa_offset 98304\n"
	"mov $24, %edi\n"
	"call malloc@PLT\n"
	"add $8, %rsp\n"
	"ret\n"
	".cfi_endproc\n"
	".size astray, . - astray\n");

static void in_context(void)
{
	block = malloc(24);
	block = astray();
}

/* Call @f on a stack. */
static void run_on(char *stack, size_t bytes, void (*f)(void))
{
	getcontext(&context);
	context.uc_stack.ss_sp = stack;
	context.uc_stack.ss_size = bytes;
	context.uc_link = &thread;
	makecontext(&context, f, 0);
	swapcontext(&thread, &context);
}
static void deep(void)
{
	volatile char room[FRAME];

	room[0] = 0;
	if ((uintptr_t)room > (uintptr_t)low + SMALL)
		deep();
	else
		block = malloc(24);
	room[1] = 0;
}

static void *work(void *arg)
{
	block = malloc(10);
	run_on(low, STACK, deep);
	munmap(low, STACK);
	if (mmap(low, SMALL, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != low)
		return "mmap";
	run_on(low, SMALL, in_context);
	return NULL;
}

int main(void)
{
	pthread_attr_t attr;
	pthread_t id;
	void *failed = "thread";

	low = mmap(NULL, 2 * STACK, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (low == MAP_FAILED)
		return 1;
	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, low + STACK, STACK);
	if (!pthread_create(&id, &attr, work, NULL))
		pthread_join(id, &failed);
	puts(failed ? (char *)failed : "done");
	return failed != NULL;
}
