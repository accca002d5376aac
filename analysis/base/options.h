/* SPDX-License-Identifier: MIT */
/*
 * options - what the command lines of all verbs have in common
 */
#ifndef COMDET_ANALYSIS_BASE_OPTIONS_H
#define COMDET_ANALYSIS_BASE_OPTIONS_H

/*
 * Die for what getopt_long, whose options begin with a colon, returned as
 * @letter: '?' or ':'.
 */
struct option;
void die_option(const char *verb, int letter, char *const *argv,
		const struct option *options) __attribute__((noreturn));

/* The number @value of option @name; dies if it is not one of @low to @high. */
long whole_number(const char *name, const char *value, long low, long high);

/* Print the usage text and exit; die_status if it cannot be written. */
void print_usage(const char *usage) __attribute__((noreturn));

/* The directory behind the options, or "out"; dies if there are several. */
const char *directory_argument(const char *verb, int argc, char **argv);

#endif
