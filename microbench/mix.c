/* SPDX-License-Identifier: MIT */
/*
 * mix - loops whose mix of memory accesses is known by construction
 *
 * Each loop is written in assembly, so that its accesses can be counted by
 * reading it. The program prints where its arrays are and which share of the
 * accesses each must get; whoever samples its addresses can then tell how far
 * the sampled mix is from the true one:
 *
 *   loop NAME accesses 2.5 longest 3	per iteration: mean, largest
 *   region NAME START LENGTH SHARE STORE_SHARE
 *   run
 *   done ITERATIONS ACCESSES
 *
 * SHARE is of all accesses of the loop, STORE_SHARE of the region's own. The
 * implicit accesses of call, ret, push and pop count, in the region "stack".
 * Data that decides a branch is balanced exactly. Around the loops there is
 * less than one access in 10,000. Large arrays are filled through another
 * mapping, so that the set-up never touches a region's addresses.
 */
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
	ARRAY_BYTES = 1 << 19,
	ARRAYS = 5, /* A to E */
	SHARED_BYTES = 4096,
	CHASE_LINES = 1 << 19,
	LINE_BYTES = 64,
	STACK_BYTES = 1 << 16,
	BRANCH_WORDS = 1 << 16, /* half of them take the branch */
	REGIONS_MAX = 6,
	WORKERS = 2,
};

static _Alignas(4096) char arrays[WORKERS][ARRAYS][ARRAY_BYTES];
static _Alignas(4096) char shared[SHARED_BYTES];
static char *chase;

/* What a loop gets: in rdi the iterations, in rsi this. */
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

/* Iteration number rcx to the offset rax of a word among @words words. */
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

/* The store goes to a line that the other thread stores to as well. */
LOOP(threads, "1:\n"
	      "mov (%r8), %rbx\n"
	      "add 64(%r9), %rbx\n"
	      "add 128(%r8), %rbx\n"
	      "mov %rbx, (%r13)\n" NEXT)

/* Nearly all the time goes into the first load. */
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

/* One slow load and fifty fast accesses behind it. */
LOOP(long_body, "1:\n"
		"mov (%rdx), %rdx\n"
		".rept 40\n"
		"mov (%r8), %rbx\n"
		".endr\n"
		".rept 10\n"
		"mov %rbx, (%r9)\n"
		".endr\n" NEXT)

/* B is indexed by what A holds, which passes through a vector register. */
LOOP(gather, "1:\n" OFFSET(512) "movdqu (%r8,%rax), %xmm0\n"
				"paddq %xmm0, %xmm0\n"
				"movq %xmm0, %rbx\n"
				"and $4088, %ebx\n"
				"mov (%r9,%rbx), %rbx\n"
				"mov %rbx, (%r10,%rax)\n" NEXT)

/* A body of 200 accesses, of which a window of 128 sees a part. */
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
	unsigned iterations; /* the numbers below are for so many */
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

static const struct loop *selected;
static double end_time;
static _Atomic uint64_t iterations_done;

static void die(const char *what)
{
	fprintf(stderr, "mix: %s: %s\n", what, strerror(errno));
	exit(1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t random_below(uint64_t n)
{
	static uint64_t x = 88172645463325252ull;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return (uint64_t)(((unsigned __int128)x * n) >> 64);
}

static void shuffle(uint32_t *p, uint32_t n)
{
	for (uint32_t i = n - 1; i > 0; i--) {
		uint32_t j = (uint32_t)random_below(i + 1), t = p[i];

		p[i] = p[j];
		p[j] = t;
	}
}

/* One cycle through all lines, in random order. */
static void fill_chase(void)
{
	size_t bytes = (size_t)CHASE_LINES * LINE_BYTES;
	uint32_t *order = malloc(CHASE_LINES * sizeof(*order));
	int fd = memfd_create("chase", MFD_CLOEXEC);
	char *fill;

	if (!order || fd < 0 || ftruncate(fd, (off_t)bytes))
		die("cannot make the chain");
	chase = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
	fill = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (chase == MAP_FAILED || fill == MAP_FAILED)
		die("cannot map the chain");
	for (uint32_t i = 0; i < CHASE_LINES; i++)
		order[i] = i;
	shuffle(order, CHASE_LINES);
	for (uint32_t i = 0; i < CHASE_LINES; i++) {
		uint32_t next = order[(i + 1) % CHASE_LINES];

		*(char **)(fill + (size_t)order[i] * LINE_BYTES) =
			chase + (size_t)next * LINE_BYTES;
	}
	munmap(fill, bytes);
	close(fd);
	free(order);
}

/* A for the loop: words that take the branch or not, or that are an index. */
static void fill_array(const struct loop *l)
{
	static uint32_t order[BRANCH_WORDS];
	uint64_t *words = (uint64_t *)arrays[0][A];
	double *doubles = (double *)arrays[0][A];

	for (uint32_t i = 0; i < BRANCH_WORDS; i++)
		order[i] = i;
	shuffle(order, BRANCH_WORDS);
	for (uint32_t i = 0; i < BRANCH_WORDS; i++) {
		bool taken = i < BRANCH_WORDS / 2;

		if (l->run == loop_fp_branch)
			doubles[order[i]] = taken ? 1.0 : -1.0;
		else if (l->run == loop_int_branch)
			words[order[i]] = taken;
		else if (l->run == loop_gather)
			words[order[i]] = random_below(ARRAY_BYTES);
	}
}

static void *work(void *arg)
{
	uintptr_t number = (uintptr_t)arg;
	struct job job = { .shared = shared + 8 * number, .chase = chase };
	bool slow = selected->run == loop_chase ||
		    selected->run == loop_long_body ||
		    selected->run == loop_huge_body;
	long step = slow ? 1 << 16 : 1 << 20;
	uint64_t done = 0;

	for (int i = 0; i < ARRAYS; i++)
		job.array[i] = arrays[number][i];
	do {
		selected->run(step, &job);
		done += (uint64_t)step;
	} while (now() < end_time);
	iterations_done += done;
	return NULL;
}

static unsigned accesses_of(const struct loop *l)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < l->regions; i++)
		sum += l->expected[i].loads + l->expected[i].stores;
	return sum;
}

