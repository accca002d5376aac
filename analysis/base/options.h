/* SPDX-License-Identifier: MIT */
/*
 * options - what the command lines of all verbs have in common
 */
#ifndef COMDET_ANALYSIS_BASE_OPTIONS_H
#define COMDET_ANALYSIS_BASE_OPTIONS_H

struct option;

enum {
	OPTION_JOBS_MAX = 256 /* of an option --jobs */
};

struct option_syntax {
	const char *verb, *usage;
	const char *letters; /* for getopt_long: ":", then the letters */
	const struct option *options;
};

/*
 * The letter of the next option, its value in optarg; -1 at the end. Prints the
 * usage and exits for 'h'; dies for an option that the verb does not have. Set
 * optind to 1 before the first call.
 */
int next_option(const struct option_syntax *s, int argc, char **argv);

/* The number @value of option @name; dies if it is not one of @low to @high. */
long whole_number(const char *name, const char *value, long low, long high);

/* The processors of this machine, at most OPTION_JOBS_MAX: the default of
 * --jobs. */
unsigned int processors(void);

/* The directory behind the options, or "out"; dies if there are several. */
const char *directory_argument(const char *verb, int argc, char **argv);

#endif
