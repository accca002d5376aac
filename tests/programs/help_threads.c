// SPDX-License-Identifier: MIT
/*
 * help_threads - very many threads
 *
 *	help_threads short N	N threads one after the other, in batches
 *	help_threads live N [MS]
 *				N threads alive at once, each works for MS of
 *				CPU time, or for 40 ms
 *
 * Prints "fds N" (descriptors open at the worst moment) and, for live
 * threads, "rss KIB" (resident memory that the threads added).
 */
#include <dirent.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	BATCH = 20,
};

static uint64_t live_ns = 40 * 1000 * 1000;

static pthread_barrier_t all_up, all_done;
static _Alignas(64) volatile uint64_t words[8];

static int open_files(void)
{
	DIR *d = opendir("/proc/self/fd");
	int n = 0;

	while (d && readdir(d))
		n++;
	closedir(d);
	return n - 3;
}

static long resident_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kib = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmRSS: %ld", &kib) == 1)
			break;
	if (f)
		fclose(f);
	return kib;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void *short_thread(void *arg)
{
	words[(uintptr_t)arg % 8]++;
	return arg;
}

static void *live_thread(void *arg)
{
	pthread_barrier_wait(&all_up);
	while (cpu_ns() < live_ns)
		for (int i = 0; i < 10000; i++)
			words[(uintptr_t)arg % 8]++;
	pthread_barrier_wait(&all_done);
	return arg;
}

static int short_ones(long n)
{
	pthread_t t[BATCH];
	int most = 0;

	for (long i = 0; i < n; i += BATCH) {
		for (long j = 0; j < BATCH; j++)
			if (pthread_create(&t[j], NULL, short_thread,
					   (void *)(i + j)))
				return 1;
		for (long j = 0; j < BATCH; j++) {
			void *back;

			pthread_join(t[j], &back);
			if (back != (void *)(i + j))
				return 2;
		}
		if (i % 1000 == 0 && open_files() > most)
			most = open_files();
	}
	printf("fds %d\n", most);
	return 0;
}

static int live_ones(long n)
{
	pthread_t *t = calloc(n, sizeof(*t));
	long before = resident_kib();

	pthread_barrier_init(&all_up, NULL, n);
	pthread_barrier_init(&all_done, NULL, n + 1);
	for (long i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, live_thread, (void *)i))
			return 1;
	/* All but their last step: no thread passes all_done before main does.
	 */
	sleep(1);
	while (cpu_ns() < 1000) /* main has nothing to do */
		;
	for (struct timespec p = { 0, 100000000 };;) {
		struct timespec ts;
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
		if (ts.tv_sec * 1e9 + ts.tv_nsec >= (double)n * live_ns)
			break;
		nanosleep(&p, NULL);
	}
	printf("rss %ld\n", resident_kib() - before);
	printf("fds %d\n", open_files());
	pthread_barrier_wait(&all_done);
	for (long i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 3)
		return 1;
	if (argc > 3)
		live_ns = (uint64_t)atol(argv[3]) * 1000000;
	if (!strcmp(argv[1], "short"))
		return short_ones(atol(argv[2]));
	return live_ones(atol(argv[2]));
}
