/* SPDX-License-Identifier: MIT */
/*
 * latency - measure how long DRAM and cache line transfers take here
 */
#include <errno.h>
#include <hwloc.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "latency.h"
#include "src/base/rng.h"

enum {
	LINE_BYTES = 64,
	BATCHES = 70, /* in a group */
	BATCH_LOADS = 4000,
	NODES = 64,           /* lines that are handed over together */
	ROUNDS = 350,         /* in a group */
	WARM_UP = 100,        /* rounds */
	NODE_BYTES = 512,     /* between two nodes: too far to prefetch */
	YIELD_EVERY = 100000, /* reads of a flag */
};

#define DRAM_BYTES_MIN (UINT64_C(64) << 20)
#define HUGE_PAGE      (UINT64_C(2) << 20)

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct latency latency_median(double *value, int n)
{
	struct latency l = { .by = { INFINITY, 0 } };

	for (int i = 0; i < LATENCY_GROUPS; i++) {
		double *group = value + i * n;

		qsort(group, n, sizeof(*group), by_value);
		l.by.low = fmin(l.by.low, group[n / 2]);
		l.by.high = fmax(l.by.high, group[n / 2]);
	}
	n *= LATENCY_GROUPS;
	qsort(value, n, sizeof(*value), by_value);
	l.ns = value[n / 2];
	return l;
}

/*
 * Link lines of @bytes each into one ring in random order (Sattolo, 1986): each
 * holds the address of the next.
 */
static void chain(unsigned char *mem, size_t lines, size_t bytes)
{
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (size_t i = 0; i < lines; i++)
		*(void **)(mem + i * bytes) = mem + i * bytes;
	for (size_t i = lines; --i > 0;) {
		void **a = (void **)(mem + i * bytes);
		void **b = (void **)(mem + rng_below(&rng, i) * bytes);
		void *next = *a;

		*a = *b;
		*b = next;
	}
}

static void *walk(void *from, long loads)
{
	void *volatile *p = from;

	while (loads-- > 0)
		p = *p;
	return (void *)p;
}

int latency_of_dram(uint64_t llc_bytes, struct latency *l)
{
	double ns[LATENCY_GROUPS * BATCHES];
	uint64_t bytes = 4 * llc_bytes, start;
	unsigned char *mem, *aligned;
	void *at;

	bytes = bytes < DRAM_BYTES_MIN ? DRAM_BYTES_MIN : bytes;
	mem = mmap(NULL, bytes + HUGE_PAGE, PROT_READ | PROT_WRITE,
		   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mem == MAP_FAILED)
		return -errno;
	aligned = mem + (-(uintptr_t)mem & (HUGE_PAGE - 1));
	madvise(aligned, bytes, MADV_HUGEPAGE);
	chain(aligned, bytes / LINE_BYTES, LINE_BYTES);
	at = walk(aligned, BATCH_LOADS);
	for (int i = 0; i < LATENCY_GROUPS * BATCHES; i++) {
		start = now_ns();
		at = walk(at, BATCH_LOADS);
		ns[i] = (double)(now_ns() - start) / BATCH_LOADS;
	}
	munmap(mem, bytes + HUGE_PAGE);
	*l = latency_median(ns, BATCHES);
	return 0;
}

/* Choose two processors of @set, of different cores if there are any. */
static int choose(const cpu_set_t *set, int cpu[2])
{
	hwloc_topology_t t;
	hwloc_obj_t pu = NULL, core, first = NULL;
	int n = 0;

	for (int i = 0; i < CPU_SETSIZE && n < 2; i++)
		if (CPU_ISSET(i, set))
			cpu[n++] = i;
	if (n < 2)
		return -ENODEV;
	if (hwloc_topology_init(&t))
		return 0;
	if (!hwloc_topology_load(t)) {
		while ((pu = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_PU, pu))) {
			if (pu->os_index >= CPU_SETSIZE ||
			    !CPU_ISSET(pu->os_index, set))
				continue;
			core = hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE,
							      pu);
			if (!first) {
				first = core ? core : pu;
				cpu[0] = (int)pu->os_index;
			} else if ((core ? core : pu) != first) {
				cpu[1] = (int)pu->os_index;
				break;
			}
		}
	}
	hwloc_topology_destroy(t);
	return 0;
}

