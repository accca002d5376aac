/* SPDX-License-Identifier: MIT */
/*
 * signals - handlers and masks, as the programs help_hook_* set them
 */
#ifndef COMDET_TESTS_PROGRAMS_HOOKS_SIGNALS_H
#define COMDET_TESTS_PROGRAMS_HOOKS_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

typedef void handler_fn(int sig, siginfo_t *info, void *context);

/* Handlers write these. */
static _Atomic int handled;
static siginfo_t last;
static _Atomic(pthread_t) handled_by;

static inline void on_trap(int sig, siginfo_t *info, void *context)
{
	last = *info;
	handled_by = pthread_self();
	handled++;
}

static inline void set(int sig, handler_fn *handler, int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = handler;
	a.sa_flags = SA_SIGINFO | flags;
	sigaction(sig, &a, NULL);
}

/* No signal: the empty set. */
static inline sigset_t only(int sig)
{
	sigset_t s;

	sigemptyset(&s);
	if (sig)
		sigaddset(&s, sig);
	return s;
}

static inline uint64_t bits(const sigset_t *set)
{
	uint64_t m;

	memcpy(&m, set, sizeof(m));
	return m;
}

static inline void mask(int how, int sig)
{
	sigset_t s = only(sig);

	pthread_sigmask(how, &s, NULL);
}

static inline bool blocked(void)
{
	sigset_t s;

	pthread_sigmask(SIG_BLOCK, NULL, &s);
	return sigismember(&s, SIGTRAP);
}

static inline bool pending(int sig)
{
	sigset_t s;

	sigpending(&s);
	return sigismember(&s, sig);
}

static inline void show_signal(const char *when)
{
	printf("%s: handled %d pending %d blocked %d\n", when, handled,
	       pending(SIGTRAP), blocked());
}

#endif
