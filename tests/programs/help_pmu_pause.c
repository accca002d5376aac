/* SPDX-License-Identifier: MIT */
/*
 * help_pmu_pause - a source is switched off while words are watched
 *
 *	help_pmu_pause exec	during an exec that fails, then on again
 *	help_pmu_pause wait S	S seconds after the start, for good
 *
 * The main thread sweeps over WORDS words again and again, and tells the fake
 * PMU of each access (tests/fake/fake_process.c): each reuse time is WORDS. A
 * sweep is longer than several periods, so words are watched at any time. A
 * library after ours makes the exec fail; before that it calls
 * call_during_exec, which makes a quarter of a sweep. Prints how many seconds
 * the first part took.
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	WORDS = 5000,
	SWEEPS = 12,
	LOAD = 1,
	STORE = 2,
};

/* A label stands before each instruction, so that samples can name it. */
__asm__(".text\n"
	"load_it: mov (%rdi), %rax\n ret\n"
	"store_it: movq $1, (%rdi)\n ret\n");
void load_it(uint64_t *at);
void store_it(uint64_t *at);

static void (*tell)(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags);
static uint64_t words[WORDS];
static uint32_t next;

static void sweep(uint32_t accesses)
{
	for (; accesses; accesses--) {
		uint64_t *at = &words[next];
		void (*what)(uint64_t *) = next % 2 ? store_it : load_it;

		what(at);
		if (tell)
			tell((uintptr_t)what, (uintptr_t)at, 8,
			     next % 2 ? STORE : LOAD);
		next = (next + 1) % WORDS;
	}
}

static void during_exec(void)
{
	sweep(WORDS / 4);
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
	double begin = now(), took;
	void (**called)(void) =
		(void (**)(void))dlsym(RTLD_DEFAULT, "call_during_exec");

	if (argc < 2 || !called)
		return 2;
	*called = during_exec;
	tell = (void (*)(uint64_t, uint64_t, uint32_t, uint32_t))dlsym(
		RTLD_DEFAULT, "fake_process_op");
	sweep(SWEEPS * WORDS + WORDS / 2);
	took = now() - begin;
	if (!strcmp(argv[1], "exec"))
		execl("/nonexistent/program", "program", (char *)NULL);
	else if (argc == 3)
		while (now() - begin < atof(argv[2]))
			usleep(10000);
	sweep(SWEEPS * WORDS);
	printf("%.3f\n", took);
	return 0;
}
