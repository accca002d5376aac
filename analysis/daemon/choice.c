/* SPDX-License-Identifier: MIT */
/*
 * choice - the options of daemon and top that say what to watch, and how
 */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>

#include "choice.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"

enum {
	FREQ_DEFAULT = 200,
	FREQ_MAX = 20000,
};

void choice_defaults(struct daemon_options *o)
{
	memset(o, 0, sizeof(*o));
	o->out = "daemon.out";
	o->budget = 1;
	o->period = 1000000000ul / FREQ_DEFAULT;
	o->registers = 4;
	o->slice = UINT64_C(10000000000);
	o->first_slice = UINT64_C(1000000000);
	o->roll_bytes = UINT64_C(64) << 20;
	o->roll_age = UINT64_C(3600000000000);
	o->keep = 24;
}

static double number(const char *name, const char *value, double low,
		     double high)
{
	char *end;
	double x;

	errno = 0;
	x = strtod(value, &end);
	if (end == value || *end || errno || !(x >= low) || x > high)
		die("%s must be a number from %g to %g, not '%s'", name, low,
		    high, safe_text(value));
	return x;
}

uint64_t choice_ns(const char *name, const char *value, double low, double high)
{
	return (uint64_t)(number(name, value, low, high) * 1e9);
}

static void add_pids(struct busy_filter *f, const char *list)
{
	char *copy = xstrdup(list), *at = copy, *one;

	while ((one = strsep(&at, ","))) {
		f->pid = grow(f->pid, f->pids, &f->pid_room, sizeof(*f->pid));
		f->pid[f->pids++] =
			(pid_t)whole_number("--pid", one, 1, INT_MAX);
	}
	free(copy);
}

static void add_user(struct busy_filter *f, const char *name)
{
	const struct passwd *p = getpwnam(name);
	uid_t uid;

	if (p)
		uid = p->pw_uid;
	else if (isdigit((unsigned char)name[0]))
		uid = (uid_t)whole_number("--user", name, 0, UINT_MAX);
	else
		die("there is no user %s; getent passwd lists them",
		    safe_text(name));
	f->user = grow(f->user, f->users, &f->user_room, sizeof(*f->user));
	f->user[f->users++] = uid;
}

static void add_name(struct busy_filter *f, const char *pattern)
{
	if (!*pattern)
		die("--name must not be empty");
	f->name = grow(f->name, f->names, &f->name_room, sizeof(*f->name));
	f->name[f->names++] = xstrdup(pattern);
}

bool choice_take(struct daemon_options *o, struct busy_filter *f, int letter,
		 const char *value)
{
	switch (letter) {
	case 'p':
		add_pids(f, value);
		return true;
	case 'm':
		add_name(f, value);
		return true;
	case 'g':
		if (!*value)
			die("--cgroup must not be empty");
		cgroups_add(&f->cgroup, value);
		return true;
	case 'u':
		add_user(f, value);
		return true;
	case 'b':
		o->budget = number("--budget", value, 0.01, 100);
		return true;
	case 'F':
		o->period = 1000000000ul /
			    (uint64_t)whole_number("-F", value, 1, FREQ_MAX);
		return true;
	case 'r':
		o->registers = (int)whole_number("--registers", value, 0, 4);
		return true;
	default:
		return false;
	}
}
