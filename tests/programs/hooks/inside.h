/* SPDX-License-Identifier: MIT */
/*
 * inside - functions that the programs about handlers of SIGTRAP share
 *
 * Handlers count themselves, and work for some time before they raise their
 * own signal, so that samples have come by then.
 */
#ifndef COMDET_TESTS_PROGRAMS_HOOKS_INSIDE_H
#define COMDET_TESTS_PROGRAMS_HOOKS_INSIDE_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cases.h"
#include "signals.h"

enum {
	SAMPLED_MS = 12, /* more than two periods of the default rate */
};

static _Atomic int depth, deepest;

static inline void show(const char *when)
{
	printf("%s: handled %d deepest %d blocked %d pending %d\n", when,
	       handled, deepest, blocked(), pending(SIGTRAP));
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
