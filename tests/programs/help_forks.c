// SPDX-License-Identifier: MIT
/*
 * help_forks - children of fork that do little, or a known amount of work
 *
 *	help_forks COUNT MS [WAY]
 *
 * Forks COUNT children, one after the other. Each runs for MS ms of CPU time
 * and ends with status 3. WAY says what is special about them:
 *
 *	threads  the work is done by two threads that share a cache line
 *	deep     each child forks the one that works, and waits for it
 *	daemon   the parent ends while the only child works; the child writes
 *	         "done" to the standard output when it is finished
 *	trap     before its work the child counts ten SIGTRAPs of its own
 *	absent   before its work the child fails to execute a program
 *	exec     the child executes this program again, as the one that works
 *	held     the child inherits a blocked SIGTRAP that its parent has
 *pending user, root, fsize, nofile before its work the child becomes another
 *user, changes its root directory (both for root only), may write or open no
 *file filter   the child asks for a harmless seccomp filter first
 *
 * Prints the sum of the children's exit statuses.
 */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static _Alignas(64) volatile uint64_t words[8];
static uint64_t until; /* ns */
static volatile sig_atomic_t traps;
static const char *self;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static __attribute__((noinline)) void *work(void *arg)
{
	volatile uint64_t *own = arg;
	uint64_t begin = cpu_ns();

	while (until && cpu_ns() - begin < until)
		for (int i = 0; i < 20000; i++)
			(*own)++;
	return NULL;
}

static void on_trap(int sig)
{
	traps++;
}

static void in_threads(void)
{
	pthread_t t[2];

	for (int i = 0; i < 2; i++)
		if (pthread_create(&t[i], NULL, work, (void *)&words[i]))
			exit(1);
	for (int i = 0; i < 2; i++)
		pthread_join(t[i], NULL);
}

static void filter(void)
{
	struct sock_filter all[] = { BPF_STMT(BPF_RET | BPF_K,
					      SECCOMP_RET_ALLOW) };
	struct sock_fprog program = { 1, all };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		_exit(1);
}

static void give_up_rights(const char *way)
{
	const struct rlimit fsize = { 0, 0 }, nofile = { 3, 3 };

	if ((!strcmp(way, "user") && setuid(65534)) ||
	    (!strcmp(way, "root") && chroot("/proc")) ||
	    (!strcmp(way, "fsize") && setrlimit(RLIMIT_FSIZE, &fsize)) ||
	    (!strcmp(way, "nofile") && setrlimit(RLIMIT_NOFILE, &nofile)))
		_exit(1);
}

static void hold_a_trap(void)
{
	sigset_t trap;

	sigemptyset(&trap);
	sigaddset(&trap, SIGTRAP);
	if (sigprocmask(SIG_BLOCK, &trap, NULL) || raise(SIGTRAP))
		exit(1);
}

static void wait_for(pid_t pid, int *status)
{
	while (waitpid(pid, status, 0) < 0)
		if (errno != EINTR)
			exit(1);
}

static void child(const char *way, char *ms)
{
	int status;
	pid_t pid;

	if (!strcmp(way, "exec")) {
		execl(self, self, "0", ms, NULL);
		_exit(1);
	}
	if (!strcmp(way, "deep")) {
		pid = fork();
		if (pid) {
			wait_for(pid, &status);
			_exit(WEXITSTATUS(status));
		}
	}
	if (!strcmp(way, "absent"))
		execl("/nonexistent", self, NULL);
	give_up_rights(way);
	if (!strcmp(way, "filter"))
		filter();
	if (!strcmp(way, "trap")) {
		signal(SIGTRAP, on_trap);
		for (int i = 0; i < 10; i++)
			raise(SIGTRAP);
		if (traps != 10)
			_exit(1);
	}
	if (!strcmp(way, "threads"))
		in_threads();
	else
		work((void *)words);
}

int main(int argc, char **argv)
{
	int count = atoi(argv[1]), status = 0, sum = 0;
	const char *way = argc > 3 ? argv[3] : "";
	pid_t pid;

	self = argv[0];
	until = (uint64_t)(atof(argv[2]) * 1e6);
	if (!count) {
		work((void *)words);
		return 3;
	}
	if (!strcmp(way, "held"))
		hold_a_trap();
	for (int i = 0; i < count; i++) {
		pid = fork();
		if (pid < 0)
			return 1;
		if (!pid) {
			child(way, argv[2]);
			if (!strcmp(way, "daemon") && write(1, "done\n", 5) < 0)
				_exit(1);
			_exit(3);
		}
		if (!strcmp(way, "daemon"))
			return 0;
		wait_for(pid, &status);
		sum += WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
	}
	printf("%d\n", sum);
	return 0;
}
