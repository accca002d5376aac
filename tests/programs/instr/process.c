/* SPDX-License-Identifier: MIT */
/*
 * process - what programs do that hooks and profiler must survive
 *
 *	process NAME [TURNS]
 *
 * Prints the same with hooks, without hooks, and profiled. --list prints the
 * names.
 */
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	THREADS = 4,
	TURNS = 400000,
	WORDS = 64,
};

static uint64_t shared[WORDS];
static uint64_t numbers = 1000000; /* for error_numbers */
static int early[WORDS];

/* Make accesses, some of which the profiler samples. */
static uint64_t touch(uint64_t turns)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < turns; i++) {
		__atomic_fetch_add(&shared[i % WORDS], 1, __ATOMIC_RELAXED);
		sum += i;
	}
	return sum;
}

__attribute__((constructor(101))) static void before_everything(void)
{
	for (int i = 0; i < WORDS; i++)
		early[i] = i;
}

static uint64_t total(void)
{
	uint64_t sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += shared[i];
	return sum;
}

/* This often, or TURNS. */
static void *toucher(void *turns)
{
	errno = 77;
	touch(turns ? (uint64_t)(uintptr_t)turns : TURNS);
	return (void *)(intptr_t)errno;
}

static void threads(void)
{
	pthread_t t[THREADS];
	void *left;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, toucher, NULL);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(t[i], &left);
		printf("errno %d\n", (int)(intptr_t)left);
	}
	printf("%llu\n", (unsigned long long)total());
}

static void many_threads(void)
{
	pthread_t t;

	for (int i = 0; i < 300; i++) {
		pthread_create(&t, NULL, toucher, (void *)40000);
		pthread_join(t, NULL);
	}
	printf("%llu\n", (unsigned long long)total());
}

static void small_stack(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, PTHREAD_STACK_MIN);
	pthread_create(&t, &attr, toucher, NULL);
	pthread_join(t, NULL);
	printf("%llu\n", (unsigned long long)total());
}

static void *ends_raw(void *arg)
{
	touch(40000);
	syscall(SYS_exit, 0);
	return arg;
}

/* The stacks are too large to be cached, so they are unmapped at once. */
static void raw_exits(void)
{
	pthread_attr_t attr;
	pthread_t t;

	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, 80 << 20);
	for (int i = 0; i < 10; i++) {
		pthread_create(&t, &attr, ends_raw, NULL);
		pthread_join(t, NULL);
		touch(40000);
	}
	printf("%llu\n", (unsigned long long)total());
}

static void constructors(void)
{
	int sum = 0;

	for (int i = 0; i < WORDS; i++)
		sum += early[i];
	printf("%d\n", sum);
}

static void in_child(const char *how, pid_t pid)
{
	int status = 0;

	if (!pid) {
		touch(TURNS);
		_exit(total() % 100 + 3);
	}
	waitpid(pid, &status, 0);
	touch(1000);
	printf("%s %d %llu\n", how, WEXITSTATUS(status),
	       (unsigned long long)total());
}

static void forks(void)
{
	touch(TURNS);
	in_child("fork", fork());
	in_child("raw fork", syscall(SYS_fork));
}

/* A child of a process whose other threads are anywhere in their work. */
static void fork_of_threads(void)
{
	pthread_t t[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, toucher, NULL);
	for (int i = 0; i < 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			memset(shared, 0, sizeof(shared));
			touch(TURNS);
			_exit(total() != TURNS);
		}
		waitpid(pid, &(int){ 0 }, 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	printf("%llu\n", (unsigned long long)total());
}

static void execs(void)
{
	touch(TURNS);
	if (!vfork()) {
		execl("/nonexistent", "nonexistent", NULL);
		_exit(9);
	}
	wait(NULL);
	execl("/proc/self/exe", "process", "threads", NULL);
}

static uint64_t handled;
static sigjmp_buf back;

static void on_alarm(int sig)
{
	handled += touch(200);
}

static void on_alarm_jump(int sig)
{
	touch(100);
	siglongjmp(back, 1);
}

static void alarms(void (*handler)(int))
{
	struct sigaction act = { .sa_handler = handler };
	struct itimerval often = { { 0, 1000 }, { 0, 1000 } };

	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &often, NULL);
}

static void handlers(void)
{
	pthread_t t[THREADS];

	alarms(on_alarm);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&t[i], NULL, toucher, NULL);
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	alarms(SIG_IGN);
	printf("%s\n", handled % 19900 ? "torn" : "whole");
}

/* However slow this is, the thread goes on for 200 us before the next one. */
static void on_alarm_again(int sig)
{
	const struct itimerval soon = { { 0, 0 }, { 0, 200 } };

	touch(200);
	setitimer(ITIMER_REAL, &soon, NULL);
}

/*
 * Handlers interrupt threads while they begin and end: only these take the
 * signal.
 */
