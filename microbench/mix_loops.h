/* SPDX-License-Identifier: MIT */
/*
 * mix_loops - the loops of mix, in assembly, and what each accesses
 *
 * If you add a loop, count its accesses by reading it and write them into the
 * table at the end: samples are compared with that. A loop begins and ends with
 * fifteen accesses that are not counted.
 */
#ifndef MICROBENCH_MIX_LOOPS_H
#define MICROBENCH_MIX_LOOPS_H

enum {
	ARRAYS = 5, /* A to E */
	REGIONS_MAX = 6,
	WORKERS = 2,
};

/* The arguments of a loop: the iterations in rdi, this in rsi. */
struct job {
	char *array[ARRAYS]; /* offsets 0 to 32 */
	char *shared;        /* offset 40 */
	char *chase;         /* offset 48, the next line to visit */
};

/* The registers of every loop: r8 to r12 point to A to E. */
#define LOOP(name, body)                                                       \
	static __attribute__((naked, noinline)) void loop_##name(              \
		long iterations, struct job *job)                              \
	{                                                                      \
		__asm__("push %rbx\n"                                          \
			"push %r12\n"                                          \
			"push %r13\n"                                          \
			"mov (%rsi), %r8\n"                                    \
			"mov 8(%rsi), %r9\n"                                   \
			"mov 16(%rsi), %r10\n"                                 \
			"mov 24(%rsi), %r11\n"                                 \
			"mov 32(%rsi), %r12\n"                                 \
			"mov 40(%rsi), %r13\n"                                 \
			"mov 48(%rsi), %rdx\n"                                 \
			"xor %ecx, %ecx\n" body "mov %rdx, 48(%rsi)\n"         \
			"pop %r13\n"                                           \
			"pop %r12\n"                                           \
			"pop %rbx\n"                                           \
			"ret\n");                                              \
	}

/* Set rax to the offset, among @words words, of iteration rcx. */
#define OFFSET(words)                                                          \
	"mov %rcx, %rax\n"                                                     \
	"and $" #words " - 1, %eax\n"                                          \
	"shl $3, %eax\n"

#define NEXT                                                                   \
	"inc %rcx\n"                                                           \
	"dec %rdi\n"                                                           \
	"jnz 1b\n"

LOOP(copy, "1:\n" OFFSET(1024) "mov (%r8,%rax), %rbx\n"
			       "add $1, %rbx\n"
			       "mov %rbx, (%r9,%rax)\n" NEXT)

LOOP(five, "1:\n" OFFSET(512) "mov (%r8,%rax), %rbx\n"
			      "add (%r9,%rax), %rbx\n"
			      "add (%r10,%rax), %rbx\n"
			      "add (%r11,%rax), %rbx\n"
			      "mov %rbx, (%r12,%rax)\n" NEXT)

/* The store goes to a line that the other thread also stores to. */
LOOP(threads, "1:\n"
	      "mov (%r8), %rbx\n"
	      "add 64(%r9), %rbx\n"
	      "add 128(%r8), %rbx\n"
	      "mov %rbx, (%r13)\n" NEXT)

/* Nearly all the time is spent in the first load. */
LOOP(chase, "1:\n"
	    "mov (%rdx), %rdx\n"
	    "mov (%r8), %rbx\n"
	    "add 64(%r8), %rbx\n"
	    "mov (%r9), %rax\n"
	    "add 64(%r9), %rax\n" NEXT)

/* Stack: two calls of the inner function, its two returns, push and pop. */
LOOP(calls, "1:\n" OFFSET(256) "call 2f\n"
			       "inc %rcx\n"
			       "dec %rdi\n"
			       "jnz 1b\n"
			       "jmp 4f\n"
			       "2:\n"
			       "push %rcx\n"
			       "mov (%r8,%rax), %rbx\n"
			       "call 3f\n"
			       "call 3f\n"
			       "mov %rbx, (%r10,%rax)\n"
			       "pop %rcx\n"
			       "ret\n"
			       "3:\n"
			       "add (%r9,%rax), %rbx\n"
			       "ret\n"
			       "4:\n")

LOOP(simd, "1:\n" OFFSET(512) "movups (%r8,%rax), %xmm0\n"
			      "movups (%r9,%rax), %xmm1\n"
			      "addps %xmm1, %xmm0\n"
			      "mulps %xmm0, %xmm0\n"
			      "movups %xmm0, (%r10,%rax)\n" NEXT)

/* A holds +1.0 and -1.0: C is stored to, or D is stored to and E loaded. */
LOOP(fp_branch, "xorpd %xmm1, %xmm1\n"
		"1:\n" OFFSET(65536) "movsd (%r8,%rax), %xmm0\n"
				     "and $8191, %eax\n"
				     "comisd %xmm1, %xmm0\n"
				     "jbe 2f\n"
				     "movsd %xmm0, (%r10,%rax)\n"
				     "jmp 3f\n"
				     "2:\n"
				     "movsd %xmm0, (%r11,%rax)\n"
				     "mov (%r12,%rax), %rbx\n"
				     "3:\n" NEXT)

