/* SPDX-License-Identifier: MIT */
/*
 * help_hook_wait - SIGTRAP is blocked, pending or waited for
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

static _Atomic bool stop;

static void blocked_kill(void)
{
	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	burn(5);
	show_signal("blocked");
	kill(getpid(), SIGTRAP);
	burn(5);
	show_signal("sent");
	kill(getpid(), SIGTRAP);
	burn(5);
	mask(SIG_BLOCK, SIGTRAP);
	mask(SIG_BLOCK, SIGUSR1);
	burn(5);
	show_signal("sent twice");
	mask(SIG_UNBLOCK, SIGTRAP);
	show_signal("unblocked");
	printf("code %d own %d uid %d\n", last.si_code, last.si_pid == getpid(),
	       last.si_uid == getuid());
	burn(5);
	show_signal("later");
}

static void blocked_raise(void)
{
	union sigval v = { .sival_int = 4711 };

	set(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 200; i++) {
		mask(SIG_BLOCK, SIGTRAP);
		raise(SIGTRAP);
		if (!pending(SIGTRAP) || handled != i)
			show_signal("lost");
		mask(SIG_SETMASK, 0);
	}
	show_signal("unblocked");
	printf("code %d\n", last.si_code);
	mask(SIG_SETMASK, SIGTRAP);
	sigqueue(getpid(), SIGTRAP, v);
	mask(SIG_SETMASK, 0);
	show_signal("queued");
	printf("code %d value %d\n", last.si_code, last.si_value.sival_int);
	mask(SIG_SETMASK, SIGTRAP);
	raise(SIGTRAP);
	signal(SIGTRAP, SIG_IGN);
	set(SIGTRAP, on_trap, 0);
	show_signal("discarded by SIG_IGN");
	mask(SIG_SETMASK, 0);
	show_signal("unblocked");
}

static void blocked_default(void)
{
	mask(SIG_BLOCK, SIGTRAP);
	kill(getpid(), SIGTRAP);
	burn(5);
	printf("alive\n");
	fflush(stdout);
	mask(SIG_UNBLOCK, SIGTRAP);
	printf("not reached\n");
}

static void fillset(void)
{
	sigset_t all, old, back;
	uint64_t a, b;

	sigfillset(&all);
	sigemptyset(&old);
	printf("%d\n", sigprocmask(SIG_SETMASK, &all, &old));
	memcpy(&a, &old, sizeof(a));
	burn(5);
	printf("%d\n", sigprocmask(SIG_SETMASK, &old, &back));
	memcpy(&b, &back, sizeof(b));
	printf("%llx %llx\n", (unsigned long long)a, (unsigned long long)b);
	back = all;
	printf("%d ", pthread_sigmask(SIG_BLOCK, &all, &back));
	printf("%d ", pthread_sigmask(SIG_BLOCK, &all, &back));
	memcpy(&a, &back, sizeof(a));
	printf("%llx blocked %d\n", (unsigned long long)a, blocked());
	printf("%d %d\n", sigprocmask(99, &old, NULL), errno);
	printf("%d blocked %d\n", pthread_sigmask(99, &old, NULL), blocked());
}

static void *wait_for_it(void *arg)
{
	sigset_t s = only(SIGTRAP);
	int sig = 0, r = sigwait(&s, &sig);

	printf("sigwait %d %d\n", r, sig);
	return NULL;
}

static void *wait_for_info(void *arg)
{
	sigset_t s = only(SIGTRAP);
	siginfo_t info;

	printf("sigwaitinfo %d", sigwaitinfo(&s, &info));
	printf(" code %d own %d\n", info.si_code, info.si_pid == getpid());
	return NULL;
}

static void *burn_until_stop(void *arg)
{
	while (!stop)
		burn(1);
	return NULL;
}

static void sigwait_thread(void)
{
	pthread_t t, noise;

	mask(SIG_BLOCK, SIGTRAP);
	pthread_create(&noise, NULL, burn_until_stop, NULL);
	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, i % 2 ? wait_for_it : wait_for_info,
			       NULL);
		if (i % 3)
			burn(1);
		if (i % 5)
			kill(getpid(), SIGTRAP);
		else
			pthread_kill(t, SIGTRAP);
		pthread_join(t, NULL);
	}
	stop = true;
	pthread_join(noise, NULL);
	show_signal("all received");
}

static void sigwait_timeout(void)
{
	struct timespec t = { 0, 60 * 1000 * 1000 }, none = { 0, 0 };
	sigset_t s = only(SIGTRAP);
	siginfo_t info;
	int64_t begin;
	int r;

	mask(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 50; i++) {
		burn(1);
		r = sigtimedwait(&s, &info, &none);
		if (r != -1 || errno != EAGAIN)
			printf("got %d code %d\n", r, info.si_code);
	}
	begin = now_on(CLOCK_MONOTONIC);
	r = sigtimedwait(&s, NULL, &t);
	printf("%d errno %d in time %d\n", r, errno,
	       now_on(CLOCK_MONOTONIC) - begin >= 60 * 1000000);
	kill(getpid(), SIGTRAP);
	printf("%d", sigtimedwait(&s, &info, &none));
	printf(" code %d own %d\n", info.si_code, info.si_pid == getpid());
	show_signal("after");
}

static _Atomic int reader_id;

static void *read_pipe(void *arg)
{
	char c;
	int r;

	reader_id = gettid();
	r = read(*(int *)arg, &c, 1);
	printf("read %d errno %d\n", r, r < 0 ? errno : 0);
	return NULL;
}

/* Calls restart only if the program set SA_RESTART, which our handler has. */
static void restart(void)
{
	struct timespec t = { 0, 20 * 1000 * 1000 };
	pthread_t reader;
	int fd[2];

	for (int i = 0; i < 2; i++) {
		if (pipe(fd))
			exit(1);
		set(SIGTRAP, on_trap, i ? SA_RESTART : 0);
		reader_id = 0;
		pthread_create(&reader, NULL, read_pipe, &fd[0]);
		while (!reader_id)
			nanosleep(&t, NULL);
		wait_until_asleep(reader_id);
		pthread_kill(reader, SIGTRAP);
		while (handled <= i)
			nanosleep(&t, NULL);
		if (write(fd[1], "x", 1) != 1)
			exit(1);
		pthread_join(reader, NULL);
	}
	printf("handled %d\n", handled);
}

