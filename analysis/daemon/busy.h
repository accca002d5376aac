/* SPDX-License-Identifier: MIT */
/*
 * busy - which processes of the machine use processors, and whose turn it is
 *
 * A scan reads /proc/PID/stat of each process and compares the CPU time with
 * that of the scan before. Processes that used at least a hundredth of a
 * processor are busy, and those that the filter wants take turns. Relatives
 * (a parent, its child, children of one parent) are picked together, because
 * they may share memory.
 *
 * Names and numbers in /proc are those of foreign programs: anything may be
 * in a name, and a process may end between any two reads.
 */
#ifndef COMDET_ANALYSIS_DAEMON_BUSY_H
#define COMDET_ANALYSIS_DAEMON_BUSY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "analysis/outside/cgroup.h"

enum {
	BUSY_NAME_BYTES = 16,
};

/* What a process must be; an empty list wants all. */
struct busy_filter {
	pid_t *pid;
	size_t pids, pid_room;
	char **name; /* patterns of the shell, for the name of the process */
	size_t names, name_room;
	struct cgroups cgroup;
	uid_t *user;
	size_t users, user_room;
};

struct busy_process {
	pid_t pid, parent;
	uint64_t start; /* field 22 of /proc/PID/stat */
	uint64_t ticks; /* CPU time so far */
	double load;    /* processors in use since the last scan */
	uint32_t threads;
	bool wanted;         /* busy, and the filter lets it pass */
	uint64_t watched_at; /* ns, CLOCK_MONOTONIC; 0: never */
	char name[BUSY_NAME_BYTES];
};

struct busy {
	struct busy_filter filter;
	struct busy_process *process; /* by pid */
	size_t processes;
	uint64_t scanned_at; /* ns */
};

/*
 * Read the line of /proc/PID/stat in @text into @p: all but load, wanted and
 * watched_at. False if it is none, or of a thread of the kernel.
 */
bool busy_parse(const char *text, struct busy_process *p);

/* Look at the whole machine, but not at ourselves. @now is ns. */
void busy_scan(struct busy *b, uint64_t now);

/*
 * Pick up to @max wanted processes that together have at most @threads threads,
 * into @pid. Those that were watched longest ago come first, and of these the
 * busiest. They count as watched @now, which grows by more than @max from call
 * to call. Returns how many.
 */
size_t busy_pick(struct busy *b, uint64_t now, pid_t *pid, size_t max,
		 uint32_t threads);

/* The process @pid as last seen, or NULL. */
struct busy_process *busy_find(const struct busy *b, pid_t pid);

/* How many processes are wanted. */
size_t busy_wanted(const struct busy *b);

void busy_release(struct busy *b);

#endif
