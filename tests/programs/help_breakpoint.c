// SPDX-License-Identifier: MIT
/*
 * help_breakpoint - a program whose threads need a debug register now and then
 *
 *	help_breakpoint raw SECONDS     the threads open breakpoints by a system
 *	                                call instruction of their own
 *	help_breakpoint traced SECONDS  a tracer attaches to a thread, sets a
 *	                                debug register, and lets it go
 *
 * Each thread stores to a line of its own, so the profiler, too, watches the
 * other thread's line most of the time.
 *
 * Prints how many tries found a register, of how many: "all", or the numbers.
 */
#include <errno.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
	THREADS = 2,
	EVERY = 20 * 1000 * 1000, /* ns of CPU time between two tries */
};

static _Alignas(64) volatile uint64_t words[8 * THREADS];
static uint64_t watched; /* never touched */
static uint64_t until;   /* ns of each thread's CPU time */
static bool raw;
static _Atomic int tried, found;
static pid_t tids[THREADS];
static _Atomic int begun;

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static long raw_call(long n, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long r;

	__asm__ volatile("syscall"
			 : "=a"(r)
			 : "a"(n), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			 : "rcx", "r11", "memory");
	return r;
}

static void open_one(void)
{
	struct perf_event_attr a;
	long fd;

	memset(&a, 0, sizeof(a));
	a.size = sizeof(a);
	a.type = PERF_TYPE_BREAKPOINT;
	a.bp_type = HW_BREAKPOINT_W;
	a.bp_addr = (uintptr_t)&watched;
	a.bp_len = 8;
	a.exclude_kernel = a.exclude_hv = 1;
	fd = raw_call(SYS_perf_event_open, (long)&a, 0, -1, -1,
		      PERF_FLAG_FD_CLOEXEC);
	atomic_fetch_add(&tried, 1);
	if (fd < 0)
		return;
	atomic_fetch_add(&found, 1);
	close((int)fd);
}

static void *store(void *arg)
{
	volatile uint64_t *own = &words[(uintptr_t)arg * 8];
	uint64_t begin = cpu_ns(), next = begin + EVERY, now = begin;

	tids[(uintptr_t)arg] = (pid_t)syscall(SYS_gettid);
	atomic_fetch_add(&begun, 1);
	while (now - begin < until) {
		for (int i = 0; i < 20000; i++)
			(*own)++;
		now = cpu_ns();
		if (raw && now >= next) {
			open_one();
			next = now + EVERY;
		}
	}
	return NULL;
}

static void poke(pid_t tid, int *ok)
{
	const size_t low = offsetof(struct user, u_debugreg);
	int status;

	*ok = -1;
	if (ptrace(PTRACE_SEIZE, tid, 0, 0))
		return;
	if (ptrace(PTRACE_INTERRUPT, tid, 0, 0) ||
	    waitpid(tid, &status, __WALL) != tid)
		return;
	*ok = !ptrace(PTRACE_POKEUSER, tid, low, (uintptr_t)&watched) &&
	      !ptrace(PTRACE_POKEUSER, tid, low + 7 * 8, 1ul | 9ul << 16);
	ptrace(PTRACE_POKEUSER, tid, low + 7 * 8, 0);
	/* A signal of its own may have stopped it first: it receives that. */
	ptrace(PTRACE_DETACH, tid, 0,
	       status >> 16 ? 0 : WSTOPSIG(status) & 0x7f);
}

/* The tracer: a child of the traced process. Writes its result. */
static void trace(int to)
{
	int count[2] = { 0, 0 }, ok;

	for (int i = 0; i < 40; i++) {
		usleep(10 * 1000);
		poke(tids[i % THREADS], &ok);
		count[0] += ok >= 0;
		count[1] += ok > 0;
	}
	if (write(to, count, sizeof(count)) != sizeof(count))
		_exit(1);
	_exit(0);
}

int main(int argc, char **argv)
{
	pthread_t t[THREADS];
	int ends[2], count[2] = { 0, 0 }, status;
	pid_t tracer = 0;

	if (argc < 3 || pipe(ends))
		return 1;
	raw = !strcmp(argv[1], "raw");
	until = (uint64_t)(atof(argv[2]) * 1e9);
	prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY);
	for (uintptr_t i = 0; i < THREADS; i++)
		if (pthread_create(&t[i], NULL, store, (void *)i))
			return 1;
	while (begun < THREADS)
		usleep(1000);
	if (!raw) {
		tracer = fork();
		if (!tracer)
			trace(ends[1]);
		close(ends[1]);
		if (read(ends[0], count, sizeof(count)) != sizeof(count) ||
		    waitpid(tracer, &status, 0) != tracer)
			return 1;
		tried = count[0];
		found = count[1];
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	if (!tried)
		puts("not tried");
	else if (found == tried)
		puts("all");
	else
		printf("%d of %d\n", found, tried);
	return 0;
}
