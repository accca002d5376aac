/* SPDX-License-Identifier: MIT */
/*
 * help_hook_calls - calls that wait, timers and children, as POSIX has them
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

static void note(int sig, siginfo_t *info, void *context)
{
	handled++;
}

static _Atomic pid_t ended;

static void *end_at_once(void *arg)
{
	ended = gettid();
	return arg;
}

static void ended_thread(void)
{
	pthread_t t;

	set(SIGTRAP, note, 0);
	pthread_create(&t, NULL, end_at_once, NULL);
	while (!ended || !tgkill(getpid(), ended, 0))
		usleep(1000);
	printf("pthread_kill %d\n", pthread_kill(t, SIGTRAP));
	printf("pthread_kill 0 %d\n", pthread_kill(t, 0));
	pthread_join(t, NULL);
	printf("invalid %d\n", pthread_kill(pthread_self(), 65));
	printf("raise %d", raise(65));
	printf(" %d\n", errno);
	printf("tgkill %d", tgkill(getpid(), 0x7ffffff0, SIGTRAP));
	printf(" %d\n", errno);
	printf("syscall %ld", syscall(SYS_tgkill, getpid(), gettid(), SIGTRAP));
	printf(" handled %d\n", handled);
}

static void show_timer(int sig, siginfo_t *info, void *context)
{
	last = *info;
	handled++;
}

/* Timers that send the signal to the process and to this thread. */
static void timers(void)
{
	for (int way = 0; way < 8; way++) {
		struct sigevent e = { 0 };
		struct itimerspec t = { .it_value.tv_nsec = 3000000 };
		sigset_t s = only(SIGTRAP);
		timer_t id;
		siginfo_t info = { 0 };

		set(SIGTRAP, show_timer, way % 2 ? SA_RESTART : 0);
		e.sigev_notify = way & 2 ? SIGEV_THREAD_ID : SIGEV_SIGNAL;
		e._sigev_un._tid = gettid();
		e.sigev_signo = SIGTRAP;
		e.sigev_value.sival_int = 100 + way;
		if (timer_create(CLOCK_MONOTONIC, &e, &id))
			exit(1);
		handled = 0;
		if (way & 4)
			mask(SIG_BLOCK, SIGTRAP);
		timer_settime(id, 0, &t, NULL);
		if (way & 4) {
			burn(5);
			printf("waited %d", sigwaitinfo(&s, &info));
			last = info;
			mask(SIG_UNBLOCK, SIGTRAP);
		} else {
			while (!handled)
				burn(1);
		}
		printf(" handled %d code %d value %d overrun %d\n", handled,
		       last.si_code, last.si_value.sival_int,
		       timer_getoverrun(id));
		timer_delete(id);
	}
}

static sem_t ready, never;
static _Atomic pid_t waiter;

static void cleanup(void *arg)
{
	printf("cleaned up, blocked %d\n", blocked());
}

static void *wait_to_be_cancelled(void *arg)
{
	sigset_t none = only(SIGUSR2), trap = only(SIGTRAP);
	int sig;

	pthread_cleanup_push(cleanup, NULL);
	burn(2);
	waiter = gettid();
	sem_post(&ready);
	switch ((intptr_t)arg % 6) {
	case 0:
		sigsuspend(&none);
		break;
	case 1:
		sigwait(&trap, &sig);
		break;
	case 2:
		ppoll(NULL, 0, NULL, &none);
		break;
	case 3:
		sem_wait(&never);
		break;
	case 4:
		pselect(0, NULL, NULL, NULL, NULL, &none);
		break;
	default:
		sigwaitinfo(&trap, NULL);
		break;
	}
	printf("not reached\n");
	pthread_cleanup_pop(0);
	return NULL;
}

static void cancels(void)
{
	pthread_t t;
	void *result;

	sem_init(&ready, 0, 0);
	sem_init(&never, 0, 0);
	for (int way = 0; way < 12; way++) {
		/* What sigwait waits for must be blocked. */
		if (way == 7 || way == 11)
			continue;
		mask(way < 6 ? SIG_BLOCK : SIG_UNBLOCK, SIGTRAP);
		pthread_create(&t, NULL, wait_to_be_cancelled,
			       (void *)(intptr_t)way);
		while (sem_wait(&ready))
			;
		wait_until_asleep(waiter);
		pthread_cancel(t);
		pthread_join(t, &result);
		printf("%d cancelled %d\n", way, result == PTHREAD_CANCELED);
	}
}

static pthread_mutex_t robust;

static void *die_with_it(void *arg)
{
	pthread_mutex_lock(&robust);
	raise(SIGTRAP);
	return NULL;
}

