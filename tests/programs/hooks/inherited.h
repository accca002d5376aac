/* SPDX-License-Identifier: MIT */
/*
 * inherited - print what a started program inherits
 */
#ifndef COMDET_TESTS_PROGRAMS_HOOKS_INHERITED_H
#define COMDET_TESTS_PROGRAMS_HOOKS_INHERITED_H

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Ask the kernel, because a hook could change the answer of libc. */
static inline void show_kernel(void)
{
	char line[256];
	unsigned long long m;
	FILE *f = fopen("/proc/self/status", "r");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "SigBlk: %llx", &m) == 1)
			printf(" blocked %d", (int)(m >> (SIGTRAP - 1) & 1));
		else if (sscanf(line, "SigIgn: %llx", &m) == 1)
			printf(" ignored %d", (int)(m >> (SIGTRAP - 1) & 1));
		else if (sscanf(line, "SigPnd: %llx", &m) == 1)
			printf(" pending %d", (int)(m >> (SIGTRAP - 1) & 1));
	if (f)
		fclose(f);
	printf("\n");
}

/* Print the arguments, the environment and the view of the kernel. */
static inline int show(int argc, char **argv)
{
	const char *preload = getenv("LD_PRELOAD");

	for (int i = 2; i < argc; i++)
		printf("[%s]", argv[i]);
	printf(" preload %s extra %s", preload ? preload : "none",
	       getenv("EXTRA") ? getenv("EXTRA") : "none");
	show_kernel();
	return 7;
}

/*
 * Print the program's own view, through libc, where our LD_PRELOAD entry may
 * stay.
 */
static inline int see(void)
{
	struct sigaction a;
	sigset_t s;

	sigprocmask(SIG_BLOCK, NULL, &s);
	sigaction(SIGTRAP, NULL, &a);
	printf("sees blocked %d ignored %d\n", sigismember(&s, SIGTRAP),
	       a.sa_handler == SIG_IGN);
	return 7;
}

#endif
