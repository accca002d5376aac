/* SPDX-License-Identifier: MIT */
/*
 * help_pmu_calls - two threads share a line, by calls that are known
 *
 *	help_pmu_calls STORES
 *
 * The thread "left" always stores in left_inner, called by left_middle, and
 * "right" likewise; they tell the fake PMU, if there is one, while these
 * functions are active. One access in eight is by an instruction outside of any
 * function that is active then.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>

#define CALLED __attribute__((noinline))
/* Not the last thing that a function does: its calls are no jumps. */
#define STAY __asm__ volatile("" ::: "memory")

__asm__(".text\ngone: movq $1, (%rdi)\n ret\n");
void gone(uint64_t *at);

static void (*tell)(uint64_t ip, uint64_t addr, uint32_t len, uint32_t flags);
static _Alignas(64) uint64_t line[8];
static long stores;
static sem_t turn[2];

#define STORE(at)                                                              \
	do {                                                                   \
		uint64_t ip;                                                   \
                                                                               \
		__asm__ volatile("lea 1f(%%rip), %0\n1: movq $1, (%1)"         \
				 : "=&r"(ip)                                   \
				 : "r"(at)                                     \
				 : "memory");                                  \
		if (tell)                                                      \
			tell(ip, (uintptr_t)(at), 8, 2);                       \
		STAY;                                                          \
	} while (0)

static CALLED void left_inner(uint64_t *at)
{
	STORE(at);
}

static CALLED void right_inner(uint64_t *at)
{
	STORE(at + 2);
}

static CALLED void left_middle(void)
{
	left_inner(line);
	STAY;
}

static CALLED void right_middle(void)
{
	right_inner(line);
	STAY;
}

static CALLED void store(int me, long i)
{
	if (((uint32_t)i * 2654435761u >> 13) % 8 == 3) {
		gone(line + 4 * me);
		if (tell)
			tell((uintptr_t)gone, (uintptr_t)(line + 4 * me), 8, 2);
	} else if (me) {
		right_middle();
	} else {
		left_middle();
	}
	STAY;
}

static void *work(void *arg)
{
	int me = arg != NULL;

	for (long i = 0; i < stores; i++) {
		if (i % 200 == 0)
			sem_wait(&turn[me]);
		store(me, i);
		if (i % 200 == 199 || i == stores - 1)
			sem_post(&turn[!me]);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];

	stores = argc > 1 ? atol(argv[1]) : 100000;
	tell = (void (*)(uint64_t, uint64_t, uint32_t, uint32_t))dlsym(
		RTLD_DEFAULT, "fake_process_op");
	for (int i = 0; i < 2; i++)
		sem_init(&turn[i], 0, !i);
	for (int i = 0; i < 2; i++)
		pthread_create(&thread[i], NULL, work, i ? line : NULL);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	return 0;
}
