/* SPDX-License-Identifier: MIT */
/*
 * help_raw_exit - end as Go programs do, past the C library
 *
 * usage: help_raw_exit MS STATUS
 *
 * After MS milliseconds of CPU time in two threads together, end with STATUS by
 * exit_group; if STATUS is negative, by that signal.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static double cpu_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return ts.tv_sec * 1e3 + ts.tv_nsec / 1e6;
}

static void *burn(void *arg)
{
	double until = *(double *)arg;

	while (cpu_ms() < until)
		;
	return NULL;
}

int main(int argc, char **argv)
{
	double until = argc > 1 ? atof(argv[1]) : 100;
	long status = argc > 2 ? atol(argv[2]) : 0, r;
	pthread_t t;

	if (pthread_create(&t, NULL, burn, &until))
		return 1;
	burn(&until);
	if (status < 0) {
		/* A shell starts programs in the background without SIGINT. */
		signal((int)-status, SIG_DFL);
		kill(getpid(), (int)-status);
	}
	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(SYS_exit_group), "D"(status)
			 : "rcx", "r11", "memory");
	return (int)r;
}
