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
 * With $RATIO_BESIDE all runs of a pair go on at the same time, on the first
 * processor that this program may use, in turns of a tenth of a second
 * (SCHED_RR). Whatever slows this processor down for a while slows all of them
 * down: where the host of a virtual machine is busy, ratios of CPU time vary
 *much less. Wall times then say nothing.
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
#include <sched.h>
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
	long way; /* 0: without */
	pid_t pid;
	double start;              /* s */
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
	unsetenv("RATIO_BESIDE");
	execvp(argv[0], argv);
	fprintf(stderr, "help_ratio: cannot run %s: %s\n", argv[0],
		strerror(errno));
	_exit(127);
}

static const char *name_of(const struct run *r)
{
	return r->way ? "with" : "without";
}

/* Returns 0, or -1 after a message on stderr. */
static int start(struct run *r, const char *const way[], char **argv)
{
	r->start = now();
	r->pid = fork();
	if (r->pid < 0) {
		perror("help_ratio: fork");
		return -1;
	}
	if (!r->pid)
		child(r->way ? way[r->way - 1] : NULL, argv);
	return 0;
}

/*
 * Wait for the next of the @n @run to end. Returns it, or NULL after a message
 * on stderr.
 */
static struct run *finish(struct run *run, long n, char **argv)
{
	struct run *r = NULL;
	struct rusage usage;
	int status;
	pid_t pid;

	while ((pid = wait4(-1, &status, 0, &usage)) < 0)
		if (errno != EINTR)
			return NULL;
	for (long i = 0; i < n; i++)
		if (run[i].pid == pid)
			r = &run[i];
	if (!r)
		return NULL;
	r->wall = now() - r->start;
	r->user = seconds(usage.ru_utime);
	r->system = seconds(usage.ru_stime);
	r->maxrss = usage.ru_maxrss;
	if (status) {
		fprintf(stderr, "help_ratio: %s %s the preload: status 0x%x\n",
			argv[0], name_of(r), (unsigned int)status);
		return NULL;
	}
	return r;
}

static bool take_turns_on_one_processor(void)
{
	struct sched_param lowest = { .sched_priority = 1 };
	cpu_set_t all, one;
	int cpu = 0;

	if (sched_getaffinity(0, sizeof(all), &all))
		return false;
	while (!CPU_ISSET(cpu, &all))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	return !sched_setaffinity(0, sizeof(one), &one) &&
	       !sched_setscheduler(0, SCHED_RR, &lowest);
}

static void print(const char *name, long pair, long place, const struct run *r)
{
	printf("%s,%ld,%s", name, pair, name_of(r));
	if (r->way > 1)
		printf("%ld", r->way);
	printf(",%ld,%.4f,%.4f,%.4f,%ld\n", place, r->wall, r->user, r->system,
	       r->maxrss);
	fflush(stdout);
}

/*
 * Run all @n ways, in the order of @run; @beside at the same time. Returns 0,
 * or -1 after a message on stderr.
 */
static int run_pair(struct run *run, long n, bool beside,
		    const char *const way[], char **argv, long pair)
{
	struct run *r;

	for (long i = 0; i < n; i++) {
		if (start(&run[i], way, argv + 3))
			return -1;
		if (beside)
			continue;
		r = finish(run, i + 1, argv + 3);
		if (!r)
			return -1;
		print(argv[2], pair, i, r);
	}
	for (long i = 0; beside && i < n; i++) {
		r = finish(run, n, argv + 3);
		if (!r)
			return -1;
		print(argv[2], pair, r - run, r);
	}
	return 0;
}

int main(int argc, char **argv)
{
	const char *way[WAYS];
	long pairs, pair, i, ways = find_ways(way);
	bool beside = getenv("RATIO_BESIDE") != NULL;
	struct run run[WAYS + 1];

	if (argc < 4 || (pairs = atol(argv[1])) < 1) {
		fprintf(stderr, "usage: help_ratio PAIRS NAME COMMAND...\n");
		return 2;
	}
	if (beside && !take_turns_on_one_processor()) {
		perror("help_ratio: turns on one processor");
		return 1;
	}
	for (pair = 0; pair < pairs; pair++) {
		for (i = 0; i <= ways; i++)
			run[i] = (struct run){ .way = (pair + i) % (ways + 1) };
		if (run_pair(run, ways + 1, beside, way, argv, pair))
			return 1;
	}
	return 0;
}
