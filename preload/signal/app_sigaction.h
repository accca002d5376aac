/* SPDX-License-Identifier: MIT */
/*
 * app_sigaction - the application's action for the claimed signal
 *
 * The kernel has our handler; here we keep the action that the application set.
 * Context of all functions: any.
 */
#ifndef COMDET_PRELOAD_SIGNAL_APP_SIGACTION_H
#define COMDET_PRELOAD_SIGNAL_APP_SIGACTION_H

#include <stdbool.h>
#include <stdint.h>

/* An action of the application's: handler, flags, mask of 64 signals. */
struct app_sigaction {
	void *handler;
	void *restorer;
	uint64_t mask;
	int flags;
};

/* Read the current action; returns its ticket for app_sigaction_reset. */
uint64_t app_sigaction_read(struct app_sigaction *a);
/* Replace the action by @a; @before gets the old one. False: no free slot. */
bool app_sigaction_publish(const struct app_sigaction *a,
			   struct app_sigaction *before);
/* SA_RESETHAND: set the default, unless the action has changed since. */
void app_sigaction_reset(uint64_t ticket);

#endif
