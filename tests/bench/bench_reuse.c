/* SPDX-License-Identifier: MIT */
/*
 * bench_reuse - time exact stack distances and conversions
 *
 *	bench_reuse random LINES ACCESSES	uniformly random lines
 *	bench_reuse trace NAME <FILE		a trace that lackey printed
 *	bench_reuse convert			a histogram to a curve
 *
 * Prints the median over rounds of the thread's CPU time. It judges nothing.
 */
#include <err.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "analysis/locality/mrc.h"
#include "src/exact/lru_stack.h"
#include "src/base/rng.h"

enum {
	ROUNDS = 5,
	LINE_BITS = 6,
	LINE_BYTES = 1 << LINE_BITS,
	STACK_LINES = 1 << 22, /* as in the source emu */
	CONVERSIONS = 20,
	TRACE_MAX = 20000000,
	USES = 100000,
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median(double *value, int n)
{
	qsort(value, n, sizeof(*value), by_value);
	return value[n / 2];
}

static void *map(size_t bytes)
{
	void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		err(1, "mmap");
	return p;
}

/* Seconds that the accesses take, from an empty stack. */
static double run(const uint64_t *line, size_t n, uint64_t *sum,
		  uint32_t *lines)
{
	size_t bytes = lru_stack_size(STACK_LINES);
	void *mem = map(bytes);
	struct lru_stack *s = lru_stack_init(mem, STACK_LINES);
	double start = now(), taken;
	uint64_t distance;

	for (size_t i = 0; i < n; i++) {
		lru_stack_access(s, line[i], &distance);
		*sum += distance == LRU_STACK_COLD ? 0 : distance;
	}
	taken = now() - start;
	*lines = lru_stack_lines(s);
	munmap(mem, bytes);
	return taken;
}

static void time_stack(const char *name, const uint64_t *line, size_t n)
{
	double rate[ROUNDS];
	uint64_t sum = 0;
	uint32_t lines;

	if (!n)
		errx(1, "%s: no accesses", name);
	for (int i = 0; i < ROUNDS; i++)
		rate[i] = (double)n / run(line, n, &sum, &lines) / 1e6;
	printf("%-12s %9u lines %10zu accesses %8.2f M accesses/s "
	       "(mean distance %.0f)\n",
	       name, lines, n, median(rate, ROUNDS),
	       (double)sum / ROUNDS / (double)n);
}

static void random_lines(uint64_t lines, size_t n)
{
	uint64_t *line = map(n * sizeof(*line));
	struct rng rng;

	rng_seed(&rng, 1, 0);
	for (size_t i = 0; i < n; i++)
		line[i] = rng_below(&rng, lines);
	time_stack("random", line, n);
}

/* " L 1ffefff8,8", " S ...", " M ...": a load and a store. */
static void trace(const char *name)
{
	uint64_t *line = map(TRACE_MAX * sizeof(*line));
	char text[256];
	size_t n = 0;

	while (n + 4 < TRACE_MAX && fgets(text, sizeof(text), stdin)) {
		unsigned long long addr, first, last;
		unsigned int bytes;
		char what;

		if (sscanf(text, " %c %llx,%u", &what, &addr, &bytes) != 3 ||
		    !strchr("LSM", what))
			continue;
		first = addr >> LINE_BITS;
		last = (addr + bytes - 1) >> LINE_BITS;
		for (int i = 0; i < (what == 'M' ? 2 : 1); i++) {
			line[n++] = first;
			if (last != first)
				line[n++] = last;
		}
	}
	time_stack(name, line, n);
}

/* Times of all orders of magnitude, and some that never come back. */
static void convert(void)
{
	static struct reuse_histogram h;
	static struct locality l;
	double curve[CONVERSIONS], lru[CONVERSIONS], sum = 0;
	struct rng rng;
	struct mrc m;

	rng_seed(&rng, 1, 0);
	for (int i = 0; i < USES; i++) {
		uint64_t time =
			rng_below(&rng, UINT64_C(2) << rng_below(&rng, 30));

		if (rng_below(&rng, 100))
			reuse_histogram_add(&h, time + 1, 500);
		else
			reuse_histogram_add_never(&h, time + 1, 500);
	}
	for (int i = 0; i < CONVERSIONS; i++) {
		double start = now();

		locality_init(&l, &h);
		for (int octave = MRC_OCTAVE_MIN; octave <= MRC_OCTAVE_MAX;
		     octave++)
			sum += locality_miss_stack(
				&l, &h,
				(double)(UINT64_C(1) << octave) / LINE_BYTES);
		lru[i] = (now() - start) * 1e3;
		start = now();
		locality_init(&l, &h);
		mrc_compute(&m, &l, &h, LINE_BYTES);
		curve[i] = (now() - start) * 1e3;
		sum += m.point[0].lru;
	}
	printf("conversion   %d uses to %d miss ratios %.3f ms; to the curve "
	       "of "
	       "the report, %d sizes with limits, %.3f ms (%.3f)\n",
	       USES, MRC_OCTAVE_MAX - MRC_OCTAVE_MIN + 1,
	       median(lru, CONVERSIONS), MRC_POINTS, median(curve, CONVERSIONS),
	       sum);
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "random"))
		random_lines(strtoull(argv[2], NULL, 0),
			     strtoull(argv[3], NULL, 0));
	else if (argc == 3 && !strcmp(argv[1], "trace"))
		trace(argv[2]);
	else if (argc == 2 && !strcmp(argv[1], "convert"))
		convert();
	else
		errx(2, "usage: bench_reuse random LINES ACCESSES | trace NAME "
			"| convert");
	return 0;
}