/*
 * The other thread modifies the lines when turn is odd, then makes it even; -1
 * ends it. (A) its store of an even turn pairs with the load in take_turn: the
 * lines have been modified. (B) the same the other way round: the lines have
 * been read.
 */
struct handover {
	_Alignas(128) _Atomic int turn;
	_Alignas(128) unsigned char lines[NODES * NODE_BYTES];
	int cpu;
};

/* Wait until the turn is odd, or even unless @odd; -1 ends the wait too. */
static int await(struct handover *h, int odd)
{
	int turn;

	for (long i = 1;; i++) {
		turn = atomic_load_explicit(&h->turn, memory_order_acquire);
		if (turn < 0 || (turn & 1) == odd)
			return turn;
		/* Another program may be running on the other processor. */
		if (i % YIELD_EVERY == 0)
			sched_yield();
	}
}

static bool run_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return !sched_setaffinity(0, sizeof(set), &set);
}

static void *modify(void *arg)
{
	struct handover *h = arg;
	int turn;

	run_on(h->cpu);
	while ((turn = await(h, 1)) >= 0) {
		for (int i = 0; i < NODES; i++) {
			unsigned char *node = h->lines + i * NODE_BYTES;

			/* Store beside the address of the next line. */
			((volatile long *)node)[1] = turn;
		}
		/* (A) */
		atomic_store_explicit(&h->turn, turn + 1, memory_order_release);
	}
	return NULL;
}

/* Time ROUNDS rounds. */
static void time_rounds(struct handover *h, double *ns)
{
	double overhead = INFINITY;
	uint64_t start;
	int turn = 0;

	for (int i = -WARM_UP; i < ROUNDS; i++) {
		/* (B) */
		atomic_store_explicit(&h->turn, ++turn, memory_order_release);
		turn = await(h, 0);
		start = now_ns();
		walk(h->lines, NODES);
		if (i >= 0)
			ns[i] = (double)(now_ns() - start) / NODES;
		/* Subtract what the clock and cached lines take. */
		start = now_ns();
		walk(h->lines, 0);
		overhead = fmin(overhead, (double)(now_ns() - start) / NODES);
	}
	for (int i = 0; i < ROUNDS; i++)
		ns[i] = fmax(0, ns[i] - overhead);
}

/* Measure a group, with a thread and lines of its own. */
static int time_group(const int cpu[2], double *ns)
{
	struct handover *h;
	pthread_t other;
	int err;

	h = aligned_alloc(_Alignof(struct handover), sizeof(*h));
	if (!h)
		return -ENOMEM;
	atomic_init(&h->turn, 0);
	h->cpu = cpu[1];
	chain(h->lines, NODES, NODE_BYTES);
	err = -pthread_create(&other, NULL, modify, h);
	if (err)
		goto free_lines;
	if (run_on(cpu[0]))
		time_rounds(h, ns);
	else
		err = -errno;
	atomic_store_explicit(&h->turn, -1, memory_order_release);
	pthread_join(other, NULL);
free_lines:
	free(h);
	return err;
}

int latency_of_transfer(struct latency *l)
{
	static double ns[LATENCY_GROUPS * ROUNDS];
	cpu_set_t before;
	int cpu[2], err;

	if (sched_getaffinity(0, sizeof(before), &before))
		return -errno;
	err = choose(&before, cpu);
	for (int i = 0; i < LATENCY_GROUPS && !err; i++)
		err = time_group(cpu, ns + i * ROUNDS);
	sched_setaffinity(0, sizeof(before), &before);
	if (!err)
		*l = latency_median(ns, ROUNDS);
	return err;
}
