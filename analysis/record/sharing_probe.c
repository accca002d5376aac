/* SPDX-License-Identifier: MIT */
/*
 * sharing_probe - measure what sharing a line costs on this machine
 */
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "sharing_probe.h"
#include "analysis/base/line_trip.h"

enum {
	WINDOW_NS = 1200 * 1000, /* of one measurement */
	REPEATS = 5,
	BATCH = 512,  /* accesses between looks at the time */
	APART = 4096, /* bytes; no prefetcher reaches so far */
	START_NS = 3000,
	LATE_NS = 100 * 1000,
	TRIES = 6,
	GAME_NS = 20 * 1000 * 1000
};

/* Lines of the probe: the first is shared; no other data is near. */
static struct {
	volatile long word[2 * APART / sizeof(long)];
} field __attribute__((aligned(APART)));

struct worker {
	enum cost_kind kind;
	volatile long *at;
	int cpu;
	bool leads;
	uint64_t give_up, end; /* ns */
	double access_ns;
	bool ran; /* all the time: nobody else had its processor */
};

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static uint64_t now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static void batch(enum cost_kind kind, volatile long *at)
{
	for (int i = 0; i < BATCH; i++)
		switch (kind) {
		case COST_UPDATE:
			*at = *at + 1;
			break;
		case COST_STORE:
			*at = i;
			break;
		case COST_LOCKED:
			__atomic_fetch_add(at, 1, __ATOMIC_RELAXED);
			break;
		default:
			(void)*at;
		}
}

/*
 * When both measure: 0 until the second thread has its processor. A new thread
 * may take longer to get there than a window lasts.
 */
static bool arrived;
static uint64_t begin_at;

/* The time to begin, or 0 if the other one does not come. */
static uint64_t meet(const struct worker *w)
{
	uint64_t begin;

	if (w->leads) {
		while (!__atomic_load_n(&arrived, __ATOMIC_ACQUIRE))
			if (now() > w->give_up)
				return 0;
		begin = now() + START_NS;
		__atomic_store_n(&begin_at, begin, __ATOMIC_RELEASE);
		return begin;
	}
	__atomic_store_n(&arrived, true, __ATOMIC_RELEASE);
	while (!(begin = __atomic_load_n(&begin_at, __ATOMIC_ACQUIRE)))
		if (now() > w->give_up)
			return 0;
	return begin;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	uint64_t t, begin, planned, cpu, n = 0;

	stay_on(w->cpu);
	planned = meet(w);
	w->ran = false;
	if (!planned)
		return NULL;
	while ((begin = now()) < planned)
		;
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	do {
		batch(w->kind, w->at);
		n += BATCH;
		t = now();
	} while (t < planned + WINDOW_NS);
	cpu = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu;
	w->ran = begin - planned < LATE_NS && cpu + LATE_NS >= t - begin;
	w->access_ns = (double)(t - begin) / (double)n;
	return NULL;
}

/* Run both to their end; false if there is no second thread. */
static bool run_both(struct worker w[2])
{
	pthread_t other;

	arrived = false;
	begin_at = 0;
	for (int i = 0; i < 2; i++) {
		w[i].leads = !i;
		w[i].give_up = now() + GAME_NS;
	}
	if (pthread_create(&other, NULL, work, &w[1]))
		return false;
	work(&w[0]);
	pthread_join(other, NULL);
	return true;
}

/*
 * ns of an access of @kind beside another thread that updates (or does the
 * same, if it stores), @distance bytes away; of two that do the same, the mean
 * by what both get done.
 */
static bool time_of(enum cost_kind kind, size_t distance, const int cpu[2],
		    double *ns)
{
	bool alike = kind == COST_UPDATE || kind == COST_STORE;
	struct worker w[2] = {
		{ .kind = kind, .at = field.word, .cpu = cpu[0] },
		{ .kind = alike ? kind : COST_UPDATE,
		  .at = field.word + distance / sizeof(long),
		  .cpu = cpu[1] },
	};

	for (int i = 0; i < TRIES; i++) {
		if (!run_both(w))
			return false;
		if (!w[0].ran || !w[1].ran)
			continue;
		*ns = alike ? 2 / (1 / w[0].access_ns + 1 / w[1].access_ns)
			    : w[0].access_ns;
		return true;
	}
	return false;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static bool measure(enum cost_kind kind, const int cpu[2],
		    struct cost_ratio *out)
{
	double ratio[REPEATS], together, apart;

	for (int i = 0; i < REPEATS; i++) {
		if (!time_of(kind, sizeof(long), cpu, &together) ||
		    !time_of(kind, APART, cpu, &apart))
			return false;
		ratio[i] = apart / together;
	}
	qsort(ratio, REPEATS, sizeof(ratio[0]), compare);
	*out = (struct cost_ratio){ .middle = ratio[REPEATS / 2],
				    .low = ratio[REPEATS / 4],
				    .high = ratio[REPEATS - 1 - REPEATS / 4] };
	return true;
}

bool sharing_probe(struct sharing_cost *c)
{
	cpu_set_t all;
	int cpu[2];
	bool good = true;

	if (sched_getaffinity(0, sizeof(all), &all) ||
	    !two_processors(&all, cpu))
		return false;
	good = line_round_trip(cpu, &c->round_trip_ns);
	for (int i = 0; good && i < COST_KINDS; i++)
		good = measure(i, cpu, &c->alone[i]);
	sched_setaffinity(0, sizeof(all), &all);
	return good;
}
