/* SPDX-License-Identifier: MIT */
/*
 * group - the processes of control groups that we may watch
 *
 * Some may belong to others: those are left out, and it is counted. A process
 * that was left out is not tried again.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_GROUP_H
#define COMDET_ANALYSIS_OUTSIDE_GROUP_H

#include <stddef.h>
#include <stdint.h>

#include "cgroup.h"
#include "tasks.h"

struct group_left_out {
	pid_t pid;
	uint64_t start; /* field 22 of /proc/PID/stat */
};

/* Zero-initialized, with the names of groups. */
struct group {
	struct cgroups cgroups;
	struct group_left_out *left_out; /* that live */
	size_t n, room;
	uint64_t left_out_ever;
	char *why; /* the first one; NULL: none was */
};

/*
 * The processes that are in it now, that may be watched, and that are not
 * among @known, if that is not NULL. The caller releases the listing.
 */
struct listing group_scan(struct group *g, const struct tasks *known);

/* Process @pid, of a scan, is not watched, for @why, which is malloc'ed. */
void group_leave_out(struct group *g, pid_t pid, char *why);

void group_release(struct group *g);

#endif
