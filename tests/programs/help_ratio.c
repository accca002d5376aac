/* SPDX-License-Identifier: MIT */
/*
 * help_ratio - run a command alternately without and with the preload
 *
 *	help_ratio PAIRS NAME COMMAND [ARGUMENT]...
 *
 * Each pair runs the command twice, in an order that changes from pair to pair,
 * so that a slow drift of the machine affects both ways alike. The "with" runs
 * get the variables of $RATIO_WITH (words NAME=VALUE, separated by spaces), the
 * others do not. The command's stdout goes to /dev/null.
 *
 * If $RATIO_WAYS has several lists of variables with "|" between them, there is
 * a run for each in every pair, with the variables of $RATIO_WITH and its own:
 * "with", "with2", "with3", ...
 *
 * Prints a line of CSV for each run:
 *	NAME,PAIR,HOW,PLACE,WALL_S,USER_S,SYSTEM_S,MAXRSS_KIB
 * HOW is "without" or "with", PLACE counts the runs of the pair from 0.
 * If a command ends with another status than 0, the program exits with 1.
 *
 * Wall time is from fork to wait4. It includes exec and dynamic linking, as for
 * a user.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	WAYS = 8 /* at most */
};

struct run {
	double wall, user, system; /* s */
	long maxrss;               /* KiB */
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static double seconds(struct timeval tv)
{
	return (double)tv.tv_sec + (double)tv.tv_usec / 1e6;
}

/* Put the variables of @words into the environment. */
static void set(const char *words)
{
	char *copy = words ? strdup(words) : NULL, *word, *save;

	if (!copy)
		return;
	for (word = strtok_r(copy, " ", &save); word;
	     word = strtok_r(NULL, " ", &save))
		putenv(word);
}

/* Split $RATIO_WAYS. Returns how many lists it has: at least one. */
static long find_ways(const char *list[WAYS])
{
	const char *all = getenv("RATIO_WAYS");
	char *copy = strdup(all ? all : ""), *next = copy;
	long n = 0;

	while (next && n < WAYS)
		list[n++] = strsep(&next, "|");
	return n;
}

/* @way: the variables of a way, NULL for none and without $RATIO_WITH. */
__attribute__((noreturn)) static void child(const char *way, char **argv)
{
	int null = open("/dev/null", O_WRONLY);

	if (null >= 0)
		dup2(null, STDOUT_FILENO);
	if (way) {
		set(getenv("RATIO_WITH"));
		set(way);
	}
	unsetenv("RATIO_WITH");
	unsetenv("RATIO_WAYS");
	execvp(argv[0], argv);
	fprintf(stderr, "help_ratio: cannot run %s: %s\n", argv[0],
		strerror(errno));
	_exit(127);
}

/* Returns 0, or -1 after a message on stderr. */
static int run_once(const char *way, char **argv, struct run *r)
{
	double start = now();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid < 0) {
		perror("help_ratio: fork");
		return -1;
	}
	if (!pid)
		child(way, argv);
	while (wait4(pid, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return -1;
	r->wall = now() - start;
	r->user = seconds(usage.ru_utime);
	r->system = seconds(usage.ru_stime);
	r->maxrss = usage.ru_maxrss;
	if (status) {
		fprintf(stderr, "help_ratio: %s %s the preload: status 0x%x\n",
			argv[0], way ? "with" : "without",
			(unsigned int)status);
		return -1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *way[WAYS];
	long pairs, pair, i, ways = find_ways(way);

	if (argc < 4 || (pairs = atol(argv[1])) < 1) {
		fprintf(stderr, "usage: help_ratio PAIRS NAME COMMAND...\n");
		return 2;
	}
	for (pair = 0; pair < pairs; pair++) {
		for (i = 0; i <= ways; i++) {
			long k = (pair + i) % (ways + 1); /* 0: without */
			struct run r;

			if (run_once(k ? way[k - 1] : NULL, argv + 3, &r))
				return 1;
			printf("%s,%ld,%s", argv[2], pair,
			       k ? "with" : "without");
			if (k > 1)
				printf("%ld", k);
			printf(",%ld,%.4f,%.4f,%.4f,%ld\n", i, r.wall, r.user,
			       r.system, r.maxrss);
			fflush(stdout);
		}
	}
	return 0;
}
