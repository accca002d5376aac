/* SPDX-License-Identifier: MIT */
/*
 * guest_process - what programs do with processes and threads
 *
 *	guest_process WHAT
 *
 * Runs with and without the emulator. Output and exit status are the same each
 * time.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	MANY = 300,
	TURNS = 20000
};

extern char **environ;
static _Atomic long sum;
static const char *self;

static void *add(void *arg)
{
	for (int i = 0; i < TURNS; i++)
		sum += (long)arg;
	return NULL;
}

static int many_threads(void)
{
	pthread_t t[8];

	for (int round = 0; round < MANY / 8; round++) {
		for (int i = 0; i < 8; i++)
			if (pthread_create(&t[i], NULL, add, (void *)1L))
				return 1;
		for (int i = 0; i < 8; i++)
			pthread_join(t[i], NULL);
	}
	printf("%ld\n", sum);
	return 0;
}

static int wait_for(pid_t pid)
{
	int status = 0;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status)
				   : WEXITSTATUS(status);
}

static void *spin(void *arg)
{
	for (;;)
		sum++;
	return NULL;
}

/* Fork while other threads run. */
static int fork_child(void)
{
	pthread_t t;
	pid_t pid;

	if (pthread_create(&t, NULL, spin, NULL))
		return 1;
	for (int i = 0; i < 5; i++) {
		fflush(stdout);
		pid = fork();
		if (!pid) {
			sum = 0;
			add((void *)2L);
			printf("child %ld\n", sum);
			exit(10 + i);
		}
		printf("status %d\n", wait_for(pid));
	}
	return 0;
}

static int spawn(void)
{
	char *argv[] = { "said", "say", "hello, world", NULL };
	pid_t pid;

	fflush(stdout);
	if (posix_spawn(&pid, self, NULL, NULL, argv, environ))
		return 1;
	printf("status %d\n", wait_for(pid));
	return 0;
}

static int exec_fails(void)
{
	char *argv[] = { "x", NULL };

	for (int i = 0; i < 3; i++)
		if (execv("/nonexistent/x", argv) >= 0 || errno != ENOENT)
			return 1;
	add((void *)1L);
	printf("%ld\n", sum);
	return 0;
}

static int exec_self(void)
{
	char *argv[] = { "renamed", "say", "a  b", "", "c,d=e", NULL };

	add((void *)1L);
	execv(self, argv);
	return 1;
}

static void *walk(void *arg)
{
	static volatile long table[1 << 14];

	++*(_Atomic int *)arg;
	for (unsigned int i = 0;; i += 9)
		table[i % (1 << 14)]++;
	return NULL;
}

/* Execute a program while three threads access memory. */
static int exec_among_threads(void)
{
	static _Atomic int walking;
	char *argv[] = { "again", "say", "there", NULL };
	pthread_t t;

	for (int i = 0; i < 3; i++)
		if (pthread_create(&t, NULL, walk, &walking))
			return 1;
	while (walking < 3)
		sched_yield();
	usleep(20000);
	execv(self, argv);
	return 1;
}

static void *leave(void *arg)
{
	exit((int)(long)arg);
}

static int exit_of_a_thread(void)
{
	pthread_t t[4];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, spin, NULL);
	add((void *)1L);
	pthread_create(&t[3], NULL, leave, (void *)7L);
	while (pause())
		;
	return 1;
}

static void *last(void *arg)
{
	add((void *)3L);
	printf("%ld\n", sum);
	return NULL;
}

static int main_ends_first(void)
{
	pthread_t t;

	pthread_create(&t, NULL, last, NULL);
	pthread_exit(NULL);
}

static sigjmp_buf back;
static volatile int hits;

static void on_fault(int sig, siginfo_t *info, void *context)
{
	hits++;
	siglongjmp(back, 1);
}

static void on_alarm(int sig)
{
	hits++;
}

static int signals(void)
{
	struct sigaction fault = { .sa_sigaction = on_fault,
				   .sa_flags = SA_SIGINFO };
	char *page =
		mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	sigaction(SIGSEGV, &fault, NULL);
	for (volatile int i = 0; i < 100; i++)
		if (!sigsetjmp(back, 1))
			*(volatile char *)page = 1;
	signal(SIGUSR1, on_alarm);
	for (int i = 0; i < 100; i++) {
		raise(SIGUSR1);
		add((void *)1L);
	}
	printf("%d %ld\n", hits, sum);
	return 0;
}

static int killed(void)
{
	add((void *)1L);
	printf("%ld\n", sum);
	fflush(stdout);
	raise(SIGKILL);
	return 1;
}

static int aborts(void)
{
	add((void *)1L);
	abort();
}

static const struct {
	const char *name;
	int (*run)(void);
} cases[] = {
	{ "many_threads", many_threads },
	{ "fork_child", fork_child },
	{ "spawn", spawn },
	{ "exec_fails", exec_fails },
	{ "exec_self", exec_self },
	{ "exec_among_threads", exec_among_threads },
	{ "exit_of_a_thread", exit_of_a_thread },
	{ "main_ends_first", main_ends_first },
	{ "signals", signals },
	{ "killed", killed },
	{ "aborts", aborts },
};
enum {
	CASES = sizeof(cases) / sizeof(cases[0])
};

int main(int argc, char **argv)
{
	static char path[4096];

	self = realpath("/proc/self/exe", path);
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (int i = 0; i < CASES; i++)
			printf("%s\n", cases[i].name);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "say")) {
		for (int i = 0; i < argc; i++)
			printf("[%s]", argv[i]);
		printf("\n");
		return 5;
	}
	for (int i = 0; argc == 2 && i < CASES; i++)
		if (!strcmp(cases[i].name, argv[1]))
			return cases[i].run();
	fprintf(stderr, "usage: guest_process WHAT | --list\n");
	return 1;
}
