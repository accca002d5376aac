/* SPDX-License-Identifier: MIT */
/*
 * help_dlopen - load and unload libraries in two threads, under load
 *
 *	help_dlopen SECONDS LIBRARY LIBRARY
 *
 * Both threads write to one cache line, allocate, and walk into the libraries'
 * constructors. Two more threads do nothing but write and allocate. A profiler
 * that waits for the loader's locks in a signal handler never comes back.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static _Alignas(64) atomic_ulong shared[8];
static atomic_bool over;
static char **library;

static void work(unsigned me)
{
	void *volatile p[16];

	for (unsigned i = 0; i < 16; i++)
		p[i] = malloc(16 + 8 * i);
	for (unsigned i = 0; i < 1000; i++)
		atomic_fetch_add_explicit(&shared[me], i, memory_order_relaxed);
	for (unsigned i = 0; i < 16; i++)
		free(p[i]);
}

static void *loads(void *number)
{
	unsigned me = (unsigned)(size_t)number;
	unsigned long times = 0;

	for (; !atomic_load(&over); times++) {
		void *l = dlopen(library[(times + me) % 2], RTLD_NOW);

		work(me);
		if (l)
			dlclose(l);
	}
	return (void *)times;
}

static void *works(void *number)
{
	while (!atomic_load(&over))
		work((unsigned)(size_t)number);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread[4];
	unsigned long times = 0;

	if (argc != 4)
		return 2;
	library = argv + 2;
	for (size_t i = 0; i < 4; i++)
		if (pthread_create(&thread[i], NULL, i < 2 ? loads : works,
				   (void *)i))
			return 2;
	nanosleep(&(struct timespec){ .tv_sec = atoi(argv[1]) }, NULL);
	atomic_store(&over, true);
	for (int i = 0; i < 4; i++) {
		void *result;

		pthread_join(thread[i], &result);
		times += (unsigned long)result;
	}
	printf("%lu libraries\n", times);
	return times < 10;
}
