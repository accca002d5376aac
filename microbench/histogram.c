/* SPDX-License-Identifier: MIT */
/*
 * histogram - the program of docs/tutorial.md
 *
 * Threads each look at a part of an image and keep statistics of the pixels:
 * how many are dark, middle and bright, and their sum. The statistics of all
 * threads lie in one array, side by side in the same cache line. --fixed
 * gives each thread lines of its own; nothing else changes.
 */
#include "common.h"

enum {
	WIDTH = 4096,
	HEIGHT = 2048,
	PIXELS = WIDTH * HEIGHT
};

struct worker_stats {
	uint32_t dark, middle, bright;
	uint64_t sum;
};

struct padded_stats {
	struct worker_stats stats;
	char padding[APART_BYTES - sizeof(struct worker_stats)];
};

static uint8_t image[PIXELS] __attribute__((aligned(APART_BYTES)));
static struct worker_stats stats[THREADS_MAX]
	__attribute__((aligned(APART_BYTES)));
static struct padded_stats fixed_stats[THREADS_MAX]
	__attribute__((aligned(APART_BYTES)));

static long threads = 2, rounds = 60;
static bool fixed;

static struct worker_stats *stats_of(long thread)
{
	return fixed ? &fixed_stats[thread].stats : &stats[thread];
}

static void fill_image(void)
{
	uint64_t rng = rng_seed(7, 0);
	int i;

	for (i = 0; i < PIXELS; i++)
		image[i] = (uint8_t)(rng_next(&rng) >> 56);
}

__attribute__((noinline)) static void add_pixels(struct worker_stats *s,
						 const uint8_t *pixel, long n)
{
	long i;

	for (i = 0; i < n; i++) {
		if (pixel[i] < 64)
			s->dark++;
		else if (pixel[i] < 192)
			s->middle++;
		else
			s->bright++;
		s->sum += pixel[i];
	}
}

static void *worker(void *arg)
{
	long thread = (long)(intptr_t)arg, part = PIXELS / threads, i;

	for (i = 0; i < rounds; i++)
		add_pixels(stats_of(thread), image + thread * part, part);
	return NULL;
}

static const struct option_row rows[] = {
	{ "threads", OPT_LONG, &threads, "number of threads" },
	{ "rounds", OPT_LONG, &rounds, "times over the image" },
	{ "fixed", OPT_FLAG, &fixed, "statistics on lines of their own" },
	{ 0 }
};

int main(int argc, char **argv)
{
	pthread_t thread[THREADS_MAX];
	uint64_t dark = 0, middle = 0, bright = 0, sum = 0, start;
	long i;

	parse_options(argc, argv, "Threads count the pixels of an image.",
		      rows);
	if (threads < 1 || threads > THREADS_MAX)
		usage_error("--threads must be 1 to %d", THREADS_MAX);
	fill_image();
	start = now_ns();
	for (i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, worker,
				   (void *)(intptr_t)i)) {
			fprintf(stderr, "%s: cannot create a thread\n",
				program);
			return 1;
		}
	for (i = 0; i < threads; i++) {
		struct worker_stats *s = stats_of(i);

		pthread_join(thread[i], NULL);
		dark += s->dark;
		middle += s->middle;
		bright += s->bright;
		sum += s->sum;
	}
	printf("dark %llu middle %llu bright %llu mean %.2f\n",
	       (unsigned long long)dark, (unsigned long long)middle,
	       (unsigned long long)bright,
	       (double)sum / (double)(dark + middle + bright));
	fprintf(stderr, "%.2f s\n", (double)(now_ns() - start) / 1e9);
	return 0;
}
