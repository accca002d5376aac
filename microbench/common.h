/* SPDX-License-Identifier: MIT */
/*
 * common - what the microbenchmarks share: options, random numbers, pinning,
 * threads
 *
 * The threads share nothing but what is being measured: each has its random
 * numbers in registers, reads the clock itself, and leaves its counts in lines
 * of its own when it ends.
 */
#ifndef MICROBENCH_COMMON_H
#define MICROBENCH_COMMON_H

#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS_MAX = 64,
	LINE_BYTES = 64,
	APART_BYTES = 128, /* two lines, for adjacent-line prefetchers */
	OPTIONS_MAX = 16,
	CLOCK_EVERY = 4096, /* iterations between reads of the clock */
};

/* The options of every microbenchmark. */
struct common_options {
	long threads;
	long iterations; /* per thread; 0: run for seconds */
	double seconds;
	long seed;
	long word; /* bytes: 1, 2, 4 or 8 */
	const char *pin;
	bool json;
};

enum option_type {
	OPT_LONG,
	OPT_DOUBLE,
	OPT_STRING,
	OPT_FLAG
};

struct option_row {
	const char *name;
	enum option_type type;
	void *value;
	const char *help;
};

struct worker {
	long id;
	uint64_t rng;
	uint64_t deadline; /* ns, CLOCK_MONOTONIC; 0: none */
	uint64_t iterations_max;
	/* results */
	uint64_t iterations;
	uint64_t shared;   /* iterations on a shared word */
	uint64_t received; /* iterations on a shared word after another thread's
			      store, if counted */
	long tid;
	pthread_t thread;
	void (*body)(struct worker *w);
	char private_data[APART_BYTES] __attribute__((aligned(APART_BYTES)));
} __attribute__((aligned(APART_BYTES)));

static struct common_options opt = {
	.threads = 2, .seconds = 2, .seed = 1, .word = 8, .pin = "none"
};

static struct worker workers[THREADS_MAX];
static pthread_barrier_t start_line;
static const char *program;

__attribute__((noreturn, format(printf, 1, 2))) static inline void usage_error(
	const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s: ", program);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fprintf(stderr, "; try %s --help\n", program);
	exit(2);
}

static inline uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* splitmix64: turns seed and thread number into a well mixed, nonzero state. */
static inline uint64_t rng_seed(uint64_t seed, uint64_t thread)
{
	uint64_t z =
		seed * 0x9e3779b97f4a7c15u + (thread + 1) * 0xbf58476d1ce4e5b9u;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	z ^= z >> 31;
	return z ? z : 1;
}

/* xorshift64* (Vigna 2016); the upper bits are the better ones. */
static inline uint64_t rng_next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return x * 0x2545f4914f6cdd1du;
}

/* rng_next() < threshold happens with probability @fraction. */
static inline uint64_t fraction_threshold(double fraction)
{
	if (fraction >= 1)
		return UINT64_MAX;
	return (uint64_t)(fraction * 18446744073709551615.0);
}

/* True if @w has done what it was asked to do. Reads the clock now and then. */
static inline bool worker_done(const struct worker *w, uint64_t i)
{
	if (w->iterations_max)
		return i >= w->iterations_max;
	return i % CLOCK_EVERY == 0 && now_ns() >= w->deadline;
}

static inline long parse_long(const char *name, const char *text)
{
	char *end;
	long n = strtol(text, &end, 0);

	if (end == text || *end)
		usage_error("--%s wants a number, not '%s'", name, text);
	return n;
}

static inline double parse_double(const char *name, const char *text)
{
	char *end;
	double d = strtod(text, &end);

	if (end == text || *end)
		usage_error("--%s wants a number, not '%s'", name, text);
	return d;
}

static inline void print_help(const char *about, const struct option_row *rows)
{
	static const char *const wants[] = { " N", " X", " NAME", "" };

	printf("usage: %s [OPTION]...\n%s\n\n", program, about);
	for (; rows->name; rows++) {
		char left[40];

		snprintf(left, sizeof(left), "--%s%s", rows->name,
			 wants[rows->type]);
		printf("  %-22s %s\n", left, rows->help);
	}
}

/* Read the command line into @rows, which end with a row without a name. */
static inline void parse_options(int argc, char **argv, const char *about,
				 const struct option_row *rows)
{
	struct option longs[OPTIONS_MAX + 2] = { 0 };
	int n = 0, c, at;

	program = argv[0];
	for (; rows[n].name && n < OPTIONS_MAX; n++) {
		longs[n].name = rows[n].name;
		longs[n].has_arg = rows[n].type != OPT_FLAG;
	}
	longs[n].name = "help";
	while ((c = getopt_long(argc, argv, "", longs, &at)) != -1) {
		if (c)
			exit(2);
		if (at == n) {
			print_help(about, rows);
			exit(0);
		}
		switch (rows[at].type) {
		case OPT_LONG:
			*(long *)rows[at].value =
				parse_long(rows[at].name, optarg);
			break;
		case OPT_DOUBLE:
			*(double *)rows[at].value =
				parse_double(rows[at].name, optarg);
			break;
		case OPT_STRING:
			*(const char **)rows[at].value = optarg;
			break;
		case OPT_FLAG:
			*(bool *)rows[at].value = true;
			break;
		}
	}
	if (optind < argc)
		usage_error("unexpected argument '%s'", argv[optind]);
}

