/* SPDX-License-Identifier: MIT */
/*
 * mix - loops whose mix of memory accesses is known by construction
 *
 * Each loop is written in assembly (mix_loops.h), so that its accesses can be
 * counted by reading it. The program prints where its arrays are and which
 * share of the accesses each must get. A profiler that samples its addresses
 * can then tell how far the sampled mix is from the true one:
 *
 *   loop NAME accesses 2.5 longest 3	per iteration: mean, largest
 *   region NAME START LENGTH SHARE STORE_SHARE
 *   run
 *   done ITERATIONS ACCESSES
 *
 * SHARE is of all accesses of the loop, STORE_SHARE of the region's own. The
 * implicit accesses of call, ret, push and pop count, in the region "stack".
 * Data that decides a branch is balanced exactly. Around the loops there is
 * less than one access in 10,000. The chain is filled by a forked child, so
 * that the set-up neither touches a region's addresses nor takes samples.
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "mix_loops.h"

enum {
	ARRAY_BYTES = 1 << 19,
	SHARED_BYTES = 4096,
	CHASE_LINES = 1 << 19,
	LINE_BYTES = 64,
	STACK_BYTES = 1 << 16,
	BRANCH_WORDS = 1 << 16, /* half of them take the branch */
};

static _Alignas(4096) char arrays[WORKERS][ARRAYS][ARRAY_BYTES];
static _Alignas(4096) char shared[SHARED_BYTES];
static char *chase;

static const struct loop *selected;
static double cpu_seconds = 3; /* of each thread */
static _Atomic uint64_t iterations_done;

static void die(const char *what)
{
	fprintf(stderr, "mix: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* CPU time of the calling thread, in seconds. */
static double cpu_time(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
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

/* Make one cycle through all lines, in random order. */
static void fill_chase(void)
{
	uint32_t *order = malloc(CHASE_LINES * sizeof(*order));

	if (!order)
		die("cannot make the chain");
	for (uint32_t i = 0; i < CHASE_LINES; i++)
		order[i] = i;
	shuffle(order, CHASE_LINES);
	for (uint32_t i = 0; i < CHASE_LINES; i++) {
		uint32_t next = order[(i + 1) % CHASE_LINES];

		*(char **)(chase + (size_t)order[i] * LINE_BYTES) =
			chase + (size_t)next * LINE_BYTES;
	}
}

/* The child's end sends no signal, which would stop whoever traces this. */
static void make_chase(void)
{
	sigset_t ends, before;
	pid_t child;
	int status;

	sigemptyset(&ends);
	sigaddset(&ends, SIGCHLD);
	sigprocmask(SIG_BLOCK, &ends, &before);
	chase = mmap(NULL, (size_t)CHASE_LINES * LINE_BYTES,
		     PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	child = chase == MAP_FAILED ? -1 : fork();
	if (child < 0)
		die("cannot make the chain");
	if (!child) {
		fill_chase();
		_exit(0);
	}
	if (waitpid(child, &status, 0) != child || status)
		die("cannot make the chain");
	sigwaitinfo(&ends, NULL);
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Fill A for the loop: with words that decide a branch, or with indices. */
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
	double end = cpu_time() + cpu_seconds;
	uint64_t done = 0;

	for (int i = 0; i < ARRAYS; i++)
		job.array[i] = arrays[number][i];
	do {
		selected->run(step, &job);
		done += (uint64_t)step;
	} while (cpu_time() < end);
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
	/* Each other thread has arrays of its own. */
	for (unsigned w = 1; w < l->workers && e->region <= E; w++)
		printf("also %s 0x%zx %zu\n", region_name[e->region],
		       (uintptr_t)arrays[w][e->region], length);
}

static void run_loop(const struct loop *l)
{
	pthread_t other[WORKERS];

	selected = l;
	fill_array(l);
	for (unsigned i = 0; i < l->regions; i++) {
		if (l->expected[i].region == CHASE)
			make_chase();
	}
	printf("loop %s accesses %g longest %u\n", l->name,
	       (double)accesses_of(l) / l->iterations, l->longest);
	for (unsigned i = 0; i < l->regions; i++)
		print_region(l, &l->expected[i]);
	printf("run\n");
	fflush(stdout);
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

	for (int i = 1; i < argc; i++) {
		size_t n = sizeof(loops) / sizeof(loops[0]);

		if (!strcmp(argv[i], "--list")) {
			for (size_t j = 0; j < n; j++)
				printf("%-11s %s\n", loops[j].name,
				       loops[j].text);
			return 0;
		}
		if (!strcmp(argv[i], "--cpu-seconds") && i + 1 < argc) {
			cpu_seconds = atof(argv[++i]);
			continue;
		}
		found = NULL;
		for (size_t j = 0; j < n && !found; j++) {
			if (!strcmp(argv[i], loops[j].name))
				found = &loops[j];
		}
		if (!found)
			break;
	}
	if (!found) {
		fprintf(stderr,
			"usage: mix NAME [--cpu-seconds S] | mix --list\n");
		return 1;
	}
	run_loop(found);
	return 0;
}
