/* SPDX-License-Identifier: MIT */
/*
 * watcher - profile running processes from outside
 *
 * The targets are not stopped, nothing is mapped into them, and no signal is
 * sent: the kernel samples their threads into rings of ours, and we read their
 * memory. If the watcher is killed, the kernel closes its events, and what it
 * has written stays readable.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_WATCHER_H
#define COMDET_ANALYSIS_OUTSIDE_WATCHER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct control;
struct group;
struct pmu_plan;

struct watch_options {
	uint64_t period; /* ns of a thread's CPU time between samples */
	const struct pmu_plan *plan; /* of pebs or ibs, NULL: the clock */
	int registers;               /* of a thread, 0 to 4 */
	bool children;               /* also processes that they make */
	bool threads; /* the targets are threads, and nothing else is */
	bool on_exec; /* begin when the target executes a program */
	bool lenient; /* a target that cannot be watched is left out */
	/*
	 * The targets are those of a scan of this group; those that come into
	 * it, and what its processes make, are watched too. NULL: none.
	 */
	struct group *group;
	uint64_t duration; /* ns, 0: until all have ended */
	double budget;     /* our CPU time by the threads'; 0: no limit */
	int stop;          /* descriptor: readable when we are to stop, or -1 */
	bool callers;      /* also the calls that led to accesses */
	bool progress;     /* show on stderr how it goes */
	/* Who may pause us, enable and stop us; NULL: nobody. */
	struct control *control;
	bool paused; /* begin so: the control enables us */
	int dirfd;   /* the output directory */
	const char *run_id;
	/*
	 * Watchers that write to one directory, one after the other, number
	 * their processes from beyond this one on: what was numbered before.
	 */
	uint32_t numbered;
};

enum watch_end {
	WATCH_ALL_ENDED, /* the targets */
	WATCH_STOPPED,
	WATCH_TIME_OVER,
};

/* What was seen, in all. */
struct watch_sums {
	uint64_t samples, detections;
	uint64_t cpu_ns; /* of the watcher itself */
	uint64_t ns;     /* it watched for */
	int registers;   /* in use */
};

struct watcher;

/*
 * Attach to the @n processes (or threads) @target. Returns the watcher, or NULL
 * with one line in *@why, malloc'ed, that names cause and cure.
 */
struct watcher *watcher_attach(const struct watch_options *o,
			       const pid_t *target, size_t n, char **why);

/* Watch until something ends it. */
enum watch_end watcher_run(struct watcher *w);

/* Detach and complete the files. */
void watcher_close(struct watcher *w, struct watch_sums *sums);

#endif