#define COMMON_ROWS                                                            \
	{ "threads", OPT_LONG, &opt.threads, "number of threads" },            \
		{ "iterations", OPT_LONG, &opt.iterations,                     \
		  "iterations a thread, instead of --seconds" },               \
		{ "seconds", OPT_DOUBLE, &opt.seconds, "how long to run" },    \
		{ "seed", OPT_LONG, &opt.seed, "of the random numbers" },      \
		{ "pin", OPT_STRING, &opt.pin,                                 \
		  "threads to CPUs: none, compact or scatter over sockets" },  \
	{                                                                      \
		"json", OPT_FLAG, &opt.json,                                   \
			"expected answer as one line of JSON"                  \
	}

#define WORD_ROW                                                               \
	{                                                                      \
		"word", OPT_LONG, &opt.word, "bytes of a word: 1, 2, 4 or 8"   \
	}

static inline void check_common(long threads_min)
{
	if (opt.threads < threads_min || opt.threads > THREADS_MAX)
		usage_error("--threads must be %ld to %d", threads_min,
			    THREADS_MAX);
	if (opt.word != 1 && opt.word != 2 && opt.word != 4 && opt.word != 8)
		usage_error("--word must be 1, 2, 4 or 8");
	if (opt.iterations < 0 || (!opt.iterations && !(opt.seconds > 0)))
		usage_error("nothing to run: --iterations or --seconds");
	if (strcmp(opt.pin, "none") && strcmp(opt.pin, "compact") &&
	    strcmp(opt.pin, "scatter"))
		usage_error("--pin must be none, compact or scatter");
}

static inline void check_fraction(const char *name, double fraction)
{
	if (!(fraction >= 0 && fraction <= 1))
		usage_error("--%s must be 0 to 1", name);
}

struct cpu_place {
	int cpu, package, core, sibling; /* rank in its core */
};

static inline int topology_value(int cpu, const char *name)
{
	char path[128];
	int value = 0;
	FILE *f;

	snprintf(path, sizeof(path),
		 "/sys/devices/system/cpu/cpu%d/topology/%s", cpu, name);
	f = fopen(path, "r");
	if (!f)
		return 0;
	if (fscanf(f, "%d", &value) != 1)
		value = 0;
	fclose(f);
	return value;
}

/*
 * compact: one package after the other, and within it one core after the other.
 */
static inline int compact_order(const void *pa, const void *pb)
{
	const struct cpu_place *a = pa, *b = pb;

	if (a->package != b->package)
		return a->package - b->package;
	if (a->sibling != b->sibling)
		return a->sibling - b->sibling;
	return a->cpu - b->cpu;
}

/* scatter: packages alternate; cpu was replaced by the rank in its package. */
static inline int scatter_order(const void *pa, const void *pb)
{
	const struct cpu_place *a = pa, *b = pb;

	if (a->sibling != b->sibling)
		return a->sibling - b->sibling;
	return a->package - b->package;
}

/*
 * Put the CPU of thread 0, 1, ... into @cpu. Returns how many CPUs there are.
 */
static inline int pin_plan(int *cpu, int max)
{
	static struct cpu_place place[CPU_SETSIZE];
	cpu_set_t set;
	int n = 0, i, k;

	if (sched_getaffinity(0, sizeof(set), &set))
		return 0;
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &set))
			continue;
		place[n].cpu = i;
		place[n].package = topology_value(i, "physical_package_id");
		place[n].core = topology_value(i, "core_id");
		place[n].sibling = 0;
		for (k = 0; k < n; k++)
			if (place[k].package == place[n].package &&
			    place[k].core == place[n].core)
				place[n].sibling++;
		n++;
	}
	qsort(place, (size_t)n, sizeof(*place), compact_order);
	if (!strcmp(opt.pin, "scatter")) {
		for (i = 0; i < n; i++) {
			bool first =
				!i || place[i - 1].package != place[i].package;

			place[i].sibling = first ? 0 : place[i - 1].sibling + 1;
		}
		qsort(place, (size_t)n, sizeof(*place), scatter_order);
	}
	for (i = 0; i < n && i < max; i++)
		cpu[i] = place[i].cpu;
	return i;
}

static inline void *worker_main(void *arg)
{
	struct worker *w = arg;

	w->tid = gettid();
	pthread_barrier_wait(&start_line);
	if (!w->iterations_max)
		w->deadline = now_ns() + (uint64_t)(opt.seconds * 1e9);
	w->body(w);
	return NULL;
}

/* Run @body in opt.threads threads and wait for them. */
static inline void run_workers(void (*body)(struct worker *w))
{
	int cpu[THREADS_MAX], cpus = 0;
	pthread_attr_t attr;
	cpu_set_t set;
	char name[16];
	long i;

	if (strcmp(opt.pin, "none"))
		cpus = pin_plan(cpu, THREADS_MAX);
	pthread_barrier_init(&start_line, NULL, (unsigned int)opt.threads);
	pthread_attr_init(&attr);
	for (i = 0; i < opt.threads; i++) {
		struct worker *w = &workers[i];

		w->id = i;
		w->rng = rng_seed((uint64_t)opt.seed, (uint64_t)i);
		w->iterations_max = (uint64_t)opt.iterations;
		w->body = body;
		if (cpus) {
			CPU_ZERO(&set);
			CPU_SET(cpu[i % cpus], &set);
			pthread_attr_setaffinity_np(&attr, sizeof(set), &set);
		}
		if (pthread_create(&w->thread, &attr, worker_main, w)) {
			fprintf(stderr, "%s: cannot create thread %ld\n",
				program, i);
			exit(1);
		}
		snprintf(name, sizeof(name), "worker-%ld", i);
		pthread_setname_np(w->thread, name);
	}
	for (i = 0; i < opt.threads; i++)
		pthread_join(workers[i].thread, NULL);
	pthread_attr_destroy(&attr);
}

#endif
