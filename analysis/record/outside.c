/* SPDX-License-Identifier: MIT */
/*
 * outside - run a program, and watch it from outside instead of preloading
 *
 * The program waits before its exec until its events are open; they begin with
 * the exec. A thread of ours watches while run_program() passes signals on and
 * waits, as ever. When the program has ended the watcher stops, even if
 * processes that it made go on.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "control.h"
#include "outside.h"
#include "analysis/base/util.h"
#include "analysis/outside/hardware.h"
#include "analysis/outside/watcher.h"

enum {
	FREQ_DEFAULT = 200,
	REGISTERS_DEFAULT = 4,
};

struct outside {
	struct watch_options options;
	struct pmu_plan plan;
	uint64_t delay; /* ns */
	pid_t pid;
	struct watcher *watcher;
	pthread_t thread;
	bool started;
};

bool record_outside(void)
{
	const char *value = getenv("COMDET_OUTSIDE");

	return value && !strcmp(value, "1");
}

/* Of a variable that record_options() has checked; @or if it is not set. */
static double number_of(const char *variable, double or)
{
	const char *value = getenv(variable);

	return value && *value ? strtod(value, NULL) : or ;
}

static uint64_t delay_ns(void)
{
	double seconds = number_of("COMDET_DELAY", 0);

	if (seconds < 0 && !record_control())
		die("--delay -1 (COMDET_DELAY) needs the library within the "
		    "program, or --control, to end the delay; this program is "
		    "watched from outside");
	return seconds < 0 ? 0 : (uint64_t)(seconds * 1e9);
}

/* True if we are to stop before the time is over. */
static bool wait_for_stop(const struct outside *o)
{
	struct pollfd p = { .fd = o->options.stop, .events = POLLIN };

	return poll(&p, 1, (int)(o->delay / 1000000)) > 0;
}

static void *watch(void *ctx)
{
	struct outside *o = ctx;
	char *why = NULL;

	if (o->delay && wait_for_stop(o))
		return NULL;
	if (!o->watcher)
		o->watcher = watcher_attach(&o->options, &o->pid, 1, &why);
	if (!o->watcher) {
		warn("cannot watch the program: %s", why);
		free(why);
		return NULL;
	}
	watcher_run(o->watcher);
	watcher_close(o->watcher, NULL);
	return NULL;
}

/* The program @pid waits for us; its signals are blocked in all threads. */
static void begin(void *ctx, pid_t pid)
{
	struct outside *o = ctx;
	char *why = NULL;
	int err;

	o->pid = pid;
	if (!o->delay) {
		o->watcher = watcher_attach(&o->options, &pid, 1, &why);
		if (!o->watcher) {
			kill(pid, SIGKILL);
			die("cannot watch the program: %s", why);
		}
	}
	err = pthread_create(&o->thread, NULL, watch, o);
	if (err) {
		kill(pid, SIGKILL);
		die("cannot make a thread: %s", strerror(err));
	}
	o->started = true;
}

/* Take PEBS or IBS if that is asked for; before the program runs. */
static void plan_source(struct outside *o)
{
	const char *source = getenv("COMDET_SOURCE");
	bool pebs = source && !strcmp(source, "pebs");
	struct pmu_asked asked;
	struct pmu_wish wish = {
		.period = (uint64_t)number_of("COMDET_PERIOD", 0),
		.ldlat = (uint32_t)number_of("COMDET_LDLAT", 0),
		.asked = &asked,
	};
	char *why;

	if (!pebs && (!source || strcmp(source, "ibs")))
		return;
	if (o->options.callers)
		die("--call-paths (COMDET_PATHS) from outside needs the source "
		    "clock: leave out -s %s",
		    source);
	pmu_asked_read(&asked, getenv("COMDET_EVENT"));
	why = hardware_plan(&o->plan, &perf_kernel_linux,
			    pebs ? PMU_PEBS : PMU_IBS, &wish);
	if (why)
		die("cannot watch the program: %s", why);
	o->options.plan = &o->plan;
}

int run_program_outside(struct run *r, int dirfd)
{
	struct outside o = {
		.options = {
			.period = (uint64_t)(1e9 / number_of("COMDET_FREQ",
							     FREQ_DEFAULT)),
			.registers = (int)number_of("COMDET_REGISTERS",
						    REGISTERS_DEFAULT),
			.children = number_of("COMDET_CHILDREN", 0) != 0,
			.duration = (uint64_t)(number_of("COMDET_DURATION", 0) *
					       1e9),
			.callers = number_of("COMDET_PATHS", 0) != 0,
			.budget = number_of("COMDET_BUDGET", 0) / 100,
			.dirfd = dirfd,
			.run_id = r->run_id,
			.control = record_control(),
			.paused = number_of("COMDET_DELAY", 0) < 0,
		},
		.delay = delay_ns(),
	};
	uint64_t one = 1;
	int status;

	plan_source(&o);
	o.options.on_exec = !o.delay;
	o.options.stop = eventfd(0, EFD_CLOEXEC);
	if (o.options.stop < 0)
		die("cannot make a descriptor: %s", strerror(errno));
	r->begin = begin;
	r->begin_ctx = &o;
	status = run_program(r);
	if (write(o.options.stop, &one, sizeof(one)) < 0)
		warn("cannot stop the watcher: %s", strerror(errno));
	if (o.started)
		pthread_join(o.thread, NULL);
	close(o.options.stop);
	return status;
}
