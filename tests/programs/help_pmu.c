/* SPDX-License-Identifier: MIT */
/*
 * help_pmu - four threads share known bytes and print what they execute
 *
 * Threads 1 and 2 use one word of a line, threads 3 and 4 two words of
 * another: the first pair shares truly, the second falsely, equally often. They
 * take turns of BURST ops. One of the instructions below makes each access, and
 * the thread tells the fake PMU, if there is one. Prints each thread's id and
 * its numbers of loads, stores and ops.
 *
 *	help_pmu ACCESSES
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
	THREADS = 4,
	LOAD = 1,
	STORE = 2,
	LOCKED = 4,
	BURST = 200,
};

/* A label stands before each instruction, so that samples can name it. */
__asm__(".text\n"
	"load_it: mov (%rdi), %rax\n ret\n"
	"store_it: movq $1, (%rdi)\n ret\n"
	"add_it: lock incq (%rdi)\n ret\n"
	"no_access: nop\n ret\n");
void load_it(uint64_t *at);
void store_it(uint64_t *at);
void add_it(uint64_t *at);
void no_access(uint64_t *at);

static void (*tell)(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags);
static uint64_t shared[2][8] __attribute__((aligned(64)));
static uint64_t own[THREADS][64] __attribute__((aligned(64)));
static long accesses;
static sem_t turn[THREADS];

struct worker {
	pthread_t thread;
	int number;
	long tid, loads, stores, ops;
	uint64_t seed;
};

static uint32_t draw(struct worker *w, uint32_t n)
{
	w->seed = w->seed * 6364136223846793005ull + 1442695040888963407ull;
	return (w->seed >> 33) % n;
}

static void op(struct worker *w, void (*what)(uint64_t *), uint64_t *at,
	       uint32_t flags)
{
	what(at);
	w->loads += !!(flags & LOAD);
	w->stores += !!(flags & STORE);
	w->ops++;
	if (tell)
		tell((uintptr_t)what, (uintptr_t)at, 8, flags);
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t *word =
		&shared[w->number / 2][w->number / 2 ? 1 + w->number % 2 : 3];

	w->tid = syscall(SYS_gettid);
	for (long i = 0; i < accesses; i++) {
		uint64_t *at = draw(w, 2) ? word : &own[w->number][draw(w, 64)];

		if (i % BURST == 0)
			sem_wait(&turn[w->number]);
		switch (draw(w, 8)) {
		case 0:
		case 1:
			op(w, load_it, at, LOAD);
			break;
		case 2:
			op(w, add_it, at, LOAD | STORE | LOCKED);
			break;
		case 3:
		case 4:
		case 5:
			op(w, store_it, at, STORE);
			break;
		default:
			op(w, no_access, at, 0);
			break;
		}
		if (i % BURST == BURST - 1 || i == accesses - 1)
			sem_post(&turn[(w->number + 1) % THREADS]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct worker worker[THREADS];

	accesses = argc > 1 ? atol(argv[1]) : 100000;
	tell = (void (*)(uint64_t, uint64_t, uint32_t, uint32_t))dlsym(
		RTLD_DEFAULT, "fake_process_op");
	for (int i = 0; i < THREADS; i++)
		sem_init(&turn[i], 0, i == 0);
	for (int i = 0; i < THREADS; i++) {
		worker[i].number = i;
		worker[i].seed = i + 1;
		pthread_create(&worker[i].thread, NULL, work, &worker[i]);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(worker[i].thread, NULL);
	for (int i = 0; i < THREADS; i++)
		printf("%d %ld %ld %ld %ld\n", i, worker[i].tid,
		       worker[i].loads, worker[i].stores, worker[i].ops);
	return 0;
}
