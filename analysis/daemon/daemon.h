/* SPDX-License-Identifier: MIT */
/*
 * daemon - watch the busy processes of the machine, in turns, within a budget
 */
#ifndef COMDET_ANALYSIS_DAEMON_DAEMON_H
#define COMDET_ANALYSIS_DAEMON_DAEMON_H

#include <stdbool.h>
#include <stdint.h>

#include "budget.h"
#include "busy.h"
#include "http.h"
#include "roll.h"
#include "slice.h"
#include "sums.h"

enum {
	DAEMON_ENDED = 64, /* more than slices in HTTP_SECONDS_MAX */
};

struct daemon_options {
	const char *out;
	double budget;   /* percent of all processors */
	uint64_t period; /* ns of CPU time between samples */
	int registers;
	uint64_t slice, first_slice; /* ns */
	uint64_t duration;           /* ns, 0: until a signal */
	uint64_t roll_bytes, roll_age;
	long keep;
	bool quiet;         /* print nothing while all goes well */
	const char *socket; /* to serve HTTP on, NULL: none */
	uint16_t port;      /* the same on 127.0.0.1, 0: none */
};

struct machine_watch {
	struct daemon_options options;
	struct busy busy;
	struct budget budget;
	struct roll roll;
	struct slice slice;
	struct sums sums;
	struct http *http; /* NULL: not served */
	/* Begin and end of the last slices, ms of CLOCK_REALTIME. */
	struct {
		uint64_t from, until;
	} ended[DAEMON_ENDED];
	int cpus;
	uint64_t interrupt_ns; /* what one costs a target */
	uint64_t own_ns;       /* our CPU time, and that of our children */
	uint64_t target_ns;    /* that targets lost, estimated */
	int signals;           /* descriptor */
	bool stop, anew;       /* asked for by a signal */
	uint64_t end_at, next_watchdog, next_scan, scan_ns;
	uint32_t threads_max; /* that can be watched at once */
	/*
	 * After each turn, unless it is NULL: @watched says whether a slice was
	 * watched, or nothing was busy.
	 */
	void (*after_turn)(struct machine_watch *w, bool watched);
	void *ctx;
};

/*
 * Make what watching needs: descriptors, the directory, and drop rights. The
 * filter is in @w->busy.filter already; the rest of @w is zero. Dies if we may
 * not watch.
 */
void daemon_init(struct machine_watch *w, const struct daemon_options *o);

/* Watch until a signal or the time ends it. Returns the exit status. */
int daemon_run(struct machine_watch *w);

void daemon_release(struct machine_watch *w);

#endif