static void print_region(const struct loop *l, const struct expected *e)
{
	unsigned mine = e->loads + e->stores;
	uintptr_t frame = (uintptr_t)__builtin_frame_address(0);
	uintptr_t start;
	size_t length = ARRAY_BYTES;

	switch (e->region) {
	case SHARED:
		start = (uintptr_t)shared;
		length = SHARED_BYTES;
		break;
	case CHASE:
		start = (uintptr_t)chase;
		length = (size_t)CHASE_LINES * LINE_BYTES;
		break;
	case STACK:
		start = frame - STACK_BYTES;
		length = 2 * STACK_BYTES;
		break;
	default:
		start = (uintptr_t)arrays[0][e->region];
	}
	printf("region %s 0x%zx %zu %.6f %.6f\n", region_name[e->region], start,
	       length, (double)mine / accesses_of(l), (double)e->stores / mine);
	/* The other threads have arrays of their own. */
	for (unsigned w = 1; w < l->workers && e->region <= E; w++)
		printf("also %s 0x%zx %zu\n", region_name[e->region],
		       (uintptr_t)arrays[w][e->region], length);
}

static void run_loop(const struct loop *l, double seconds)
{
	pthread_t other[WORKERS];

	selected = l;
	fill_array(l);
	for (unsigned i = 0; i < l->regions; i++) {
		if (l->expected[i].region == CHASE)
			fill_chase();
	}
	printf("loop %s accesses %g longest %u\n", l->name,
	       (double)accesses_of(l) / l->iterations, l->longest);
	for (unsigned i = 0; i < l->regions; i++)
		print_region(l, &l->expected[i]);
	printf("run\n");
	fflush(stdout);
	end_time = now() + seconds;
	for (uintptr_t i = 1; i < l->workers; i++) {
		if (pthread_create(&other[i], NULL, work, (void *)i))
			die("cannot start a thread");
	}
	work(NULL);
	for (unsigned i = 1; i < l->workers; i++)
		pthread_join(other[i], NULL);
	printf("done %ju %.0f\n", (uintmax_t)iterations_done,
	       (double)iterations_done * accesses_of(l) / l->iterations);
}

int main(int argc, char **argv)
{
	const struct loop *found = NULL;
	double seconds = 3;

	for (int i = 1; i < argc; i++) {
		size_t n = sizeof(loops) / sizeof(loops[0]);

		if (!strcmp(argv[i], "--list")) {
			for (size_t j = 0; j < n; j++)
				printf("%-11s %s\n", loops[j].name,
				       loops[j].text);
			return 0;
		}
		if (!strcmp(argv[i], "--seconds") && i + 1 < argc) {
			seconds = atof(argv[++i]);
			continue;
		}
		for (size_t j = 0; j < n && !found; j++) {
			if (!strcmp(argv[i], loops[j].name))
				found = &loops[j];
		}
	}
	if (!found) {
		fprintf(stderr, "usage: mix NAME [--seconds S] | mix --list\n");
		return 1;
	}
	run_loop(found, seconds);
	return 0;
}
