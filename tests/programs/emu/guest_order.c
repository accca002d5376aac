/* SPDX-License-Identifier: MIT */
/*
 * guest_order - threads that meet in all ways that the order of turns decides
 *
 *	guest_order WHAT
 *
 * Each thread adds its number to a history whenever it gets that far. The
 * program prints a hash of the history: it is the same in two runs only if the
 * threads interleaved in the same way.
 */
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 5,
	ROUNDS = 300,
	SHORT_LIVES = 40,
	SHORT_LIFE = 20,
	BETWEEN = 50, /* stores between two meetings */
};

static _Atomic uint64_t history = 1;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static sem_t semaphore;
static int tubes[THREADS][2];
static int waiting;
static _Atomic int stop;

static void was_here(long who)
{
	uint64_t h = atomic_load(&history);

	while (!atomic_compare_exchange_weak(
		&history, &h, (h ^ (uint64_t)who) * 0x9E3779B97F4A7C15u))
		;
}

/* Some stores to memory of the thread, more for a higher number. */
static void work(long who)
{
	volatile long own[64];

	for (long i = 0; i < BETWEEN * (who + 1); i++)
		own[i % 64] = i;
	(void)own[0];
}

static void *race(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		work(who);
		was_here(who);
	}
	return NULL;
}

static void *mutex(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		was_here(who);
		work(who);
		pthread_mutex_unlock(&lock);
		work(THREADS - who);
	}
	return NULL;
}

/* Pass a token around: odd threads wake one waiter, even ones all. */
static void *condition(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		pthread_mutex_lock(&lock);
		if (waiting < THREADS - 1) {
			waiting++;
			pthread_cond_wait(&changed, &lock);
			waiting--;
		}
		was_here(who);
		if (who % 2)
			pthread_cond_signal(&changed);
		else
			pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		work(who);
	}
	pthread_mutex_lock(&lock);
	waiting += THREADS; /* nobody waits from here on */
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	return NULL;
}

static void *meet(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		work(who);
		was_here(who);
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

static void *count(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < ROUNDS; i++) {
		sem_wait(&semaphore);
		was_here(who);
		work(who);
		sem_post(&semaphore);
	}
	return NULL;
}

static void yield_times(long who, int times)
{
	for (int i = 0; i < times; i++) {
		was_here(who);
		sched_yield();
	}
}

static void *yield(void *arg)
{
	yield_times((long)arg, ROUNDS);
	return NULL;
}

/* On a busy host each yield takes as long as all others' turns. */
static void *live_shortly(void *arg)
{
	yield_times((long)arg, SHORT_LIFE);
	return NULL;
}

/* Times that no two threads share, some shorter than what others compute. */
static void *nap(void *arg)
{
	long who = (long)arg;

	for (int i = 0; i < 10; i++) {
		struct timespec ts = { 0, 200000 * (who + 1) + 1000 * i };

		nanosleep(&ts, NULL);
		was_here(who);
		if (who < 2)
			for (int k = 0; k < 100; k++)
				work(who);
	}
	return NULL;
}

/* Writes fit into the pipe, and a reader finds what has been written. */
static void *tube(void *arg)
{
	long who = (long)arg;
	char c = 'x';

	for (int i = 0; i < ROUNDS; i++) {
		if (write(tubes[who][1], &c, 1) != 1 ||
		    read(tubes[who][0], &c, 1) != 1)
			abort();
		was_here(who);
	}
	return NULL;
}

static void *spin(void *arg)
{
	long who = (long)arg;

	while (!atomic_load(&stop)) {
		work(who);
		was_here(who);
	}
	return NULL;
}

static const struct {
	const char *name;
	void *(*run)(void *);
} kinds[] = {
	{ "race", race },    { "mutex", mutex },     { "condition", condition },
	{ "barrier", meet }, { "semaphore", count }, { "yield", yield },
	{ "nap", nap },      { "tube", tube },       { "spin", spin },
};

static int start_all(void *(*run)(void *), pthread_t *t)
{
	for (long i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, run, (void *)i))
			return 1;
	return 0;
}

static void print_history(void)
{
	printf("%016llx\n", (unsigned long long)atomic_load(&history));
	fflush(stdout);
}

static int run_and_join(void *(*run)(void *))
{
	pthread_t t[THREADS];

	if (start_all(run, t))
		return 1;
	if (run == spin) {
		for (int i = 0; i < ROUNDS; i++)
			work(THREADS);
		atomic_store(&stop, 1);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	print_history();
	return 0;
}

/* Threads that live for less than a turn, some of them at once. */
static int short_lives(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < SHORT_LIVES; i++) {
		if (start_all(live_shortly, t))
			return 1;
		for (int k = THREADS; k-- > 0;)
			pthread_join(t[k], NULL);
	}
	print_history();
	return 0;
}

/* Threads that end before the next one begins. */
static int one_by_one(void)
{
	pthread_t t;

	for (long i = 0; i < THREADS; i++) {
		if (pthread_create(&t, NULL, race, (void *)i))
			return 1;
		pthread_join(t, NULL);
	}
	print_history();
	return 0;
}

/* The program ends while its threads run. */
static int leave(void)
{
	pthread_t t[THREADS];

	if (start_all(spin, t))
		return 1;
	for (int i = 0; i < ROUNDS; i++)
		work(THREADS);
	print_history();
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (!strcmp(what, "--list")) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			printf("%s ", kinds[i].name);
		puts("short_lives one_by_one leave");
		return 0;
	}
	pthread_barrier_init(&barrier, NULL, THREADS);
	sem_init(&semaphore, 0, 2);
	for (int i = 0; i < THREADS; i++)
		if (pipe(tubes[i]))
			return 1;
	if (!strcmp(what, "short_lives"))
		return short_lives();
	if (!strcmp(what, "one_by_one"))
		return one_by_one();
	if (!strcmp(what, "leave"))
		return leave();
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(what, kinds[i].name))
			return run_and_join(kinds[i].run);
	return 2;
}