static void interrupted_starts(void)
{
	sigset_t alarm;
	pthread_t t;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	alarms(on_alarm_again);
	for (int i = 0; i < 400; i++) {
		pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
		pthread_create(&t, NULL, toucher, (void *)1000);
		pthread_sigmask(SIG_BLOCK, &alarm, NULL);
		pthread_join(t, NULL);
	}
	alarms(SIG_IGN);
	puts("started");
}

/* Jump out of whatever the handler interrupted. */
static void jumps(void)
{
	static volatile int n;
	sigset_t alarm;
	pthread_t t;

	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	/* It stays blocked in this thread. */
	pthread_sigmask(SIG_BLOCK, &alarm, NULL);
	pthread_create(&t, NULL, toucher, NULL);
	pthread_sigmask(SIG_UNBLOCK, &alarm, NULL);
	if (!sigsetjmp(back, 1))
		alarms(on_alarm_jump);
	while (n++ < 1000)
		touch(1u << 30);
	alarms(SIG_IGN);
	pthread_join(t, NULL);
	printf("%d\n", n);
}

static void *endless(void *arg)
{
	for (;;)
		touch(1000);
	return NULL;
}

static void *asynchronous(void *arg)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	return endless(arg);
}

static void cancel_asynchronous(void)
{
	pthread_t t, other;
	void *left;
	int cancelled = 0;

	pthread_create(&other, NULL, toucher, NULL);
	for (int i = 0; i < 50; i++) {
		pthread_create(&t, NULL, asynchronous, NULL);
		usleep(1000 + i * 10);
		pthread_cancel(t);
		pthread_join(t, &left);
		cancelled += left == PTHREAD_CANCELED;
	}
	pthread_join(other, NULL);
	printf("%d\n", cancelled);
}

/* The hook comes before the access that faults. */
static void on_fault(int sig)
{
	siglongjmp(back, 1);
}

static void faults(void)
{
	struct sigaction act = { .sa_handler = on_fault };
	int *volatile nowhere = NULL;
	volatile int n = 0;

	sigaction(SIGSEGV, &act, NULL);
	sigsetjmp(back, 1);
	if (n++ < 100)
		*nowhere = 1;
	printf("%d\n", n);
}

/*
 * The profiler's handler changes errno, and the thread control block that holds
 * its address. A signal ends the program if this goes on for ever.
 */
static void *set_errors(void *n)
{
	int *(*volatile where)(void) = __errno_location;
	uint64_t sum = 0;

	for (uint64_t i = 0; i < (uintptr_t)n; i++) {
		*where() = (int)i;
		sum += *where();
	}
	return (void *)sum;
}

static void error_numbers(void)
{
	pthread_t thread;
	void *sum;

	alarm(60);
	if (pthread_create(&thread, NULL, set_errors, (void *)numbers))
		exit(1);
	printf("%ju ", (uintmax_t)(uintptr_t)set_errors((void *)numbers));
	pthread_join(thread, &sum);
	printf("%ju\n", (uintmax_t)(uintptr_t)sum);
}

static void exits(void)
{
	touch(TURNS);
	puts("exits");
	exit(5);
}

static void exits_at_once(void)
{
	touch(TURNS);
	_exit(6);
}

static void is_killed(void)
{
	touch(TURNS);
	puts("is killed");
	fflush(stdout);
	raise(SIGTERM);
}

static void crashes(void)
{
	volatile int *volatile nowhere = NULL;

	touch(TURNS);
	*nowhere = 1;
}

/* Other threads still run while the process ends. */
static void ends_while_others_run(void)
{
	pthread_t t;

	for (int i = 0; i < THREADS; i++)
		pthread_create(&t, NULL, endless, NULL);
	usleep(20000);
	puts("ends");
}

static const struct {
	const char *name;
	void (*run)(void);
} ways[] = {
	{ "threads", threads },
	{ "many_threads", many_threads },
	{ "small_stack", small_stack },
	{ "raw_exits", raw_exits },
	{ "constructors", constructors },
	{ "forks", forks },
	{ "fork_of_threads", fork_of_threads },
	{ "execs", execs },
	{ "handlers", handlers },
	{ "interrupted_starts", interrupted_starts },
	{ "jumps", jumps },
	{ "cancel_asynchronous", cancel_asynchronous },
	{ "faults", faults },
	{ "error_numbers", error_numbers },
	{ "exits", exits },
	{ "exits_at_once", exits_at_once },
	{ "is_killed", is_killed },
	{ "crashes", crashes },
	{ "ends_while_others_run", ends_while_others_run },
};

int main(int argc, char **argv)
{
	bool list = argc == 2 && !strcmp(argv[1], "--list");

	if (argc == 3)
		numbers = strtoull(argv[2], NULL, 10);
	for (size_t i = 0; argc > 1 && i < sizeof(ways) / sizeof(*ways); i++) {
		if (list) {
			puts(ways[i].name);
		} else if (!strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return 0;
		}
	}
	return !list;
}
