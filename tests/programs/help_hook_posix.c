/* SPDX-License-Identifier: MIT */
/*
 * help_hook_posix - the order of pending signals, with SIGTRAP among them
 *
 * The argument names the case. Its output must not depend on the preload, as in
 * help_hook_signal. Where two threads meet, each waits for what the other did.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/programs/hooks/cases.h"
#include "tests/programs/hooks/signals.h"

enum {
	SENT_MAX = 8,
	RAISED,
	KILLED,
	QUEUED,
	TO_SELF,
};

static int order[64];
static volatile int orders;

static void note(int sig, siginfo_t *info, void *context)
{
	if (orders < 64)
		order[orders++] = sig;
	handled++;
}

static void print_order(const char *what)
{
	printf("%s:", what);
	for (int i = 0; i < orders; i++)
		printf(" %d", order[i]);
	printf("\n");
	orders = 0;
}

static void send(int how, int sig, int value)
{
	union sigval v = { .sival_int = value };

	switch (how) {
	case RAISED:
		raise(sig);
		break;
	case KILLED:
		kill(getpid(), sig);
		break;
	case QUEUED:
		sigqueue(getpid(), sig, v);
		break;
	default:
		pthread_sigqueue(pthread_self(), sig, v);
		break;
	}
}

static sigset_t several(void)
{
	sigset_t s;

	sigemptyset(&s);
	sigaddset(&s, SIGTRAP);
	sigaddset(&s, SIGUSR1);
	sigaddset(&s, SIGINT);
	sigaddset(&s, SIGTERM);
	sigaddset(&s, SIGRTMIN);
	sigaddset(&s, SIGRTMIN + 3);
	return s;
}

/* Pending signals are taken in the kernel's order, whoever sent them how. */
static void wait_order(void)
{
	const int sigs[6] = { SIGUSR1, SIGRTMIN + 3, SIGTRAP,
			      SIGINT,  SIGRTMIN,     SIGTERM };
	struct timespec none = { 0, 0 };
	sigset_t s = several();
	siginfo_t info;

	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int way = 0; way < 64; way++) {
		for (int i = 0; i < 6; i++)
			send(RAISED + (way >> (i % 3 * 2)) % 4,
			     sigs[(i + way) % 6], way * 10 + i);
		if (way % 3 == 0)
			burn(2);
		printf("%d:", way);
		while (sigtimedwait(&s, &info, &none) > 0)
			printf(" %d/%d/%d", info.si_signo, info.si_code,
			       info.si_code == SI_QUEUE
				       ? info.si_value.sival_int
				       : 0);
		printf("\n");
	}
}

/* A real-time signal is queued as often as it is sent; SIGTRAP once. */
static void queue_order(void)
{
	sigset_t s = several();
	int sig;

	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int i = 0; i < SENT_MAX; i++) {
		send(QUEUED, SIGRTMIN, i);
		send(i % 2 ? KILLED : QUEUED, SIGTRAP, i);
		burn(1);
	}
	for (int i = 0; i < SENT_MAX + 1; i++)
		printf(" %d", sigwait(&s, &sig) ? -1 : sig);
	printf(" none left %d\n", pending(SIGTRAP) + pending(SIGRTMIN));
}

/* Handlers of all pending signals run before the call returns. */
static void suspend_order(void)
{
	const int sigs[6] = { SIGUSR1, SIGRTMIN + 3, SIGTRAP,
			      SIGINT,  SIGRTMIN,     SIGTERM };
	struct timespec second = { 1, 0 };
	sigset_t s = several(), none = only(0), trap = only(SIGTRAP);

	for (int i = 0; i < 6; i++)
		set(sigs[i], note, i % 2 ? SA_RESTART : 0);
	sigprocmask(SIG_BLOCK, &s, NULL);
	for (int way = 0; way < 24; way++) {
		for (int i = 0; i < 6; i++)
			send(RAISED + (way + i) % 4, sigs[i], 0);
		burn(1);
		switch (way % 4) {
		case 0:
			printf("sigsuspend %d", sigsuspend(&none));
			break;
		case 1:
			printf("ppoll %d", ppoll(NULL, 0, &second, &none));
			break;
		case 2:
			printf("pselect %d",
			       pselect(0, NULL, NULL, NULL, &second, &none));
			break;
		default:
			printf("sigsuspend without %d", sigsuspend(&trap));
			break;
		}
		printf(" %d pending %d blocked %d", errno, pending(SIGTRAP),
		       blocked());
		print_order("");
		sigprocmask(SIG_UNBLOCK, &s, NULL);
		print_order("unblocked");
		sigprocmask(SIG_BLOCK, &s, NULL);
	}
}

/* One mask goes away at once: the order of the handlers is the kernel's. */
static void unblock_order(void)
{
	const int sigs[6] = { SIGUSR1, SIGRTMIN + 3, SIGTRAP,
			      SIGINT,  SIGRTMIN,     SIGTERM };
	sigset_t s = several();

	for (int i = 0; i < 6; i++)
		set(sigs[i], note, 0);
	for (int way = 0; way < 16; way++) {
		sigprocmask(SIG_BLOCK, &s, NULL);
		for (int i = 0; i < 6; i++)
			send(RAISED + (way + i) % 4, sigs[i], 0);
		burn(1);
		sigprocmask(SIG_UNBLOCK, &s, NULL);
		print_order("unblocked");
	}
}

static pthread_barrier_t barrier;

static void *look_at_pending(void *arg)
{
	for (int i = 0; i < 4; i++) {
		pthread_barrier_wait(&barrier);
		burn(1);
		printf("other thread: %d %d\n", pending(SIGTRAP),
		       pending(SIGUSR1));
		pthread_barrier_wait(&barrier);
	}
	return NULL;
}

/* What is pending for the process is so in each thread, and nothing else. */
static void pending_where(void)
{
	struct timespec none = { 0, 0 };
	sigset_t s = several();
	pthread_t t;

	sigprocmask(SIG_BLOCK, &s, NULL);
	pthread_barrier_init(&barrier, NULL, 2);
	pthread_create(&t, NULL, look_at_pending, NULL);
	for (int i = 0; i < 4; i++) {
		send(i % 2 ? KILLED : RAISED, SIGTRAP, 0);
		send(i / 2 ? KILLED : RAISED, SIGUSR1, 0);
		pthread_barrier_wait(&barrier);
		pthread_barrier_wait(&barrier);
		printf("this thread: %d %d\n", pending(SIGTRAP),
		       pending(SIGUSR1));
		while (sigtimedwait(&s, NULL, &none) > 0)
			;
	}
	pthread_join(t, NULL);
}

static const struct hook_case cases[] = {
	{ "wait_order", wait_order },       { "queue_order", queue_order },
	{ "suspend_order", suspend_order }, { "unblock_order", unblock_order },
	{ "pending_where", pending_where },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
