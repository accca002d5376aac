/* SPDX-License-Identifier: MIT */
/*
 * app_sigaction - the application's action for the claimed signal
 *
 * The kernel has our handler; what the application has set is kept here.
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

/* The application's action now; a ticket by which app_sigaction_reset knows it.
 */
uint64_t app_sigaction_read(struct app_sigaction *a);
/* Publish @a; @before gets the action it replaces. False if there is no slot.
 */
bool app_sigaction_publish(const struct app_sigaction *a,
			   struct app_sigaction *before);
/* SA_RESETHAND: to the default, unless the action has changed since. */
void app_sigaction_reset(uint64_t ticket);

#endif
