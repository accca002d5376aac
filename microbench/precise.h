/* SPDX-License-Identifier: MIT */
/*
 * precise - what the benchmarks of precise event sampling share
 *
 * Each runs a loop in assembly whose accesses are counted by reading it, and
 * then prints what each instruction does, and how often. With --json that is
 * one line for a test to read:
 *
 *	{"benchmark": NAME, "threads": [{"id", "tid", "iterations"}],
 *	 "instructions": N, "branches": N, "branches_taken": N,
 *	 "locked_in_kernel": N, "seconds": S, "cpu_seconds": S, "peak_kb": N,
 *	 "sites": [{"name", "event", "low", "high", "words", "bytes",
 *	 "count"}]}
 *
 * Seconds are those of the loops, peak_kb is the process's largest resident
 * size since it was executed.
 *
 * A site is the instruction in [low, high). Its event is load, store, locked
 * (a locked read-modify-write), call, ret, or none, which accesses nothing. In
 * a build with -fsanitize=thread hooks stand where the instructions would be
 * and the loop is in C: low and high are 0, and a site is known by the word
 * that it accesses in each thread, in words.
 *
 * Around the loops there is less than one access in 10,000.
 */
#ifndef MICROBENCH_PRECISE_H
#define MICROBENCH_PRECISE_H

#include "common.h"

enum {
	SITES_MAX = 8,
	PASS = 1 << 20, /* iterations at once, unless the loop is slow */
	WORD_APART = 16,
};

/* An address in the loop, as an assembler label. */
typedef const char code_label[];

struct precise_site {
	const char *name, *event;
	const char *low, *high; /* code; NULL: see word */
	long word; /* number of the word that it accesses in each thread's data,
		      if low is NULL */
};

struct precise {
	const char *benchmark;
	const char *what; /* one sentence for people */
	/* Run @n iterations on the words from @words on. */
	void (*loop)(uint64_t n, char *words);
	uint64_t pass; /* iterations between reads of the clock */
	/* In one iteration. */
	uint64_t instructions, branches, branches_taken;
	bool in_kernel; /* each iteration also has a locked addition there */
	struct precise_site site[SITES_MAX];
	long sites;
};

static const struct precise *precise;

/*
 * A loop with iterations in rdi and words in rsi. It may use rax, rcx and rdx.
 */
#define PRECISE_LOOP(name, body)                                               \
	static __attribute__((naked, noinline)) void name(uint64_t n,          \
							  char *words)         \
	{                                                                      \
		__asm__(body "ret\n");                                         \
	}

/* The end of the thesis's loops. */
#define PRECISE_NEXT                                                           \
	"subq $1, %rdi\n"                                                      \
	"cmpq $0, %rdi\n"                                                      \
	"jne 1b\n"

/* The number of instructions of a loop in C is not known. */
#ifdef __SANITIZE_THREAD__
#define INSTRUCTIONS(n) 0
#else
#define INSTRUCTIONS(n) (n)
#endif

static void precise_body(struct worker *w)
{
	uint64_t done = 0, n;

	do {
		n = precise->pass ? precise->pass : PASS;
		if (w->iterations_max && w->iterations_max - done < n)
			n = w->iterations_max - done;
		precise->loop(n, w->private_data);
		done += n;
	} while (w->iterations_max ? done < w->iterations_max
				   : now_ns() < w->deadline);
	w->iterations = done;
}

static unsigned long long address_of(const void *p)
{
	return (unsigned long long)(uintptr_t)p;
}

static double cpu_seconds(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

/*
 * VmHWM, which unlike ru_maxrss does not include the program that executed us.
 */
static long peak_kb(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[128];
	long kb = 0;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmHWM: %ld", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return kb;
}

static void precise_print_json(uint64_t iterations, double seconds, double cpu)
{
	const struct precise *p = precise;
	long i, k;

	printf("{\"benchmark\": \"%s\", \"threads\": [", p->benchmark);
	for (i = 0; i < opt.threads; i++)
		printf("%s{\"id\": %ld, \"tid\": %ld, \"iterations\": %llu}",
		       i ? ", " : "", i, workers[i].tid,
		       (unsigned long long)workers[i].iterations);
	printf("], \"instructions\": %llu, \"branches\": %llu, "
	       "\"branches_taken\": %llu, \"locked_in_kernel\": %llu, "
	       "\"seconds\": %.6f, \"cpu_seconds\": %.6f, "
	       "\"peak_kb\": %ld, \"sites\": [",
	       (unsigned long long)(INSTRUCTIONS(p->instructions) * iterations),
	       (unsigned long long)(INSTRUCTIONS(p->branches) * iterations),
	       (unsigned long long)(INSTRUCTIONS(p->branches_taken) *
				    iterations),
	       (unsigned long long)(p->in_kernel ? iterations : 0), seconds,
	       cpu, peak_kb());
	for (i = 0; i < p->sites; i++) {
		const struct precise_site *s = &p->site[i];

		printf("%s{\"name\": \"%s\", \"event\": \"%s\", "
		       "\"low\": \"0x%llx\", \"high\": \"0x%llx\", "
		       "\"words\": [",
		       i ? ", " : "", s->name, s->event, address_of(s->low),
		       address_of(s->high));
		for (k = 0; !s->low && k < opt.threads; k++)
			printf("%s\"0x%llx\"", k ? ", " : "",
			       address_of(workers[k].private_data +
					  s->word * WORD_APART));
		printf("], \"bytes\": 4, \"count\": %llu}",
		       (unsigned long long)(strcmp(s->event, "none")
						    ? iterations
						    : 0));
	}
	printf("]}\n");
}

static void precise_print_text(uint64_t iterations, double seconds)
{
	const struct precise *p = precise;
	long i;

	printf("%s: %s\n", p->benchmark, p->what);
	printf("  %llu iterations in %.3f s\n", (unsigned long long)iterations,
	       seconds);
	for (i = 0; i < p->sites; i++) {
		const struct precise_site *s = &p->site[i];

		if (!strcmp(s->event, "none"))
			continue;
		printf("  %-8s %-6s %llu times", s->name, s->event,
		       (unsigned long long)iterations);
		if (s->low)
			printf(", at 0x%llx", address_of(s->low));
		putchar('\n');
	}
}

/* Run the loop of @p in each thread and print what it did. */
static int precise_main(const struct precise *p)
{
	uint64_t iterations = 0, start;
	double seconds, cpu;
	long i;

	precise = p;
	check_common(1);
	start = now_ns();
	cpu = cpu_seconds();
	run_workers(precise_body);
	cpu = cpu_seconds() - cpu;
	seconds = (double)(now_ns() - start) * 1e-9;
	for (i = 0; i < opt.threads; i++)
		iterations += workers[i].iterations;
	if (opt.json)
		precise_print_json(iterations, seconds, cpu);
	else
		precise_print_text(iterations, seconds);
	return 0;
}

#endif
