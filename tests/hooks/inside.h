/* SPDX-License-Identifier: MIT */
/*
 * inside - what the programs about handlers of SIGTRAP have in common
 *
 * Handlers count themselves, and work for some time before they raise their
 * own signal, so that samples have come by then.
 */
#ifndef TESTS_HOOKS_INSIDE_H
#define TESTS_HOOKS_INSIDE_H

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"

enum {
	SAMPLED_MS = 12, /* more than two periods of the default rate */
};

typedef void handler_fn(int sig, siginfo_t *info, void *context);

static _Atomic int handled, depth, deepest;

static inline void set(int sig, handler_fn *handler, int flags)
{
	struct sigaction a;

	memset(&a, 0, sizeof(a));
	a.sa_sigaction = handler;
	a.sa_flags = SA_SIGINFO | flags;
	sigaction(sig, &a, NULL);
}

static inline sigset_t only(int sig)
{
	sigset_t s;

	sigemptyset(&s);
	if (sig)
		sigaddset(&s, sig);
	return s;
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

static inline bool pending(void)
{
	sigset_t s;

	sigpending(&s);
	return sigismember(&s, SIGTRAP);
}

static inline void show(const char *when)
{
	printf("%s: handled %d deepest %d blocked %d pending %d\n", when,
	       handled, deepest, blocked(), pending());
}

static inline void enter(void)
{
	handled++;
	if (++depth > deepest)
		deepest = depth;
}

static inline void count(int sig, siginfo_t *info, void *context)
{
	enter();
	depth--;
}

static inline void raise_once(int sig, siginfo_t *info, void *context)
{
	enter();
	burn(SAMPLED_MS);
	if (handled % 2) {
		raise(SIGTRAP);
		show("raised");
		burn(SAMPLED_MS);
	}
	depth--;
}

#endif
