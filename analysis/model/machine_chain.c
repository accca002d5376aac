/* SPDX-License-Identifier: MIT */
/*
 * machine_chain - how long a load takes in chains through memory
 */
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "machine.h"
#include "machine_chain.h"
#include "analysis/base/line_trip.h"
#include "analysis/base/util.h"
#include "src/base/rng.h"

enum {
	LINE_BYTES = 1 << MACHINE_LINE_SHIFT,
	HUGE_BYTES = 2 << 20,
	REPEATS = 7,
};

struct place {
	uint32_t next;
	char rest[LINE_BYTES - sizeof(uint32_t)];
};

/* What the threads of a measurement have in common. */
struct together {
	uint64_t bytes;
	uint32_t loads;
	machine_order *order;
	unsigned int number;  /* of threads; 0: not known yet */
	unsigned int numbers; /* that they took */
	unsigned int arrived; /* at the begin of a repeat, all of them */
	bool failed;
	double *ns; /* by thread */
};

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void machine_circle(uint32_t *next, uint32_t n)
{
	struct rng r;

	rng_seed(&r, 1, n);
	for (uint32_t i = 0; i < n; i++)
		next[i] = i;
	for (uint32_t i = n; i-- > 1;) {
		uint32_t j = (uint32_t)(rng_next(&r) % i), x = next[i];

		next[i] = next[j];
		next[j] = x;
	}
}

void machine_straight(uint32_t *next, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		next[i] = i + 1 < n ? i + 1 : 0;
}

void *machine_pages(size_t bytes, void **mapped, size_t *length)
{
	uintptr_t at;

	*length = bytes + HUGE_BYTES;
	*mapped = mmap(NULL, *length, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*mapped == MAP_FAILED)
		return NULL;
	at = ((uintptr_t)*mapped + HUGE_BYTES - 1) &
	     ~(uintptr_t)(HUGE_BYTES - 1);
	madvise((void *)at, bytes, MADV_HUGEPAGE);
	return (void *)at;
}

static uint32_t follow(const struct place *p, uint32_t at, uint32_t loads)
{
	while (loads--)
		at = p[at].next;
	return at;
}

/* A thread's chain; NULL if there is not enough memory. */
static struct place *make(const struct together *g, void **mapped,
			  size_t *length)
{
	uint32_t n = (uint32_t)(g->bytes / LINE_BYTES);
	uint32_t *next = malloc(n * sizeof(*next));
	struct place *p = next ? machine_pages(g->bytes, mapped, length) : NULL;

	if (p) {
		g->order(next, n);
		for (uint32_t i = 0; i < n; i++)
			p[i].next = next[i];
	}
	free(next);
	return p;
}

/* Wait until all threads have come here for the time number @i. */
static void wait_for_all(struct together *g, unsigned int i)
{
	unsigned int n;

	__atomic_fetch_add(&g->arrived, 1, __ATOMIC_ACQ_REL);
	for (;;) {
		n = __atomic_load_n(&g->number, __ATOMIC_ACQUIRE);
		if (n && __atomic_load_n(&g->arrived, __ATOMIC_ACQUIRE) >=
				 n * (i + 1))
			return;
		sched_yield();
	}
}

/* On a processor of its own, if there are as many: the number @i of them. */
static void pin(unsigned int i)
{
	cpu_set_t all;

	if (sched_getaffinity(0, sizeof(all), &all) ||
	    i >= (unsigned int)CPU_COUNT(&all))
		return;
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &all) || i--)
			continue;
		stay_on(cpu);
		return;
	}
}

static void *measure(void *arg)
{
	struct together *g = arg;
	unsigned int number =
		__atomic_fetch_add(&g->numbers, 1, __ATOMIC_RELAXED);
	uint64_t best = UINT64_MAX, t;
	uint32_t at = 0;
	size_t length = 0;
	void *mapped = NULL;
	struct place *p;

	pin(number);
	p = make(g, &mapped, &length);
	if (!p)
		__atomic_store_n(&g->failed, true, __ATOMIC_RELAXED);
	else if (g->bytes / LINE_BYTES <= g->loads)
		at = follow(p, at, (uint32_t)(g->bytes / LINE_BYTES));
	for (unsigned int i = 0; i < REPEATS; i++) {
		wait_for_all(g, i);
		t = now();
		if (p)
			at = follow(p, at, g->loads);
		t = now() - t;
		best = t < best ? t : best;
	}
	__asm__ volatile("" : : "r"(at)); /* it is used */
	if (p)
		munmap(mapped, length);
	g->ns[number] = (double)best / g->loads;
	return NULL;
}

double machine_chain_ns(uint64_t bytes, uint32_t loads, machine_order *order,
			unsigned int cores)
{
	struct together g = { .bytes = bytes, .loads = loads, .order = order };
	pthread_t *thread = xcalloc(cores, sizeof(*thread));
	unsigned int made = 0;
	double sum = 0;

	g.ns = xcalloc(cores, sizeof(*g.ns));
	while (made < cores &&
	       !pthread_create(&thread[made], NULL, measure, &g))
		made++;
	__atomic_store_n(&g.number, made, __ATOMIC_RELEASE);
	for (unsigned int i = 0; i < made; i++) {
		pthread_join(thread[i], NULL);
		sum += g.ns[i];
	}
	free(thread);
	free(g.ns);
	return made < cores || g.failed ? 0 : sum / cores;
}
