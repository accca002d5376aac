/* SPDX-License-Identifier: MIT */
/*
 * cgroup - which processes are in control groups
 *
 * A group is named by its path, as in /proc/PID/cgroup, and holds what is below
 * it; or by a part of a path, as docker-ID.scope holds an ID. A process is in
 * as many groups as there are hierarchies, and one of them will do.
 */
#ifndef COMDET_ANALYSIS_OUTSIDE_CGROUP_H
#define COMDET_ANALYSIS_OUTSIDE_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "listing.h"

/* Names of groups. Zero-initialized there are none. */
struct cgroups {
	char **name;
	size_t n, room;
};

/* Add a copy of @name, which is not empty. */
void cgroups_add(struct cgroups *g, const char *name);
void cgroups_release(struct cgroups *g);

/* True if the line "0::/a/b" of /proc/PID/cgroup is within the group @wanted.
 */
bool cgroup_holds(const char *line, const char *wanted);

/* True if process @pid is in one of them. */
bool cgroups_hold(const struct cgroups *g, pid_t pid);

/*
 * The processes in them now that execute a program, but not ourselves. The
 * caller releases it.
 */
struct listing cgroups_list(const struct cgroups *g);

#endif
