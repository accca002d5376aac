/* SPDX-License-Identifier: MIT */
/*
 * cases - the table of cases that each program help_hook_* has
 *
 * A program is a table of cases. Without an argument it prints their names,
 * with one it runs that case.
 */
#ifndef COMDET_TESTS_PROGRAMS_HOOKS_CASES_H
#define COMDET_TESTS_PROGRAMS_HOOKS_CASES_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

struct hook_case {
	const char *name;
	void (*run)(void);
};

static inline int64_t now_on(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* Work in user mode, long enough for samples to arrive. */
static inline void burn(int ms)
{
	int64_t end = now_on(CLOCK_THREAD_CPUTIME_ID) + ms * 1000000LL;
	volatile uint64_t x = 0;

	while (now_on(CLOCK_THREAD_CPUTIME_ID) < end)
		for (int i = 0; i < 20000; i++)
			x += i;
}

/* Wait until a thread sleeps in its system call. */
static inline void wait_until_asleep(pid_t tid)
{
	char path[64], state = 0;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	while (state != 'S') {
		FILE *f = fopen(path, "r");

		usleep(2000);
		if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
			state = 0;
		if (f)
			fclose(f);
	}
}

static inline int run_case(const struct hook_case *cases, size_t n,
			   const char *name)
{
	struct rlimit no_core = { 0, 0 };

	setrlimit(RLIMIT_CORE, &no_core);
	for (size_t i = 0; i < n; i++) {
		if (!name) {
			puts(cases[i].name);
		} else if (!strcmp(name, cases[i].name)) {
			cases[i].run();
			return 0;
		}
	}
	return name ? 1 : 0;
}

#endif
