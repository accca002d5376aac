/* SPDX-License-Identifier: MIT */
/*
 * help_waits - system calls that wait, and must not end early
 *
 * Threads wait in epoll_wait, sem_wait, read and pause; one more works. What
 * returns is printed with its error, so nothing is printed but "ready", and
 * "nanosleep 0" when SIGTERM has let the main thread go on.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

static sem_t semaphore;
static volatile sig_atomic_t stop;

static void on_term(int sig)
{
	stop = 1;
}

static void say(const char *what, long result)
{
	printf("%s %ld %s\n", what, result, result < 0 ? strerror(errno) : "");
	fflush(stdout);
}

static void *epolls(void *arg)
{
	struct epoll_event e;
	int fd = epoll_create1(0);

	for (;;)
		say("epoll_wait", epoll_wait(fd, &e, 1, -1));
	return arg;
}

static void *waits(void *arg)
{
	for (;;)
		say("sem_wait", sem_wait(&semaphore));
	return arg;
}

static void *reads(void *arg)
{
	char c;
	int fd[2];

	if (pipe(fd))
		return arg;
	for (;;)
		say("read", read(fd[0], &c, 1));
	return arg;
}

static void *works(void *arg)
{
	static volatile unsigned long counter;

	for (;;)
		counter++;
	return arg;
}

int main(void)
{
	void *(*const run[])(void *) = { epolls, waits, reads, works };
	struct timespec ten_ms = { 0, 10 * 1000 * 1000 };
	sigset_t set, old;
	long result = 0;

	sem_init(&semaphore, 0, 0);
	signal(SIGTERM, on_term);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	/* The threads do not take the signal. */
	pthread_sigmask(SIG_BLOCK, &set, &old);
	for (size_t i = 0; i < sizeof(run) / sizeof(run[0]); i++) {
		pthread_t t;

		if (pthread_create(&t, NULL, run[i], NULL))
			return 1;
	}
	puts("ready");
	fflush(stdout);
	while (!stop && !result) {
		result = nanosleep(&ten_ms, NULL);
		sigpending(&set);
		stop = sigismember(&set, SIGTERM);
	}
	say("nanosleep", result);
	fflush(stdout);
	_exit(3);
}