/* A signal to the process goes to a thread that does not block it. */
static void finds_the_thread(void)
{
	pthread_t t;
	int wrong = 0;

	set(SIGTRAP, on_trap, 0);
	pthread_create(&t, NULL, burn_until_stop, NULL);
	mask(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 50; i++) {
		kill(getpid(), SIGTRAP);
		while (handled == i)
			burn(1);
		wrong += !pthread_equal(handled_by, t) ||
			 last.si_code != SI_USER || last.si_pid != getpid();
		mask(SIG_BLOCK, SIGTRAP);
	}
	stop = true;
	pthread_join(t, NULL);
	printf("handled %d wrong %d\n", handled, wrong);
}

static void *kill_self(void *arg)
{
	kill(getpid(), SIGTRAP);
	burn(5);
	printf("pending in the thread %d\n", pending(SIGTRAP));
	return NULL;
}

/* All threads block it; the first to unblock it gets it, with its sender. */
static void waits_for_whoever(void)
{
	pthread_t t, noise[2];

	set(SIGTRAP, on_trap, 0);
	mask(SIG_BLOCK, SIGTRAP);
	for (int i = 0; i < 2; i++)
		pthread_create(&noise[i], NULL, burn_until_stop, NULL);
	pthread_create(&t, NULL, kill_self, NULL);
	pthread_join(t, NULL);
	burn(5);
	show_signal("blocked everywhere");
	mask(SIG_UNBLOCK, SIGTRAP);
	show_signal("unblocked");
	printf("code %d own %d\n", last.si_code, last.si_pid == getpid());
	stop = true;
	for (int i = 0; i < 2; i++)
		pthread_join(noise[i], NULL);
}

static void through_signalfd(void)
{
	sigset_t s = only(SIGTRAP);
	struct signalfd_siginfo info;
	struct pollfd p;
	int fd;

	mask(SIG_BLOCK, SIGTRAP);
	fd = signalfd(-1, &s, SFD_NONBLOCK | SFD_CLOEXEC);
	p = (struct pollfd){ .fd = fd, .events = POLLIN };
	burn(5);
	printf("read %zd", read(fd, &info, sizeof(info)));
	printf(" errno %d poll %d\n", errno, poll(&p, 1, 0));
	for (int i = 0; i < 20; i++) {
		kill(getpid(), SIGTRAP);
		burn(2);
		printf("poll %d", poll(&p, 1, 1000));
		printf(" read %zd", read(fd, &info, sizeof(info)));
		printf(" signal %u code %d own %d\n", info.ssi_signo,
		       info.ssi_code, info.ssi_pid == (uint32_t)getpid());
		burn(2);
		printf("empty %zd\n", read(fd, &info, sizeof(info)));
	}
}

static void *report(void *arg)
{
	burn(2);
	show_signal(arg);
	return NULL;
}

static void inherited(void)
{
	pthread_attr_t a;
	pthread_t t;
	sigset_t s;

	pthread_create(&t, NULL, report, "not blocked");
	pthread_join(t, NULL);
	mask(SIG_BLOCK, SIGTRAP);
	pthread_create(&t, NULL, report, "blocked by the creator");
	pthread_join(t, NULL);
	pthread_attr_init(&a);
	s = only(SIGUSR1);
	pthread_attr_setsigmask_np(&a, &s);
	pthread_create(&t, &a, report, "unblocked by attributes");
	pthread_join(t, NULL);
	mask(SIG_SETMASK, 0);
	s = only(SIGTRAP);
	pthread_attr_setsigmask_np(&a, &s);
	pthread_create(&t, &a, report, "blocked by attributes");
	pthread_join(t, NULL);
	show_signal("creator");
}

static const struct hook_case cases[] = {
	{ "blocked_kill", blocked_kill },
	{ "blocked_raise", blocked_raise },
	{ "blocked_default", blocked_default },
	{ "fillset", fillset },
	{ "sigwait_thread", sigwait_thread },
	{ "sigwait_timeout", sigwait_timeout },
	{ "restart", restart },
	{ "finds_the_thread", finds_the_thread },
	{ "waits_for_whoever", waits_for_whoever },
	{ "through_signalfd", through_signalfd },
	{ "inherited", inherited },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
