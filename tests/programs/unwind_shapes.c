/* SPDX-License-Identifier: MIT */
/*
 * unwind_shapes - functions whose frames differ, for check_unwind.sh
 *
 * Compiled by several compilers, with and without frame pointers: deep
 * recursion, room of variable size, aligned room, many arguments, calls through
 * pointers, libc that calls back, and signal handlers on two stacks.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned long sum;

__attribute__((noinline)) static int leaf(int n)
{
	sum += (unsigned long)n;
	return n + 1;
}

__attribute__((noinline)) static int recurse(int n)
{
	return n ? recurse(n - 1) + leaf(n) : leaf(0);
}

__attribute__((noinline)) static int aligned(int n)
{
	_Alignas(128) volatile char room[200];

	room[n] = (char)n;
	return recurse(n) + room[n];
}

__attribute__((noinline)) static int variable(int n)
{
	volatile char *room = __builtin_alloca((size_t)n * 100 + 16);

	room[0] = 1;
	return aligned(n) + room[0];
}

__attribute__((noinline)) static int many(int a, int b, int c, int d, int e,
					  int f, int g, int h, int i)
{
	return variable(a % 7) + leaf(b + c + d) * leaf(e + f) + g + h + i;
}

static int (*volatile through)(int) = variable;

static int compare(const void *a, const void *b)
{
	leaf(1);
	return *(const int *)a - *(const int *)b;
}

static void on_signal(int sig)
{
	many(sig, 1, 2, 3, 4, 5, 6, 7, 8);
}

int main(void)
{
	static char stack[1 << 16];
	stack_t alternate = { .ss_sp = stack, .ss_size = sizeof(stack) };
	struct sigaction act = { .sa_handler = on_signal };
	char text[100];
	int v[16];

	sigaltstack(&alternate, NULL);
	sigaction(SIGUSR1, &act, NULL);
	act.sa_flags = SA_ONSTACK;
	sigaction(SIGUSR2, &act, NULL);
	for (int i = 0; i < 20000; i++) {
		many(i, 1, 2, 3, 4, 5, 6, 7, 8);
		through(i % 9);
		for (int k = 0; k < 16; k++)
			v[k] = (i * 7 + k * 13) % 31;
		qsort(v, 16, sizeof(v[0]), compare);
		snprintf(text, sizeof(text), "%d %s", i, "text");
		sum += strlen(text);
		raise(i & 1 ? SIGUSR1 : SIGUSR2);
	}
	printf("%lu\n", sum);
	return 0;
}
