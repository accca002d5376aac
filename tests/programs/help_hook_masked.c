/* SPDX-License-Identifier: MIT */
/*
 * help_hook_masked - calls that set a mask while they wait
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

static void *kill_later(void *arg)
{
	struct timespec t = { 0, 20 * 1000 * 1000 };

	nanosleep(&t, NULL);
	kill(getpid(), (int)(intptr_t)arg);
	return NULL;
}

static pthread_t later(int sig)
{
	pthread_t t;

	/* Leaves the signal to the main thread. */
	mask(SIG_BLOCK, sig);
	pthread_create(&t, NULL, kill_later, (void *)(intptr_t)sig);
	return t;
}

/* Wait with a mask in one of many ways. Returns the result of the call. */
static int wait_by(int way, const sigset_t *m)
{
	struct timespec t = { 3, 0 };
	struct epoll_event e;
	int r, fd;

	switch (way) {
	case 0:
		return sigsuspend(m);
	case 1:
		return ppoll(NULL, 0, &t, m);
	case 2:
		return pselect(0, NULL, NULL, NULL, &t, m);
	default:
		fd = epoll_create1(0);
		r = way == 3 ? epoll_pwait(fd, &e, 1, 3000, m)
			     : epoll_pwait2(fd, &e, 1, &t, m);
		close(fd);
		return r;
	}
}

static void wait_with_mask(void)
{
	sigset_t none = only(0), trap = only(SIGTRAP);
	pthread_t t;

	set(SIGTRAP, on_trap, 0);
	set(SIGUSR1, on_trap, 0);
	for (int way = 0; way < 5; way++) {
		/* The signal is pending already: the call returns at once. */
		mask(SIG_BLOCK, SIGTRAP);
		kill(getpid(), SIGTRAP);
		burn(2);
		printf("way %d: %d errno %d\n", way, wait_by(way, &none),
		       errno);
		show_signal("pending");
		t = later(SIGTRAP);
		printf("way %d: %d errno %d\n", way, wait_by(way, &none),
		       errno);
		show_signal("arrived");
		pthread_join(t, NULL);
		/* Wait for another signal, while SIGTRAP is blocked. */
		raise(SIGTRAP);
		t = later(SIGUSR1);
		printf("way %d: %d errno %d\n", way, wait_by(way, &trap),
		       errno);
		show_signal("another");
		pthread_join(t, NULL);
		mask(SIG_SETMASK, 0);
		show_signal("unblocked");
	}
}

/*
 * The sender blocks the signal by a flag alone, so it may take the signal that
 * it sent. Each call that ends has called the handler all the same.
 */
static void sender_takes_it(void)
{
	sigset_t none = only(0);
	int wrong = 0;
	pthread_t t;

	set(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 60; i++) {
		t = later(SIGTRAP);
		wrong += wait_by(3 + i % 2, &none) != -1 || errno != EINTR ||
			 handled != i + 1;
		pthread_join(t, NULL);
	}
	printf("handled %d wrong %d\n", handled, wrong);
}

static void show_events(const char *what, int r, const struct epoll_event *e)
{
	printf("%s: %d errno %d", what, r, r < 0 ? errno : 0);
	for (int i = 0; i < r; i++)
		printf(" %u of %d", e[i].events, e[i].data.fd);
	printf("\n");
}

static void *write_later(void *arg)
{
	struct timespec t = { 0, 20 * 1000 * 1000 };

	nanosleep(&t, NULL);
	return write(*(int *)arg, "x", 1) == 1 ? NULL : arg;
}

/* What the calls for epoll return besides signals. */
static void epoll_results(void)
{
	struct timespec t = { 0, 1000 * 1000 }, bad = { 0, 1000 * 1000 * 1000 };
	sigset_t none = only(0);
	struct epoll_event e[2] = { { .events = EPOLLIN } };
	int fd = epoll_create1(0), pair[2];
	int64_t begin;
	pthread_t writer;

	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	if (pipe(pair))
		exit(1);
	e[0].data.fd = 4711;
	epoll_ctl(fd, EPOLL_CTL_ADD, pair[0], &e[0]);
	show_events("no time", epoll_pwait(fd, e, 2, 0, &none), e);
	begin = now_on(CLOCK_MONOTONIC);
	show_events("20 ms", epoll_pwait(fd, e, 2, 20, &none), e);
	printf("waited %d\n", now_on(CLOCK_MONOTONIC) - begin >= 20 * 1000000);
	show_events("1 ms", epoll_pwait2(fd, e, 2, &t, &none), e);
	show_events("not a time", epoll_pwait2(fd, e, 2, &bad, &none), e);
	bad.tv_nsec = -1;
	show_events("less than none", epoll_pwait2(fd, e, 2, &bad, &none), e);
	show_events("no room", epoll_pwait(fd, e, 0, 1, &none), e);
	show_events("not epoll", epoll_pwait(pair[0], e, 2, 1, &none), e);
	show_events("closed", epoll_pwait(-1, e, 2, 1, &none), e);
	for (int i = 0; i < 3; i++) {
		pthread_create(&writer, NULL, write_later, &pair[1]);
		show_events("written",
			    i ? epoll_pwait(fd, e, 2, i == 1 ? -1 : 3000, &none)
			      : epoll_pwait2(fd, e, 2, NULL, &none),
			    e);
		pthread_join(writer, NULL);
		show_events("still there", epoll_pwait(fd, e, 2, -1, &none), e);
		if (read(pair[0], &(char){ 0 }, 1) != 1)
			exit(1);
	}
	/* Events come before a pending signal, which then still waits. */
	kill(getpid(), SIGTRAP);
	if (write(pair[1], "x", 1) != 1)
		exit(1);
	show_events("both", epoll_pwait(fd, e, 2, -1, &none), e);
	show_signal("after both");
	if (read(pair[0], &(char){ 0 }, 1) != 1)
		exit(1);
	show_events("signal", epoll_pwait(fd, e, 2, -1, &none), e);
	show_signal("after the signal");
}

/* A program that rests in ppoll and works between must see no EINTR. */
static void no_interruption(void)
{
	struct timespec t = { 0, 300 * 1000 };
	sigset_t none = only(0);
	int bad = 0;

	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 1000; i++) {
		if (ppoll(NULL, 0, &t, i % 2 ? &none : NULL))
			bad++;
		if (i % 10 == 0)
			burn(1);
		if (nanosleep(&t, NULL))
			bad++;
	}
	printf("interruptions %d handled %d\n", bad, handled);
}

static const struct hook_case cases[] = {
	{ "wait_with_mask", wait_with_mask },
	{ "sender_takes_it", sender_takes_it },
	{ "epoll_results", epoll_results },
	{ "no_interruption", no_interruption },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
