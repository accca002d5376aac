/* SPDX-License-Identifier: MIT */
/*
 * options - what the command lines of all verbs have in common
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "closest.h"
#include "options.h"
#include "util.h"

/* True if @arg gives a value to the option @letter, which takes none. */
static bool has_needless_value(const char *arg, int letter,
			       const struct option *options)
{
	size_t n = strcspn(arg, "=");

	if (strncmp(arg, "--", 2) || !arg[n])
		return false;
	for (const struct option *o = options; o->name; o++)
		if (o->val == letter && o->has_arg == no_argument &&
		    !strncmp(o->name, arg + 2, n - 2))
			return true;
	return false;
}

/* The option that the user may have meant by @arg; NULL: none. */
static const char *meant(const char *arg, const struct option *options)
{
	char typed[40];
	struct closest c = { .typed = typed };

	if (strncmp(arg, "--", 2))
		return NULL;
	snprintf(typed, sizeof(typed), "%.*s", (int)strcspn(arg + 2, "="),
		 arg + 2);
	for (const struct option *o = options; o->name; o++)
		closest_try(&c, o->name);
	return c.word;
}

static void __attribute__((noreturn))
die_option(const char *verb, int letter, char *const *argv,
	   const struct option *options)
{
	const char *arg = argv[optind - 1];
	char one[] = { '-', (char)optopt, '\0' };
	const char *near;

	if (letter == ':')
		die("%s: the option '%s' needs a value", verb, safe_text(arg));
	if (optopt && has_needless_value(arg, optopt, options))
		die("%s: the option '%.*s' takes no value", verb,
		    (int)strcspn(arg, "="), safe_text(arg));
	near = optopt ? NULL : meant(arg, options);
	if (near)
		die("%s has no option '%s'; did you mean '--%s'? See "
		    "reusetrack %s --help",
		    verb, safe_text(arg), near, verb);
	die("%s has no option '%s'; see reusetrack %s --help", verb,
	    safe_text(optopt ? one : arg), verb);
}

long whole_number(const char *name, const char *value, long low, long high)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(value, &end, 10);
	if (end == value || *end || errno || n < low || n > high)
		die("%s must be a whole number from %ld to %ld, not '%s'", name,
		    low, high, safe_text(value));
	return n;
}

unsigned int processors(void)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);

	return n < 1                 ? 1
	       : n > OPTION_JOBS_MAX ? OPTION_JOBS_MAX
				     : (unsigned int)n;
}

int next_option(const struct option_syntax *s, int argc, char **argv)
{
	int letter;

	opterr = 0;
	letter = getopt_long(argc, argv, s->letters, s->options, NULL);
	if (letter == 'h') {
		fputs(s->usage, stdout);
		exit(fflush(stdout) ? die_status : 0);
	}
	if (letter == '?' || letter == ':')
		die_option(s->verb, letter, argv, s->options);
	return letter;
}

const char *directory_argument(const char *verb, int argc, char **argv)
{
	if (argc - optind > 1)
		die("%s takes one directory, not %d; see reusetrack %s --help",
		    verb, argc - optind, verb);
	return optind < argc ? argv[optind] : "out";
}