static void robust_mutex(void)
{
	pthread_mutexattr_t a;
	pthread_t t;

	set(SIGTRAP, note, 0);
	pthread_mutexattr_init(&a);
	pthread_mutexattr_setrobust(&a, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&robust, &a);
	for (int i = 0; i < 20; i++) {
		pthread_create(&t, NULL, die_with_it, NULL);
		pthread_join(t, NULL);
		if (pthread_mutex_lock(&robust) != EOWNERDEAD)
			printf("not dead\n");
		pthread_mutex_consistent(&robust);
		pthread_mutex_unlock(&robust);
	}
	printf("handled %d\n", handled);
}

static void *sleep_somehow(void *arg)
{
	struct timespec long_time = { 1000, 0 };
	intptr_t way = (intptr_t)arg;
	int fd[2], r;
	char c;

	if (pipe(fd))
		exit(1);
	burn(2);
	waiter = gettid();
	sem_post(&ready);
	switch (way % 6) {
	case 0:
		r = sem_wait(&never);
		break;
	case 1:
		r = nanosleep(&long_time, &long_time);
		break;
	case 2:
		r = poll(NULL, 0, -1);
		break;
	case 3:
		r = (int)read(fd[0], &c, 1);
		break;
	case 4:
		r = pause();
		break;
	default:
		r = select(0, NULL, NULL, NULL, NULL);
		break;
	}
	printf("%d: %d errno %d\n", (int)way, r, r < 0 ? errno : 0);
	return NULL;
}

/* Each call that sleeps ends with EINTR at the first signal. */
static void interrupted(void)
{
	pthread_t t;

	sem_init(&ready, 0, 0);
	sem_init(&never, 0, 0);
	set(SIGTRAP, note, 0);
	for (int way = 0; way < 6; way++) {
		pthread_create(&t, NULL, sleep_somehow, (void *)(intptr_t)way);
		while (sem_wait(&ready))
			;
		wait_until_asleep(waiter);
		pthread_kill(t, SIGTRAP);
		pthread_join(t, NULL);
	}
	printf("handled %d\n", handled);
}

static sigjmp_buf env;

static void jump(int sig, siginfo_t *info, void *context)
{
	handled++;
	siglongjmp(env, 1);
}

/* Each kind of timer interrupts a loop, which ends by a jump. */
static void interval_timers(void)
{
	static const int kinds[3][2] = { { ITIMER_REAL, SIGALRM },
					 { ITIMER_VIRTUAL, SIGVTALRM },
					 { ITIMER_PROF, SIGPROF } };
	static volatile int i;
	struct itimerval t = { .it_value.tv_usec = 2000 }, left;

	for (i = 0; i < 30; i++) {
		set(kinds[i % 3][1], jump, 0);
		if (i % 2)
			mask(SIG_BLOCK, SIGTRAP);
		if (!sigsetjmp(env, 1)) {
			setitimer(kinds[i % 3][0], &t, NULL);
			for (;;)
				burn(1);
		}
		getitimer(kinds[i % 3][0], &left);
		if (left.it_value.tv_usec || blocked() != i % 2)
			printf("%d: left %d blocked %d\n", i,
			       (int)left.it_value.tv_usec, blocked());
		mask(SIG_UNBLOCK, SIGTRAP);
	}
	printf("alarm %d", (int)alarm(100));
	printf(" %d handled %d\n", (int)alarm(0), handled);
}

static void on_child(int sig, siginfo_t *info, void *context)
{
	last = *info;
	handled++;
}

/* What the parent learns of children that SIGTRAP ended or stopped. */
static void children(void)
{
	siginfo_t info;
	pid_t child;

	set(SIGCHLD, on_child, 0);
	for (int way = 0; way < 6; way++) {
		handled = 0;
		fflush(stdout);
		child = fork();
		if (!child) {
			burn(2);
			if (way == 0)
				raise(SIGTRAP);
			else if (way == 1)
				__asm__ volatile("int3");
			else if (way == 2)
				raise(SIGSTOP);
			else if (way == 3)
				mask(SIG_BLOCK, SIGTRAP);
			else if (way == 4)
				signal(SIGTRAP, SIG_IGN);
			raise(SIGTRAP);
			_exit(3);
		}
		while (waitid(P_PID, child, &info,
			      WEXITED | WSTOPPED | WNOWAIT))
			;
		while (!handled)
			usleep(1000);
		printf("%d: code %d status %d signal's %d %d\n", way,
		       info.si_code, info.si_status, last.si_code,
		       last.si_status);
		if (way == 2)
			kill(child, SIGCONT);
		while (waitid(P_PID, child, &info, WEXITED))
			;
		printf("%d: code %d status %d\n", way, info.si_code,
		       info.si_status);
	}
}

static const struct hook_case cases[] = {
	{ "ended_thread", ended_thread },
	{ "timers", timers },
	{ "cancels", cancels },
	{ "robust_mutex", robust_mutex },
	{ "interrupted", interrupted },
	{ "interval_timers", interval_timers },
	{ "children", children },
};

int main(int argc, char **argv)
{
	return run_case(cases, sizeof(cases) / sizeof(cases[0]), argv[1]);
}
