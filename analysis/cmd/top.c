/* SPDX-License-Identifier: MIT */
/*
 * top - show live which processes fight for cache lines
 */
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "analysis/base/options.h"
#include "analysis/base/util.h"
#include "analysis/daemon/choice.h"
#include "analysis/daemon/daemon.h"
#include "analysis/daemon/view.h"

enum {
	SHOWN_MS = 60 * 1000, /* of a daemon's profile, the last minute */
	ROWS = 20,
	BUDGET_PERCENT = 10,
};

struct top {
	long screens; /* to show, 0: until a signal */
	size_t rows, columns;
	bool terminal;
	uint64_t every; /* ns */
};

static const struct option long_options[] = {
	CHOICE_OPTIONS,
	{ "screens", required_argument, NULL, 'n' },
	{ "delay", required_argument, NULL, 'd' },
	{ "rows", required_argument, NULL, 'R' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static void take_option(struct top *t, struct daemon_options *o,
			struct busy_filter *f, int letter)
{
	switch (letter) {
	case 'n':
		t->screens = whole_number("-n", optarg, 1, INT_MAX);
		break;
	case 'd':
		t->every = choice_ns("--delay", optarg, 0.1, 3600);
		break;
	case 'R':
		t->rows = (size_t)whole_number("--rows", optarg, 1, INT_MAX);
		break;
	default:
		choice_take(o, f, letter, optarg);
	}
}

static uint64_t real_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void begin_screen(struct top *t)
{
	struct winsize size;

	t->columns = 0;
	if (!t->terminal)
		return;
	if (!ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) && size.ws_col > 20 &&
	    size.ws_row > 6) {
		t->columns = size.ws_col - 1;
		if (t->rows > size.ws_row - 5u)
			t->rows = size.ws_row - 5u;
	}
	fputs("\033[H\033[2J", stdout);
}

/* True if it was the last. */
static bool end_screen(struct top *t)
{
	bool last = t->screens && !--t->screens;

	if (!t->terminal && !last)
		putchar('\n');
	fflush(stdout);
	return last;
}

static void show(struct top *t, const char *path, uint64_t since)
{
	struct view v;

	view_load(&v, path, since);
	view_print(&v, stdout, t->rows, t->columns);
	view_release(&v);
}

static void after_turn(struct machine_watch *w, bool watched)
{
	struct top *t = w->ctx;

	begin_screen(t);
	printf("%zu busy processes; %s of the machine taken by watching\n\n",
	       busy_wanted(&w->busy),
	       percent_text(budget_percent(&w->budget, w->cpus), 100));
	if (watched)
		show(t, w->roll.path, 0);
	else
		puts("no process that may be watched is busy");
	w->anew = true;
	w->stop = end_screen(t) || w->stop;
}

/* Watch ourselves, in a directory that is gone at the end. */
static int watch(struct top *t, struct machine_watch *w,
		 struct daemon_options *o)
{
	const char *temp = getenv("TMPDIR");
	char *dir = xasprintf("%s/reusetrack-top-XXXXXX",
			      temp && *temp ? temp : "/tmp");
	int status;

	if (!mkdtemp(dir))
		die("cannot make a directory in %s; set TMPDIR to one that "
		    "you may write",
		    safe_text(temp && *temp ? temp : "/tmp"));
	o->out = dir;
	o->slice = o->first_slice = t->every;
	o->keep = 1;
	o->quiet = true;
	w->after_turn = after_turn;
	w->ctx = t;
	daemon_init(w, o);
	status = daemon_run(w);
	roll_remove(&w->roll);
	daemon_release(w);
	free(dir);
	return status;
}

/* Show what a daemon writes below @dir, or one profile. */
static int follow(struct top *t, const char *dir)
{
	struct timespec pause = { (time_t)(t->every / 1000000000),
				  (long)(t->every % 1000000000) };
	char path[PATH_MAX];
	bool last;

	do {
		bool found = roll_newest(dir, path);

		begin_screen(t);
		printf("%s: the last minute\n\n",
		       safe_text(found ? path : dir));
		show(t, found ? path : dir, found ? real_ms() - SHOWN_MS : 0);
		last = end_screen(t);
		if (!last)
			nanosleep(&pause, NULL);
	} while (!last);
	return 0;
}

static int run_top(int argc, char **argv)
{
	const struct option_syntax syntax = { .verb = "top",
					      .usage = cmd_top.usage,
					      .letters = ":F:p:n:h",
					      .options = long_options };
	struct machine_watch *w = xcalloc(1, sizeof(*w));
	struct top t = { .rows = ROWS,
			 .every = UINT64_C(3000000000),
			 .terminal = isatty(STDOUT_FILENO) };
	struct daemon_options o;
	struct stat st;
	int letter, status;

	choice_defaults(&o);
	o.budget = BUDGET_PERCENT;
	optind = 1;
	while ((letter = next_option(&syntax, argc, argv)) != -1)
		take_option(&t, &o, &w->busy.filter, letter);
	if (optind + 1 < argc)
		die("top shows one directory");
	if (optind == argc) {
		status = watch(&t, w, &o);
	} else {
		if (stat(argv[optind], &st))
			die("there is no directory %s; reusetrack daemon -o "
			    "writes one",
			    safe_text(argv[optind]));
		status = follow(&t, argv[optind]);
	}
	busy_release(&w->busy);
	free(w);
	return status;
}

const struct command cmd_top = {
	.name = "top",
	.summary = "show live which processes fight for cache lines",
	.usage =
		"usage: reusetrack top [OPTION...] [DIR]\n\nShows the "
		"processes of the machine by detections a second, with the "
		"shares of\nfalse and true sharing and the worst cache line of "
		"each. It watches the busy\nones itself; or it shows the last "
		"minute of DIR, which a daemon writes.\nCtrl-C ends it.\n\n"
		"  -n, --screens N     end after so many screens\n"
		"      --delay S       seconds for a screen; default 3\n"
		"      --rows N        processes to show; default 20\n\n"
		"Which processes, and how, unless DIR is given; see daemon:\n"
		"  -p, --pid PID       these; several are separated by commas\n"
		"      --name PATTERN  those with such a name\n"
		"      --cgroup GROUP  those of a control group\n"
		"      --user USER     those of this user\n"
		"      --budget P      percent of all processors; default 10\n"
		"  -F, --freq HZ       samples a second of a thread's CPU "
		"time; "
		"default 200\n"
		"      --registers N   debug registers to use, 0 to 4\n",
	.run = run_top,
};