/* A holds 0 and 1: C is loaded twice, or D is loaded and E stored to. */
LOOP(int_branch, "1:\n" OFFSET(65536) "mov (%r8,%rax), %rbx\n"
				      "and $8191, %eax\n"
				      "test %rbx, %rbx\n"
				      "jz 2f\n"
				      "add (%r10,%rax), %rbx\n"
				      "add 8(%r10,%rax), %rbx\n"
				      "jmp 3f\n"
				      "2:\n"
				      "add (%r11,%rax), %rbx\n"
				      "mov %rbx, (%r12,%rax)\n"
				      "3:\n" NEXT)

/* One slow load, then fifty fast accesses. */
LOOP(long_body, "1:\n"
		"mov (%rdx), %rdx\n"
		".rept 40\n"
		"mov (%r8), %rbx\n"
		".endr\n"
		".rept 10\n"
		"mov %rbx, (%r9)\n"
		".endr\n" NEXT)

/* B is indexed by values of A, which pass through a vector register. */
LOOP(gather, "1:\n" OFFSET(512) "movdqu (%r8,%rax), %xmm0\n"
				"paddq %xmm0, %xmm0\n"
				"movq %xmm0, %rbx\n"
				"and $4088, %ebx\n"
				"mov (%r9,%rbx), %rbx\n"
				"mov %rbx, (%r10,%rax)\n" NEXT)

/* A body of 200 accesses, of which a window of 128 covers a part. */
LOOP(huge_body, "1:\n"
		"mov (%rdx), %rdx\n"
		".rept 99\n"
		"mov (%r8), %rbx\n"
		".endr\n"
		".rept 100\n"
		"mov %rbx, (%r9)\n"
		".endr\n" NEXT)

enum region {
	A,
	B,
	C,
	D,
	E,
	SHARED,
	CHASE,
	STACK
};

static const char *const region_name[] = { "A", "B",      "C",     "D",
					   "E", "shared", "chase", "stack" };

/* Accesses of one region in @iterations iterations. */
struct expected {
	enum region region;
	unsigned loads, stores;
};

struct loop {
	const char *name;
	void (*run)(long iterations, struct job *job);
	unsigned iterations; /* the numbers below are for this many */
	unsigned longest;    /* accesses of the longest iteration */
	unsigned workers;
	unsigned regions;
	struct expected expected[REGIONS_MAX];
	const char *text;
};

static const struct loop loops[] = {
	{ "copy",
	  loop_copy,
	  1,
	  2,
	  1,
	  2,
	  { { A, 1, 0 }, { B, 0, 1 } },
	  "a load and a store" },
	{ "five",
	  loop_five,
	  1,
	  5,
	  1,
	  5,
	  { { A, 1, 0 }, { B, 1, 0 }, { C, 1, 0 }, { D, 1, 0 }, { E, 0, 1 } },
	  "four loads and a store" },
	{ "threads",
	  loop_threads,
	  1,
	  4,
	  WORKERS,
	  3,
	  { { A, 2, 0 }, { B, 1, 0 }, { SHARED, 0, 1 } },
	  "two threads store to one line" },
	{ "chase",
	  loop_chase,
	  1,
	  5,
	  1,
	  3,
	  { { CHASE, 1, 0 }, { A, 2, 0 }, { B, 2, 0 } },
	  "a chain of loads through 32 MiB" },
	{ "calls",
	  loop_calls,
	  1,
	  12,
	  1,
	  4,
	  { { A, 1, 0 }, { B, 2, 0 }, { C, 0, 1 }, { STACK, 4, 4 } },
	  "calls, returns, push and pop" },
	{ "simd",
	  loop_simd,
	  1,
	  3,
	  1,
	  3,
	  { { A, 1, 0 }, { B, 1, 0 }, { C, 0, 1 } },
	  "vectors of four floats" },
	{ "fp-branch",
	  loop_fp_branch,
	  2,
	  3,
	  1,
	  4,
	  { { A, 2, 0 }, { C, 0, 1 }, { D, 0, 1 }, { E, 1, 0 } },
	  "a branch on a floating-point comparison" },
	{ "int-branch",
	  loop_int_branch,
	  2,
	  3,
	  1,
	  4,
	  { { A, 2, 0 }, { C, 2, 0 }, { D, 1, 0 }, { E, 0, 1 } },
	  "a branch on an integer" },
	{ "long-body",
	  loop_long_body,
	  1,
	  51,
	  1,
	  3,
	  { { CHASE, 1, 0 }, { A, 40, 0 }, { B, 0, 10 } },
	  "51 accesses, one of them slow" },
	{ "gather",
	  loop_gather,
	  1,
	  3,
	  1,
	  3,
	  { { A, 1, 0 }, { B, 1, 0 }, { C, 0, 1 } },
	  "an index from a vector register" },
	{ "huge-body",
	  loop_huge_body,
	  1,
	  200,
	  1,
	  3,
	  { { CHASE, 1, 0 }, { A, 99, 0 }, { B, 0, 100 } },
	  "an eleventh loop, longer than a window of 128 accesses" },
};

#endif
