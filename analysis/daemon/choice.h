/* SPDX-License-Identifier: MIT */
/*
 * choice - the options of daemon and top that say what to watch, and how
 */
#ifndef COMDET_ANALYSIS_DAEMON_CHOICE_H
#define COMDET_ANALYSIS_DAEMON_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "busy.h"
#include "daemon.h"

/* Rows of the table of long options. */
/* clang-format off */
#define CHOICE_OPTIONS                                                         \
	{ "pid", required_argument, NULL, 'p' },                               \
	{ "name", required_argument, NULL, 'm' },                              \
	{ "cgroup", required_argument, NULL, 'g' },                            \
	{ "user", required_argument, NULL, 'u' },                              \
	{ "budget", required_argument, NULL, 'b' },                            \
	{ "freq", required_argument, NULL, 'F' },                              \
	{ "registers", required_argument, NULL, 'r' }
/* clang-format on */

void choice_defaults(struct daemon_options *o);

/* Take in the option @letter; false if it is not one of these. Dies for a bad
 * value. */
bool choice_take(struct daemon_options *o, struct busy_filter *f, int letter,
		 const char *value);

/* @value in seconds as ns; dies if it is not within @low and @high seconds. */
uint64_t choice_ns(const char *name, const char *value, double low,
		   double high);

#endif
